import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { fill, focused, type OpenAt } from '@order-relay/test-support/browser.ts'
import type { Locator } from 'playwright-core'
import { type Client, eventually, order, row, SHORT, upTo } from './world.ts'

/** Whether an element is in view and nothing covers it. */
const isUncovered = (shown: Locator) =>
  shown.evaluate(element => {
    const { x, y, width, height } = element.getBoundingClientRect()
    return [y + 2, y + height - 2].every(at =>
      element.contains(element.ownerDocument.elementFromPoint(x + width / 2, at)),
    )
  })

const becomesUncovered = (shown: Locator) =>
  eventually(
    () => isUncovered(shown),
    isIt => isIt,
  )

const SIZES = [
  { width: 1360, height: 860 },
  { width: 390, height: 844 },
]

const LONG_AMOUNT = 1_234_567_890_123

/** The names of the fields whose text does not fit. */
const clippedIn = (place: Locator) =>
  place
    .locator('input')
    .evaluateAll(fields =>
      fields
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map(field => field.getAttribute('name')),
    )

const widthOf = async (shown: Locator) => (await shown.boundingBox())?.width ?? 0

/** Forms and dialogs, and what can be typed in them. */
export const formTests = (openAt: OpenAt, client: () => Client) => {
  const openOrder = (id: string, options?: Parameters<OpenAt>[1]) =>
    openAt(`${client().url}/#/orders/${id}?source=api`, { locale: 'fa-IR', ...options })

  test.each(SIZES)(
    'in a long dialog, title, outcome, calendar and buttons are in view at $width × $height',
    async viewport => {
      const items = upTo(6).map(index => row('SKU-1', 1, index * 1000))
      await client().create(order('1', { items }))
      const { page, errors } = await openOrder('1', { viewport })
      await page.getByRole('button', { name: 'اصلاح سفارش' }).click()
      const dialog = page.getByRole('dialog')
      const inView = [
        dialog.getByText(/^جمع کل جدید: .*۲۳٬۱۰۰/),
        dialog.getByRole('heading', { name: 'اصلاح سفارش' }),
        dialog.getByRole('button', { name: 'اصلاح سفارش' }),
      ]
      for (const shown of inView) await becomesUncovered(shown)
      await dialog.getByRole('button', { name: 'انتخاب از تقویم' }).click()
      await becomesUncovered(dialog.getByRole('button', { name: 'امروز' }))
      await page.keyboard.press('Escape')
      await dialog.getByLabel('علت').fill('x')
      for (const shown of inView) await becomesUncovered(shown)
      await page.keyboard.press('Escape')
      await becomesUncovered(dialog.getByRole('button', { name: 'ادامه ویرایش' }))
      await becomesUncovered(dialog.getByRole('button', { name: 'حذف تغییرات' }))
      expect(errors).toEqual([])
    },
  )

  test.each([...SIZES, { width: 1280, height: 800 }, { width: 700, height: 800 }])(
    'amounts of 13 digits fit in a correction of two rows and in a payment at $width × $height',
    async viewport => {
      const items = [row('SKU-1', 1, LONG_AMOUNT), row('SKU-2', 1, LONG_AMOUNT)]
      await client().create(order('1', { items, discount: LONG_AMOUNT }))
      const { page } = await openOrder('1', { viewport })
      await page.getByRole('button', { name: 'اصلاح سفارش' }).click()
      const dialog = page.getByRole('dialog')
      const line = dialog.getByRole('group', { name: 'ردیف ۱' })
      await line.getByRole('button', { name: 'حذف' }).waitFor()
      await line.getByLabel('تخفیف').fill(String(LONG_AMOUNT - 1))
      await line.getByLabel('تخفیف').blur()
      expect(await clippedIn(dialog)).toEqual([])
      const product = await widthOf(line.getByLabel('کالا'))
      for (const field of ['مقدار', 'مبلغ واحد', 'تخفیف'])
        expect(await widthOf(line.getByLabel(field))).toBeLessThanOrEqual(product)
      await page.keyboard.press('Escape')
      await dialog.getByRole('button', { name: 'حذف تغییرات' }).click()

      await page.getByRole('button', { name: 'ثبت دریافت وجه' }).click()
      await dialog.getByLabel('مبلغ به ریال').waitFor()
      expect(await clippedIn(dialog)).toEqual([])
    },
  )

  test('the dialogs of products, accounts and customers ask before Escape or Cancel discards what is typed', async () => {
    await client().create(order('1', { customer: { mobile: '09123456789', name: 'سارا' } }))
    for (const [hash, button] of [
      ['products', /^ویرایش .*SKU-1/],
      ['settings', /^ویرایش حساب .*bank-1/],
      ['customers', /^ویرایش .*سارا/],
    ] as const) {
      const { page } = await openAt(`${client().url}/#/${hash}`, { locale: 'fa-IR' })
      const dialog = page.getByRole('dialog')
      const question = page.getByRole('alertdialog', { name: 'تغییرات شما حذف شود؟' })
      await page.getByRole('button', { name: button }).click()
      await dialog.waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: button }).click()
      await dialog.getByLabel('نام', { exact: true }).fill('نام تازه')
      await page.keyboard.press('Escape')
      await question.getByRole('button', { name: 'ادامه ویرایش' }).click()
      expect(await dialog.getByLabel('نام', { exact: true }).inputValue()).toBe('نام تازه')
      await dialog.getByRole('button', { name: 'انصراف' }).click()
      await question.getByRole('button', { name: 'حذف تغییرات' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
  })

  test('the Back button asks before it discards what is typed in a dialog, and otherwise closes it', async () => {
    const { page, errors } = await openAt(`${client().url}/#/products`)
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Edit account bank-1' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Savings')
    await page.evaluate('history.back()')
    const question = dialog.getByRole('alertdialog', { name: 'Discard your changes?' })
    await question.getByRole('button', { name: 'Keep editing' }).click()
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Savings')
    expect(page.url()).toMatch(/#\/settings$/)
    await page.evaluate('history.back()')
    await question.getByRole('button', { name: 'Discard changes' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Edit account bank-1' }).click()
    await dialog.waitFor()
    await page.evaluate('history.back()')
    await page.getByRole('heading', { name: 'Products' }).waitFor()
    expect(await dialog.count()).toBe(0)
    expect(errors).toEqual([])
  })

  test('in a partial return, rows of the same product differ by number and unit price', async () => {
    await client().create(order('1', { items: [row('SKU-1', 2, 1_500_000), row('SKU-1', 1, 1_450_000)] }))
    const { page } = await openOrder('1')
    await page.getByRole('button', { name: 'ثبت برگشت از فروش' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('کالاهای برگشتی').selectOption('بخشی از کالاها')
    const second = dialog.getByLabel(/^ردیف .?۲.?: برگشت .*چای سیاه/)
    expect((await second.getAttribute('aria-describedby'))?.split(' ')[0]).toBe('field-rows[1].quantity-help')
    const help = dialog.locator('[id="field-rows[1].quantity-help"]')
    expect((await help.innerText()).replace(/[\u2066-\u2069]/g, '')).toBe(
      'حداکثر ۱، به مبلغ واحد ۱٬۴۵۰٬۰۰۰ ریال',
    )
    await second.fill('1')
    await fill(dialog, {}, 'ثبت برگشت از فروش')
    await dialog.waitFor({ state: 'detached' })
    expect((await client().detail('1')).returns).toMatchObject([
      { rows: [{ row: 2, unit_price: '1450000' }] },
    ])
  })

  test('a retry of many orders scrolls between its title and its result', async () => {
    for (const number of upTo(15)) await client().create(order(String(number), SHORT))
    await client().product('SKU-3', { stock: 12 })
    const { page } = await openAt(`${client().url}/#/orders`, { viewport: { width: 390, height: 844 } })
    await page.getByRole('button', { name: 'Retry all that are ready…' }).click()
    const dialog = page.getByRole('dialog')
    await becomesUncovered(dialog.getByRole('heading', { name: 'Retry orders: 15' }))
    await becomesUncovered(dialog.getByText('6 will be invoiced. 9 will stay in review'))
    await dialog.getByRole('checkbox').last().uncheck()
    await becomesUncovered(dialog.getByText('6 will be invoiced. 8 will stay in review'))
    await becomesUncovered(dialog.getByRole('heading', { name: 'Retry orders: 14' }))
    await fill(dialog, {}, 'Retry')
    await dialog.waitFor({ state: 'detached' })
  })

  test('a date before the year 1700 is Jalali, regardless of its digits and separators', async () => {
    await client().create(order('1', { date: '2026-04-23' }))
    const { page, errors } = await openAt(`${client().url}/#/orders`, { locale: 'fa-IR' })
    const first = page.getByLabel('از تاریخ')
    for (const typed of ['1405-02-03', '1405/2/3', '۱۴۰۵.۰۲.۰۳', '2026-04-23']) {
      await first.fill(typed)
      await page.waitForURL(/from=2026-04-23/)
      await first.blur()
      expect(await first.inputValue()).toBe('۱۴۰۵/۰۲/۰۳')
      await first.fill('')
      await page.waitForURL(url => !url.hash.includes('from'))
    }
    await first.fill('1405-02-0')
    await first.press('3')
    expect(await first.inputValue()).toBe('1405-02-03')
    await page.getByLabel('تا تاریخ').fill('1405/2/2')
    await page.getByText(/^«از تاریخ» .* نباید بعد از «تا تاریخ» .* باشد/).waitFor()
    await first.fill('05/2/3')
    await first.blur()
    await page
      .getByText(/تاریخ نیست. «\u2068?از تاریخ\u2069?» را مانند .*۱۴۰[۰-۹]\/[۰-۹]{2}\/[۰-۹]{2}/)
      .waitFor()
    expect(errors).toEqual([])
  })

  test('an amount is accepted with its unit and any thousands separator, and shown in words', async () => {
    await client().create(order('1', { items: [row('SKU-1', 1, 9_000_000)] }))
    const { page } = await openOrder('1')
    await page.getByRole('button', { name: 'ثبت دریافت وجه' }).click()
    const dialog = page.getByRole('dialog')
    const amount = dialog.getByLabel('مبلغ به ریال')
    await dialog.getByText(/^\u2068?نه میلیون و نهصد هزار\u2069? ریال$/).waitFor()
    for (const typed of ['۱۰۰۰۰۰۰ ریال', '1,000,000', '۱٬۰۰۰٬۰۰۰', '1 000 000', '1000000ریال']) {
      await amount.fill('')
      await amount.fill(typed)
      await dialog.getByText(/^\u2068?یک میلیون\u2069? ریال$/).waitFor()
      await amount.blur()
      expect(await amount.inputValue()).toBe('۱٬۰۰۰٬۰۰۰')
    }
    await fill(dialog, { 'مبلغ به ریال': '500/000' }, 'ثبت دریافت وجه')
    await dialog.getByText(/«\u2068?\/\u2069?» نشانه اعشار است، نه جداکننده هزارگان/).waitFor()
    expect(await dialog.getByText(/\u2069 ریال$/).count()).toBe(0)
    await fill(dialog, { 'مبلغ به ریال': '۵۰۰۰۰۰ ریال', شرح: 'پیش‌پرداخت' }, 'ثبت دریافت وجه')
    await dialog.waitFor({ state: 'detached' })
    expect((await client().detail('1')).receipts).toMatchObject([{ amount: '500000' }])
    await page.getByRole('region', { name: 'رسید دریافت' }).getByText('پیش‌پرداخت').waitFor()
  })

  test('all invalid fields are marked at once, including those that only the service refuses', async () => {
    await client().create(order('1', { items: [row('SKU-1', 1), row('SKU-2', 1)] }))
    const { page } = await openAt(`${client().url}/#/settings`, { locale: 'fa-IR' })
    const form = page.getByRole('form', { name: 'فروشنده' })
    const marked = (place: Locator, count: number) =>
      eventually(
        () => place.locator('[aria-invalid]').count(),
        found => found === count,
      )
    await fill(form, { 'کد اقتصادی': '12', شناسه: '10380284791', 'کد پستی': '1' }, 'ذخیره مشخصات فروشنده')
    await marked(form, 3)
    await form.getByText('باید برای شرکت ۱۱ رقم، برای شخص ۱۴ رقم یا در کد قدیمی ۱۲ رقم باشد').waitFor()
    await form.getByText('رقم کنترل آن درست نیست').waitFor()
    expect(await focused(page)).toBe('field-seller-economicCode')
    await fill(form, { 'کد اقتصادی': '10380284790' }, 'ذخیره مشخصات فروشنده')
    await marked(form, 2)
    await fill(form, { شناسه: '10380284790', 'کد پستی': '1234567890' }, 'ذخیره مشخصات فروشنده')
    await page.getByText('ذخیره شد').waitFor()
    await page.evaluate('location.hash = "#/products"')
    await page.getByRole('button', { name: 'افزودن کالا' }).click()
    const dialog = page.getByRole('dialog')
    await fill(dialog, { 'کد کالا': 'A', موجودی: '-1', قیمت: '1.5' }, 'افزودن')
    await marked(dialog, 3)
    await page.keyboard.press('Escape')
    await page.evaluate('location.hash = "#/orders/1?source=api"')
    await page.getByRole('button', { name: 'اصلاح سفارش' }).click()
    await dialog.getByLabel('مقدار').first().fill('0')
    await dialog.getByLabel('مبلغ واحد').last().fill('x')
    await fill(dialog, { تاریخ: '1405', موبایل: '1' }, 'اصلاح سفارش')
    await marked(dialog, 4)
  })

  test('a corrected order shows the total that the store sent, on the screen only', async () => {
    await client().create(order('1', SHORT))
    await client().act('1', 'correct', { items: [row('SKU-3', 3)] })
    const { page } = await openOrder('1')
    const sent = page.getByText(/جمع کل سفارشی که فروشگاه فرستاد .*۲٬۲۰۰/)
    await sent.waitFor()
    await page.emulateMedia({ media: 'print' })
    expect(await sent.isVisible()).toBe(false)
    await client().act('1', 'correct', { items: [row('SKU-3', 2)] })
    await sent.waitFor({ state: 'detached' })
  })

  test('the product field of a correction finds products by any part of their name', async () => {
    await client().product('TEA-1', { name: 'چای سبز ممتاز', stock: 5, price: 4000 })
    await client().product('TEA-2', { name: 'چای سبز کیسه‌ای', stock: 5 })
    await client().create(order('1'))
    const { page } = await openOrder('1')
    await page.getByRole('button', { name: 'اصلاح سفارش' }).click()
    const dialog = page.getByRole('dialog')
    const product = dialog.getByLabel('کالا', { exact: true })
    await product.fill('سبز')
    await dialog.getByText(/^۲ کالا پیدا شد: .*چای سبز ممتاز.*TEA-1.*چای سبز کیسه‌ای.*TEA-2/).waitFor()
    await product.blur()
    expect(await product.inputValue()).toBe('سبز')
    await product.fill('ممتاز')
    await dialog.getByText(/^۱ کالا پیدا شد: .*چای سبز ممتاز/).waitFor()
    await product.blur()
    expect(await product.inputValue()).toBe('TEA-1')
    await dialog.getByText('چای سبز ممتاز', { exact: true }).waitFor()
    expect(await dialog.getByLabel('مبلغ واحد').inputValue()).toBe('۴٬۰۰۰')
    await product.fill('هیچ')
    await dialog.getByText('کالایی با این کد یا نام نیست').waitFor()
  })

  test.each([1360, 1280])(
    'a field with an error stays in line with its row at a width of %d',
    async width => {
      await client().create(order('1', { items: [row('SKU-1', 1), row('SKU-2', 1)] }))
      const { page } = await openOrder('1', { viewport: { width, height: 860 } })
      await page.getByRole('button', { name: 'اصلاح سفارش' }).click()
      const line = page.getByRole('group', { name: 'ردیف ۱' })
      await line.getByLabel('مبلغ واحد').fill('12/5')
      await fill(page.getByRole('dialog'), {}, 'اصلاح سفارش')
      await line.getByText('نشانه اعشار است').waitFor()
      const tops = await line
        .locator('input, button')
        .evaluateAll(controls => controls.map(control => Math.round(control.getBoundingClientRect().top)))
      expect(tops).toHaveLength(5)
      expect(new Set(tops).size).toBe(1)
    },
  )

  test.each([1360, 1280])(
    'filters and exports of the lists are in line at a width of %d, and no choice is cut off',
    async width => {
      const { page } = await openAt(`${client().url}/#/orders?balance=credit`, {
        locale: 'fa-IR',
        viewport: { width, height: 860 },
      })
      const links = page.locator('.sums a.button')
      await links.nth(2).waitFor()
      const tops = () =>
        links.evaluateAll(found => found.map(each => Math.round(each.getBoundingClientRect().top)))
      expect(new Set(await tops()).size).toBe(1)
      const balance = page.getByLabel('مانده')
      const widths = await balance.evaluate(select => {
        const shown = select.getBoundingClientRect().width
        select.style.width = 'max-content'
        return [shown, select.getBoundingClientRect().width]
      })
      expect(widths[0]).toBeGreaterThanOrEqual(widths[1] ?? 0)
      await page.evaluate('location.hash = "#/documents"')
      await page.getByRole('heading', { name: 'اسناد' }).waitFor()
      await links.nth(1).waitFor()
      expect(new Set(await tops()).size).toBe(1)
    },
  )

  test('the stock is adjusted with a reason, and its changes are filtered by reason and day', async () => {
    await client().create(order('1'))
    const { page, errors } = await openAt(`${client().url}/#/products/SKU-1`, { locale: 'fa-IR' })
    await page.getByRole('button', { name: 'تعدیل موجودی' }).click()
    const dialog = page.getByRole('dialog')
    await fill(dialog, { تغییر: '-۱۰۰' }, 'تعدیل موجودی')
    await dialog.getByText('این فیلد را پر کنید').waitFor()
    await fill(dialog, { علت: 'شکستگی' }, 'تعدیل موجودی')
    await dialog.getByText(/نباید بیش از موجودی .*۹۸.* باشد/).waitFor()
    await fill(dialog, { تغییر: '+۵' }, 'تعدیل موجودی')
    await dialog.waitFor({ state: 'detached' })
    const rows = page.locator('tbody').getByRole('row')
    await rows.nth(1).waitFor()
    expect(await rows.first().getByRole('cell').allTextContents()).toEqual([
      ...['تعدیل موجودیشکستگی', '۹۸', '۵', '۱۰۳'],
    ])
    await page.getByRole('combobox', { name: 'علت' }).selectOption('issued')
    await rows.filter({ hasText: 'تعدیل' }).waitFor({ state: 'detached' })
    expect(await rows.count()).toBe(1)
    await page.getByLabel('تا تاریخ').fill('1400/1/1')
    await page.getByText('تغییری با این فیلتر نیست').waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(errors.filter(each => !/status of 409/.test(each))).toEqual([])
  })
}
