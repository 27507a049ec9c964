import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { fill, type OpenAt } from '@order-relay/test-support/browser.ts'
import { type Client, order, PAYMENT, row, SHORT } from './world.ts'

/** What keeps the accountant from mistakes. */
export const safeguardTests = (openAt: OpenAt, client: () => Client) => {
  const open = (hash: string, locale = 'en-GB') => openAt(`${client().url}/${hash}`, { locale })
  const openOrder = (id: string, locale?: string) => open(`#/orders/${id}?source=api`, locale)

  test('adding a product or an account with a code that exists is refused next to the code', async () => {
    const { page } = await open('#/products', 'fa-IR')
    await page.getByRole('button', { name: 'افزودن کالا' }).click()
    const dialog = page.getByRole('dialog')
    await fill(dialog, { 'کد کالا': 'SKU-1', نام: 'پسته', موجودی: '1' }, 'افزودن')
    await dialog.getByText('این کد قبلاً ثبت شده است').waitFor()
    await fill(dialog, { 'کد کالا': 'SKU-9' }, 'افزودن')
    await dialog.waitFor({ state: 'detached' })
    expect(await client().stock('SKU-1')).toBe(100)
    await page.evaluate('location.hash = "#/settings"')
    await page.getByRole('button', { name: 'افزودن حساب' }).click()
    await fill(dialog, { کد: 'bank-1', نام: 'بانک صادرات' }, 'افزودن')
    await dialog.getByRole('alert').filter({ hasText: 'این فیلد را پر کنید' }).waitFor()
    await dialog.getByLabel('نوع').selectOption('bank')
    await fill(dialog, {}, 'افزودن')
    await dialog.getByText('این کد قبلاً ثبت شده است').waitFor()
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'حذف تغییرات' }).click()
    await page.getByRole('button', { name: 'ویرایش حساب \u2068bank-1' }).click()
    await fill(dialog, { نام: 'بانک صادرات' }, 'ذخیره')
    await dialog.waitFor({ state: 'detached' })
    expect(await client().list('accounts')).toContainEqual({
      code: 'bank-1',
      name: 'بانک صادرات',
      kind: 'bank',
      openingBalance: 0,
      openingDate: null,
      inUse: false,
    })
  })

  test('an account gets an opening balance, and keeps its kind once documents use it', async () => {
    const { page } = await open('#/settings')
    const edit = page.getByRole('button', { name: 'Edit account bank-1' })
    const dialog = page.getByRole('dialog')
    await edit.click()
    await dialog.getByLabel('Kind').selectOption('bank')
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Discard changes' }).click()
    await dialog.waitFor({ state: 'detached' })
    const read = page.waitForResponse(/panel.accounts/)
    await client().create(order('1', { payment: PAYMENT }))
    await read
    await edit.click()
    await dialog
      .getByText('Receipts or repayments use this account, so its kind cannot be changed.')
      .waitFor()
    expect(await dialog.getByLabel('Kind').getAttribute('readonly')).not.toBeNull()
    expect(await dialog.getByLabel('Kind').inputValue()).toBe('Bank account')
    expect(await violationsOf(page)).toEqual([])
    const opening = { 'Opening balance in rials': '5,000,000', 'Date of the opening balance': '2026-03-21' }
    await fill(dialog, { Name: 'Savings', ...opening }, 'Save')
    const row = page.getByRole('row').filter({ hasText: 'Savings' })
    await row.getByText('5,000,000').waitFor()
    await row.getByText('21 Mar 2026').waitFor()
    await page.getByRole('button', { name: 'Edit account bank-1' }).click()
    await fill(dialog, { 'Date of the opening balance': '' }, 'Save')
    await dialog.waitFor({ state: 'detached' })
    expect((await client().list('accounts'))[0]).toEqual({
      code: 'bank-1',
      name: 'Savings',
      kind: 'bank',
      inUse: true,
      openingBalance: 5_000_000,
      openingDate: null,
    })
  })

  test('an amount with a decimal point, or with separators in the wrong place, is refused with the reason', async () => {
    await client().create(order('1', { items: [row('SKU-1', 1, 9_000_000)] }))
    const { page } = await openOrder('1', 'fa-IR')
    await page.getByRole('button', { name: 'ثبت دریافت وجه' }).click()
    const dialog = page.getByRole('dialog')
    for (const [typed, reason] of [
      ['5.000', 'ممیز دارد، ولی ریال اعشار ندارد'],
      ['۵٫۰۰۰', 'ممیز دارد، ولی ریال اعشار ندارد'],
      ['5.000.000', 'ممیز دارد، ولی ریال اعشار ندارد'],
      ['12,50', 'جداکننده هزارگان باید هر سه رقم را جدا کند'],
    ] as const) {
      await fill(dialog, { 'مبلغ به ریال': typed }, 'ثبت دریافت وجه')
      await dialog.getByText(reason).waitFor()
      expect(await dialog.getByLabel('مبلغ به ریال').inputValue()).toBe(typed)
    }
    expect((await client().detail('1')).receipts).toEqual([])
    await fill(dialog, { 'مبلغ به ریال': '۵،۰۰۰،۰۰۰' }, 'ثبت دریافت وجه')
    await dialog.waitFor({ state: 'detached' })
    expect((await client().detail('1')).receipts).toMatchObject([{ amount: '5000000' }])
    await page.evaluate('location.hash = "#/products"')
    await page.getByRole('button', { name: 'ویرایش \u2068SKU-1' }).click()
    await fill(dialog, { قیمت: '1.500', موجودی: '2.5' }, 'ذخیره')
    await dialog.getByText('ممیز دارد').waitFor()
    await fill(dialog, { قیمت: '1,500' }, 'ذخیره')
    await dialog.waitFor({ state: 'detached' })
    expect(await client().list('products?q=SKU-1')).toMatchObject([{ price: 1500, stock: 2.5 }])
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

  test('the outcome of a retry is gone after the next action', async () => {
    await client().create(order('1', SHORT))
    const { page } = await openOrder('1')
    const outcome = page.getByRole('region', { name: 'Outcome' })
    await page.getByRole('button', { name: 'Set stock and retry' }).click()
    await outcome.getByText(/^Stock of SKU-3 set from 0 to [\d.]+ by the accountant$/).waitFor()
    await page.getByRole('button', { name: 'Move back to review' }).click()
    await fill(page.getByRole('dialog'), { 'What to review': 'Wrong goods' }, 'Move back to review')
    await page.getByRole('region', { name: 'Needs review' }).waitFor()
    expect(await outcome.count()).toBe(0)
    expect(await page.getByText('it still needs review').count()).toBe(0)
  })

  test('an order outside the open fiscal years offers no retry, only a link to the fiscal years', async () => {
    await client().settings({ automaticFinalization: false })
    await client().create(order('1', SHORT))
    await client().put('fiscal-years', { fiscalYears: [] })
    const { page } = await openOrder('1')
    const review = page.getByRole('region', { name: 'Needs review' })
    await review.getByText('Outside the open fiscal years').first().waitFor()
    expect(await review.getByRole('button').count()).toBe(0)
    expect(await violationsOf(page)).toEqual([])
    await review.getByRole('link', { name: 'Fiscal years' }).click()
    await page.getByRole('button', { name: 'Add fiscal year' }).waitFor()
    await page.waitForFunction(
      'document.getElementById("fiscal-years").getBoundingClientRect().top < innerHeight',
    )
    await page.goBack()
    await review.getByText('Outside the open fiscal years').first().waitFor()
    await client().put('fiscal-years', { fiscalYears: [{ from: '2020-01-01', to: '2099-12-31' }] })
    await review.getByRole('button', { name: 'Set stock, change settings and retry' }).click()
    await page.getByText('The order is now invoiced').waitFor()
    await page.evaluate('location.hash = "#/settings"')
    await page.getByRole('button', { name: 'Add fiscal year' }).click()
    const dialog = page.getByRole('dialog')
    await fill(dialog, { 'First day': '2026-08-23', 'Last day': '2027-08-22' }, 'Add')
    await dialog.getByText('Must not overlap the fiscal year from 2020-01-01 to 2099-12-31').waitFor()
  })

  test('a future date is refused, and a return has a date', async () => {
    const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
    const [next, yesterday] = [daysFromNow(3), daysFromNow(-1)]
    await client().create(order('1', { date: yesterday }))
    const { page } = await openOrder('1')
    await page.getByRole('button', { name: 'Register payment' }).click()
    const dialog = page.getByRole('dialog')
    await fill(dialog, { Date: next }, 'Register payment')
    await dialog.getByText('Must not be after today').waitFor()
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('button', { name: 'Register return' }).click()
    await fill(dialog, { Date: daysFromNow(-2) }, 'Register return')
    await dialog.getByText(`Must not be before the invoice, ${yesterday}`).waitFor()
    await fill(dialog, { Date: yesterday }, 'Register return')
    await dialog.waitFor({ state: 'detached' })
    expect((await client().detail('1')).returns).toMatchObject([{ date: yesterday }])
  })

  test('a refused order is readable, names what is still missing, and is removed after confirmation', async () => {
    const items = [{ ...row('SHOE-42', 2), name: 'کفش' }, row('BAG-7', 1, 500.5)]
    await client().create(order('1', { items, customer: { name: 'سارا', mobile: '09123456789' } }))
    await client().product('SHOE-42', { stock: 1 })
    const { page } = await open('#/refused', 'fa-IR')
    await page.getByText(/^این کالاها ثبت نشده‌اند: \W*BAG-7\W*$/).waitFor()
    await page.getByRole('cell', { name: 'سارا' }).waitFor()
    await page.locator('summary', { hasText: 'آنچه فروشگاه فرستاده است' }).click()
    const table = page.getByRole('table', { name: 'کالاها' })
    await table.getByRole('row').filter({ hasText: 'کفش' }).getByText('۱٬۰۰۰').waitFor()
    await page.getByText('جمع کل با مالیات و عوارض (ریال)۲٬۷۵۱').waitFor()
    expect(await page.getByText('"unit_price"').first().isVisible()).toBe(false)
    expect(await violationsOf(page)).toEqual([])
    await page.setViewportSize({ width: 320, height: 740 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
    await page.getByRole('button', { name: 'افزودن کالای BAG-7' }).click()
    expect(await page.getByRole('dialog').getByLabel('قیمت').inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'حذف سفارش' }).click()
    await page.keyboard.press('Escape')
    expect(await client().list('refusals')).toHaveLength(1)
    await page.getByRole('button', { name: 'حذف سفارش' }).click()
    await fill(page.getByRole('dialog'), {}, 'حذف')
    await page.getByText('سفارش ردشده‌ای نیست').waitFor()
  })

  test('a customer is renamed, and a mistyped national ID is refused', async () => {
    await client().create(order('1', { customer: { mobile: '09123456789', name: 'Sra' } }))
    const { page } = await open('#/customers')
    await page.getByRole('button', { name: 'Edit Sra' }).click()
    const dialog = page.getByRole('dialog')
    await fill(dialog, { Name: 'Sara', 'National ID': '1111111111' }, 'Save')
    await dialog.getByText('Must have a valid check digit').waitFor()
    await fill(dialog, { 'National ID': '0012345679', 'Economic code': 'abc' }, 'Save')
    await dialog.getByText('Must have 11 digits for a company, 14 digits for a person').waitFor()
    await fill(dialog, { 'Economic code': '' }, 'Save')
    await page
      .getByRole('cell', { name: 'Sara' })
      .or(page.getByRole('rowheader', { name: 'Sara' }))
      .first()
      .waitFor()
    expect((await client().detail('1')).customer).toMatchObject({ name: 'Sara', nationalId: '0012345679' })
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

  test('an action that would be refused has no button, and the page gives the reason', async () => {
    await client().create(order('1', { items: [row('SKU-1', 2)], payment: PAYMENT }))
    await client().act('1', 'return', { rows: [{ row: 1, quantity: 1 }] })
    await client().act('1', 'repay', PAYMENT)
    const { page } = await openOrder('1')
    const actions = page.getByRole('group', { name: 'Actions' })
    const offered = () => actions.getByRole('button').allTextContents()
    await actions
      .getByText(
        'Possible once the repayment is reversed: Reverse payment, Reverse return, Move back to review',
      )
      .waitFor()
    expect(await offered()).toEqual(['Reverse repayment', 'Register return'])
    expect(await violationsOf(page)).toEqual([])
    await client().act('1', 'reverse-repayment')
    await actions.getByRole('button', { name: 'Move back to review' }).waitFor()
    await client().create(order('2', { payment: PAYMENT }))
    await client().put('fiscal-years', { fiscalYears: [] })
    await page.evaluate('location.hash = "#/orders/2?source=api"')
    await actions
      .getByText(
        'Not possible outside the open fiscal years: Reverse payment, Move back to review, Correct order',
      )
      .waitFor()
    expect(await offered()).toEqual(['Register return'])
  })

  test('a selected order that is no longer in review is left out of a bulk retry', async () => {
    for (const id of ['1', '2']) await client().create(order(id, SHORT))
    const { page } = await open('#/orders')
    for (const id of ['1', '2']) await page.getByLabel(`Select order ${id}`).check()
    await client().product('SKU-3', { stock: 4 })
    await client().retry('1')
    await page.getByRole('link', { name: 'Invoiced 1' }).waitFor()
    await page.getByRole('button', { name: 'Retry 2 selected' }).click()
    const dialog = page.getByRole('dialog', { name: 'Retry orders: 1' })
    await dialog.getByText('1 will be invoiced. The goods').waitFor()
    await dialog.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('heading', { name: 'Retried: 0 paid, 1 invoiced, 0 not' }).waitFor()
  })

  test('a typed slash is refused with the decimal separator to type', async () => {
    await client().create(order('1', { items: [row('SKU-1', 4)] }))
    const { page } = await openOrder('1', 'fa-IR')
    await page.getByRole('button', { name: 'ثبت برگشت از فروش' }).click()
    const dialog = page.getByRole('dialog')
    await fill(dialog, { برگشت: '۲/۵' }, 'ثبت برگشت از فروش')
    await dialog.getByText('عدد نیست. اعشار را به شکل ⁨۲٫۵⁩ بنویسید').waitFor()
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'حذف تغییرات' }).click()
    await page.getByRole('button', { name: 'ثبت دریافت وجه' }).click()
    await fill(dialog, { 'مبلغ به ریال': '۲/۵' }, 'ثبت دریافت وجه')
    await dialog.getByText('ممیز دارد، ولی ریال اعشار ندارد').waitFor()
  })

  test('a refusal in Persian has Persian digits, also of a fraction', async () => {
    await client().create(order('1', { items: [row('SKU-1', 0.1234)] }))
    const { page } = await openOrder('1', 'fa-IR')
    await page.getByRole('button', { name: 'ثبت برگشت از فروش' }).click()
    const dialog = page.getByRole('dialog')
    await fill(dialog, { برگشت: '5' }, 'ثبت برگشت از فروش')
    await dialog.getByText('(۰٫۱۲۳۴)').first().waitFor()
  })

  test('goods in the message of a return are read from right to left in Persian', async () => {
    await client().create(order('1', { items: [row('SKU-1', 1)], payment: PAYMENT }))
    const { page } = await openOrder('1', 'fa-IR')
    await page.getByText('سفارش همراه با پرداخت دریافت و پیش‌نویس فاکتور').waitFor()
    await page.getByRole('button', { name: 'ثبت برگشت از فروش' }).click()
    await fill(page.getByRole('dialog'), {}, 'ثبت برگشت از فروش')
    // The isolated text takes its direction from its first letter or mark.
    await page.getByText('برگشت ⁨‏⁨۱⁩ × ⁨چای').waitFor()
  })

  test('a retry names every receipt that it registers, and the credit that is left', async () => {
    await client().create(order('1', { items: [row('SKU-1', 4)] }))
    for (const amount of [1400, 3000]) await client().act('1', 'pay', { ...PAYMENT, amount })
    await client().act('1', 'review', { error: 'One piece less' })
    await client().act('1', 'correct', { items: [row('SKU-1', 3)] })
    const { page } = await openOrder('1')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('invoice 1 is finalized, receipts 3, 4 are registered.').waitFor()
    const credit = 'The buyer has a credit of 1,100 rials.'
    await page.getByRole('region', { name: 'Outcome' }).getByText(credit).waitFor()
  })

  test('dialogs mention webhooks only while an address is registered, and the order says that none is', async () => {
    await client().create(order('1', { payment: PAYMENT }))
    await client().act('1', 'reverse-payment')
    const { page } = await openOrder('1')
    const none = 'No address is registered, so no webhook is sent.'
    await page.getByRole('region', { name: 'Webhook deliveries' }).getByText(none).waitFor()
    await page.getByRole('button', { name: 'Move back to review' }).click()
    await page.getByRole('dialog').getByText('The invoice is a draft again.').waitFor()
    expect(await page.getByRole('dialog').textContent()).not.toContain('webhook')
    await page.keyboard.press('Escape')
    await client().register('http://127.0.0.1:9/hook')
    await page.getByText('None. A webhook is sent when the status changes in the service').waitFor()
    await page.getByRole('button', { name: 'Move back to review' }).click()
    await page.getByRole('dialog').getByText('a webhook is sent to every registered address').waitFor()
  })
}
