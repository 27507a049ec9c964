import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { fill, type OpenAt } from '@order-relay/test-support/browser.ts'
import type { Page } from 'playwright-core'
import { type Client, eventually, order, PAYMENT, row, SHORT } from './world.ts'

/** What the accountant sees and keeps in the dialog of a correction. */
export const correctionTests = (openAt: OpenAt, client: () => Client) => {
  const open = (hash: string, options = {}) => openAt(`${client().url}/${hash}`, options)
  const openOrder = (id: string, locale = 'en-GB') => open(`#/orders/${id}?source=api`, { locale })

  test('names the row and the field of a problem and shows a refusal once', async () => {
    await client().create(order('1006', { payment: { method: 'cash' } }))
    for (const [locale, correct, discount, amount, problem, refused] of [
      [
        'en-GB',
        'Correct order',
        'Discount',
        '9999',
        'Row 1, Discount: Must not exceed the row, 2,000',
        'the new total is',
      ],
      [
        'fa-IR',
        'اصلاح سفارش',
        'تخفیف',
        '۹۹۹۹',
        'ردیف ۱، تخفیف: نباید بیش از مبلغ ردیف (۲٬۰۰۰) باشد',
        'جمع کل جدید',
      ],
    ] as const) {
      const { page } = await openAt(`${client().url}/#/orders/1006?source=api`, { locale })
      await page.getByRole('button', { name: correct }).click()
      const dialog = page.getByRole('dialog')
      const line = dialog.getByRole('group').first()
      const status = (text: string) =>
        eventually(
          () => dialog.getByRole('status').textContent(),
          shown => shown?.replace(/[\u2068\u2069\u200f]/g, '').includes(text) ?? false,
        )
      await line.getByLabel(discount).fill(amount)
      await status(problem)
      await line.getByLabel(discount).fill('1')
      await status(refused)
      await dialog.getByRole('button', { name: correct }).click()
      await dialog.getByRole('alert').filter({ hasText: refused }).waitFor()
      expect(await dialog.getByText(refused).count()).toBe(1)
      await page.close()
    }
  })

  test('a correction sends only what was changed, and items only if the order has not changed meanwhile', async () => {
    await client().create(order('1008'))
    const [{ page: first }, { page: second }] = [
      await open('#/orders/1008?source=api'),
      await openAt(`${client().url}/#/orders/1008?source=api`, { locale: 'fa-IR' }),
    ]
    const correct = async (page: Page, action: string) => {
      await page.getByRole('button', { name: action }).first().click()
      const dialog = page.getByRole('dialog')
      // It opens once the page has read the order.
      await dialog.waitFor()
      return dialog
    }
    const dialog = await correct(second, 'اصلاح سفارش')
    await dialog.getByLabel('هزینه ارسال').fill('500')
    await fill(await correct(first, 'Correct order'), { Quantity: '3' }, 'Correct order')
    await first.getByText('Order 1008: invoiced, 3,300 rials').waitFor()
    await dialog.getByText('جمع کل جدید').waitFor()
    await dialog.getByRole('button', { name: 'اصلاح سفارش' }).click()
    await dialog.getByRole('status').filter({ hasText: 'هنوز چیزی ثبت نشده است' }).waitFor()
    await dialog.getByText('۳٬۸۵۰').first().waitFor()
    await dialog.getByRole('button', { name: 'اصلاح سفارش' }).click()
    await dialog.waitFor({ state: 'detached' })
    const rows = [{ quantity: 3 }, { kind: 'shipping', amount: '500' }]
    expect(await client().detail('1008')).toMatchObject({ total: '3850', rows })

    await correct(second, 'اصلاح سفارش')
    await client().act('1008', 'correct', { discount: 100 })
    await fill(dialog, { مقدار: '2' }, 'اصلاح سفارش')
    await dialog.getByText('سفارش در این فاصله تغییر کرده است؛ آن را دوباره باز کنید').first().waitFor()
    expect(await client().detail('1008')).toMatchObject({ total: '3740', rows })
    await second.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'حذف تغییرات' }).click()
    await fill(await correct(second, 'اصلاح سفارش'), { مقدار: '2' }, 'اصلاح سفارش')
    await dialog.waitFor({ state: 'detached' })
    expect((await client().detail('1008')).rows).toMatchObject([{ quantity: 2 }, {}])
  })

  test('a changed correction asks before Escape or Cancel discards it', async () => {
    await client().create(order('1007'))
    const { page } = await open('#/orders/1007?source=api')
    const dialog = page.getByRole('dialog', { name: 'Correct order: 1007' })
    const question = page.getByRole('alertdialog', { name: 'Discard your changes?' })
    const correct = () => page.getByRole('button', { name: 'Correct order' }).first().click()
    await correct()
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await correct()
    await dialog.getByLabel('Quantity').fill('3')
    await page.keyboard.press('Escape')
    await question.waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await question.getByRole('button', { name: 'Keep editing' }).click()
    expect(await dialog.getByLabel('Quantity').inputValue()).toBe('3')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await question.getByRole('button', { name: 'Discard changes' }).click()
    await dialog.waitFor({ state: 'detached' })
    await correct()
    await dialog.getByRole('button', { name: 'Add row' }).click()
    await page.keyboard.press('Escape')
    await question.waitFor()
  })

  test('fractions in the prices of a store stay when another field is corrected', async () => {
    await client().create(order('1', { items: [{ ...row('SKU-1', 2, 10.5), discount: 0.5 }], shipping: 7.5 }))
    const { page } = await openOrder('1')
    await page.getByRole('button', { name: 'Correct order' }).click()
    const dialog = page.getByRole('dialog')
    await fill(dialog, { Quantity: '4', 'Unit price': '10.6' }, 'Correct order')
    await dialog.getByText('"10.6" has a decimal point, and rials have no fractions').first().waitFor()
    await fill(dialog, { 'Unit price': '10.5' }, 'Correct order')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('(SKU-1): quantity 2 to 4').waitFor()
    expect((await client().detail('1')).rows).toMatchObject([{ quantity: 4, unit_price: '10.5' }, {}])
  })

  test('the history of a correction names what changed in Persian', async () => {
    await client().create(order('1', { items: [{ ...row('SKU-1', 2), name: 'چای' }] }))
    await client().act('1', 'correct', {
      items: [{ ...row('SKU-1', 3, 1500), name: 'چای' }],
      customer: { mobile: '09123456789', name: 'سارا' },
    })
    const { page } = await openOrder('1', 'fa-IR')
    await page.getByText('اصلاح شد').waitFor()
    const text = (await page.locator('.timeline').textContent())?.replace(/[\u2066-\u2069\u200f]/g, '')
    for (const line of [
      'اصلاح حسابدار؛ جمع کل از ۲٬۲۰۰ به ۴٬۹۵۰ ریال',
      'مقدار «چای» (SKU-1) از ۲ به ۳',
      'مبلغ واحد «چای» (SKU-1) از ۱٬۰۰۰ به ۱٬۵۰۰ ریال',
      'مشتری از «مشتری متفرقه» به «سارا»',
    ])
      expect(text).toContain(line)
    expect(text).not.toMatch(/هزینه ارسال|تخفیف/)
  })

  test('the history is in Persian when entries resemble each other, are repeated or contain typed text', async () => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    await client().create(order('1', { ...SHORT, date: yesterday }))
    await client().pay('1', { ...PAYMENT, date: '2019-01-01' })
    await client().act('1', 'correct', {
      paymentDate: yesterday,
      customer: { mobile: '09123456789', name: 'Ali" to "Reza' },
      reason: 'x), total 5 to 6 rials',
    })
    await client().create(order('2', { items: [row('SKU-1', 2)] }))
    await client().act('2', 'return', { rows: [{ row: 1, quantity: 1 }] })
    await client().act('2', 'return')
    await client().act('2', 'review', { error: 'Wrong goods): receipt 5 cancelled' })
    const { page } = await openOrder('1', 'fa-IR')
    const history = async () =>
      (await page.locator('.timeline').textContent())?.replace(/[\u2066-\u2069\u200f]/g, '')
    await page.getByText('اصلاح شد').waitFor()
    expect(await history()).toContain('تاریخ دریافت وجه معلق از ۱۱ دی ۱۳۹۷ به ')
    expect(await history()).toContain('اصلاح حسابدار (x), total 5 to 6 rials)؛ جمع کل ۲٬۲۰۰ ریال، بدون تغییر')
    expect(await history()).toContain('به «Ali″ to ″Reza»')
    await page.evaluate('location.hash = "#/orders/2?source=api"')
    await page.getByText('سفارش را به بررسی برگرداند').waitFor()
    expect(await history()).toContain(
      'حسابدار سفارش را به بررسی برگرداند (Wrong goods): receipt 5 cancelled): برگشت از فروش ۱ باطل شد، برگشت از فروش ۲ باطل شد',
    )
  })

  test('a correction says who the invoice is booked to without a mobile number, and changes a wrong date', async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
    await client().create(
      order('1', { ...SHORT, date: daysAgo(1), customer: { mobile: '09123456789', name: 'Sara' } }),
    )
    await client().pay('1', { ...PAYMENT, date: '2019-01-01' })
    const { page } = await openOrder('1')
    await page.getByText('if the date is wrong, correct the order').waitFor()
    await page.getByRole('button', { name: 'Correct order' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Mobile number of the customer').fill('')
    await dialog
      .getByText(
        /Without a mobile number, the invoice is booked to the default customer, .+, instead of Sara\./,
      )
      .waitFor()
    await dialog.getByLabel('Date', { exact: true }).fill(daysAgo(-1))
    await dialog.getByText('Must not be after today').waitFor()
    expect(await violationsOf(page)).toEqual([])
    const dates = { 'Date of the held payment': daysAgo(1) }
    await dialog.getByLabel('Date', { exact: true }).fill(daysAgo(2))
    await fill(dialog, dates, 'Correct order')
    await page.getByText(`Date ${daysAgo(1)} to ${daysAgo(2)}`).waitFor()
    await page.getByText(`Date of the held payment 2019-01-01 to ${daysAgo(1)}`).waitFor()
    expect(await client().detail('1')).toMatchObject({
      date: daysAgo(2),
      customer: { code: 'walk-in' },
      held_payments: [{ date: daysAgo(1) }],
    })
  })

  test('a correction says that the invoice moves to another fiscal year', async () => {
    await client().create(order('1', { date: '2026-03-21' }))
    const { page } = await openOrder('1', 'fa-IR')
    await page.getByRole('button', { name: 'اصلاح سفارش' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('تاریخ', { exact: true }).fill('۱۴۰۵/۱/۲')
    await dialog.getByText('جمع کل جدید').waitFor()
    expect(await dialog.getByText('به سال مالی').count()).toBe(0)
    await dialog.getByLabel('تاریخ', { exact: true }).fill('۱۴۰۴/۱۲/۲۹')
    await dialog.getByText(/فاکتور از سال مالی .*۱۴۰۵.* به سال مالی .*۱۴۰۴.* منتقل می‌شود/).waitFor()
    await client().put('fiscal-years', { from: '2025-03-21', to: '2026-03-20', closed: true })
    await fill(dialog, {}, 'اصلاح سفارش')
    await dialog.getByText('خارج از سال‌های مالی').first().waitFor()
    expect(await client().detail('1')).toMatchObject({ date: '2026-03-21' })
  })

  test('another product gets its price, unless a price was typed', async () => {
    await client().product('TEA', { name: 'Tea', stock: 5, price: 4000 })
    await client().create(order('1'))
    const { page } = await openOrder('1')
    await page.getByRole('button', { name: 'Correct order' }).click()
    const line = page.getByRole('group', { name: 'Row 1' })
    const [product, price] = [line.getByLabel('Product'), line.getByLabel('Unit price')]
    const choose = async (sku: string) => {
      await product.fill(sku)
      await product.blur()
      return price.inputValue()
    }
    expect([await choose('TEA'), await choose('SKU-2')]).toEqual(['4,000', '1,250,000'])
    await price.fill('900')
    expect(await choose('TEA')).toBe('900')
    await price.fill('')
    expect(await choose('SKU-2')).toBe('1,250,000')
  })

  test('a new row is empty, even after another was removed, and takes the name of a product', async () => {
    await client().product('TEA', { name: 'چای سبز', stock: 5, price: 4000 })
    await client().create(order('1'))
    const { page } = await openOrder('1')
    await page.getByRole('button', { name: 'Correct order' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Add row' }).click()
    const line = dialog.getByRole('group', { name: 'Row 2' })
    await line.getByText('Type the code or the name of a product.').waitFor()
    expect(await line.getByLabel('Unit price').inputValue()).toBe('')
    await line.getByLabel('Product').fill('چاي سبز')
    await line.getByLabel('Product').blur()
    expect(await line.getByLabel('Product').inputValue()).toBe('TEA')
    expect(await line.getByLabel('Unit price').inputValue()).toBe('4,000')
    await dialog.getByText('New total: 6,600 rials').waitFor()
    await fill(line, { Discount: '100' }, 'Remove row 2')
    await dialog.getByRole('button', { name: 'Add row' }).click()
    const values = ['Product', 'Unit price', 'Discount'].map(label => line.getByLabel(label).inputValue())
    expect(await Promise.all(values)).toEqual(['', '', '0'])
  })

  test('a correction in review says what it means for held payments, before it is saved and afterwards', async () => {
    await client().create(order('1', { payment: PAYMENT }))
    await client().act('1', 'review', { error: 'Other goods' })
    for (const id of ['2', '3'])
      await client().create(order(id, { items: [row('SKU-3', 2)], payment: PAYMENT }))
    const { page, errors } = await open('#/orders/1?source=api')
    const review = page.getByRole('region', { name: 'Needs review' })
    const dialog = page.getByRole('dialog')
    const correct = async (preview: string, choice?: string) => {
      await page.getByRole('button', { name: 'Correct order' }).click()
      await dialog.getByLabel('Quantity').fill('3')
      if (choice) await dialog.getByLabel('Amount of the held payment').selectOption({ label: choice })
      await dialog.getByText(preview).waitFor()
      await fill(dialog, { Reason: 'By phone' }, 'Correct order')
      await dialog.waitFor({ state: 'detached' })
    }
    await review.getByText('A payment of 2,200 rials is held').waitFor()
    await review.getByText('It is booked to حساب بانک ملت as card reader.').waitFor()
    await correct(
      'New total: 3,300 rials. The 2,200 rials that are held do not change. 1,100 rials will be due.',
    )
    await review.getByText('A payment of 2,200 rials is held').waitFor()
    await review.getByText('1,100 rials will be due.').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.evaluate('location.hash = "#/orders"')
    await page.getByRole('button', { name: 'Retry all that are ready' }).click()
    await dialog.getByRole('row').filter({ hasText: '3,300' }).getByText('Held payment 2,200').waitFor()
    await page.keyboard.press('Escape')

    await page.evaluate('location.hash = "#/orders/2?source=api"')
    await review.getByText('It pays the whole invoice.').waitFor()
    await correct(
      'New total: 3,300 rials. The held payment pays the whole invoice: its receipt will have 3,300 rials instead of 2,200.',
      'The whole invoice, with its new total',
    )
    await page.getByText('Corrected by the accountant (By phone), total 2,200 to 3,300 rials').waitFor()
    await page
      .getByText('Held payment: 3,300 rials, the whole invoice; 2,200 rials when it came in')
      .waitFor()
    await page.getByRole('button', { name: 'Correct order' }).click()
    expect(await dialog.getByLabel('Amount of the held payment').inputValue()).toBe('invoice')
    await page.keyboard.press('Escape')
    await review.getByText('It pays the whole invoice: 3,300 rials now, 2,200 when it came in.').waitFor()
    await page.evaluate('location.hash = "#/orders"')
    await page.getByRole('row').filter({ hasText: 'Held payment 2,200' }).first().waitFor()
    await page.getByLabel('Balance').selectOption('Held payments')
    await page.getByText('Held payments7,700', { exact: true }).waitFor()
    await page.evaluate('location.hash = "#/orders/2?source=api"')
    await client().settings({ orderPaymentReceivingAccount: null })
    await review.getByText('In a bank account it is booked as card reader').waitFor()

    await page.evaluate('location.hash = "#/orders/3?source=api"')
    await correct(
      'New total: 3,300 rials. The 2,200 rials that are held do not change. 1,100 rials will be due.',
    )
    await review.getByText('A payment of 2,200 rials is held').waitFor()
    await page.getByText('Held payment: 2,200 rials, the amount when it came in').waitFor()
    await review
      .getByText('A correction set it to the amount that came in; another correction can change that.')
      .waitFor({ timeout: 5000 })
    await page.getByRole('button', { name: 'Correct order' }).click()
    await dialog.getByText('Can be changed until the invoice is finalized').waitFor()
    expect(await dialog.getByLabel('Amount of the held payment').inputValue()).toBe('received')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await correct(
      'New total: 3,300 rials. The held payment pays the whole invoice: its receipt will have 3,300 rials instead of 2,200.',
      'The whole invoice, with its new total',
    )
    await review.getByText('It pays the whole invoice: 3,300 rials now, 2,200 when it came in.').waitFor()
    expect(errors).toEqual([])
  })
}
