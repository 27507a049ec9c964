import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { fill, type OpenAt } from '@order-relay/test-support/browser.ts'
import type { Locator } from 'playwright-core'
import { type Client, order, row } from './world.ts'

/** What the accountant does with refused orders. */
export const refusalTests = (openAt: OpenAt, client: () => Client) => {
  const open = (hash: string, options = {}) => openAt(`${client().url}/${hash}`, options)

  test('a product that a refused order needs is added from the list, which updates until the order is registered', async () => {
    const items = [{ ...row('TEA-9', 2, 2100), name: 'Green tea' }]
    const refused = order('1', { items, customer: { mobile: '09123456789' } })
    const { page, errors } = await open('#/orders')
    await page.getByText('No orders yet').waitFor()
    await client().create(refused)
    await page.getByRole('link', { name: 'Refusals 1 not registered' }).click()
    await page.getByText('Products that do not exist: TEA-9').waitFor()
    await page.getByText('Add the product if you sell it, otherwise tell the store. The store has').waitFor()
    await page.locator('summary', { hasText: 'What the store sent' }).click()
    await page.locator('summary', { hasText: 'As JSON' }).click()
    await page.getByText('"unit_price": 2100').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Add product TEA-9' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a product' })
    expect(await dialog.getByLabel('Price in rials').inputValue()).toBe('2,100')
    await fill(dialog, { Stock: '10' }, 'Add')
    await page.getByText('Earlier reason: ').waitFor()
    const resent =
      'The cause is gone. The store has to send the order again. If a relay connects the store, it may'
    await page.getByText(resent).waitFor({ timeout: 5000 })
    await page.getByText('but not if the store has withdrawn the order.').waitFor()
    expect(await client().list('products?q=TEA')).toMatchObject([{ name: 'Green tea', stock: 10 }])

    await client().create(refused)
    await page.getByText('No order is refused').waitFor()
    await page.getByRole('link', { name: 'Registered since' }).click()
    await page.getByText(/^Registered \d/).waitFor()
    await page.getByRole('link', { name: '1', exact: true }).click()
    await page.getByRole('heading', { name: 'Order 1' }).waitFor()
    expect(errors).toEqual([])
  })

  test('a refusal is explained in Persian, fits a phone with any text, and is removed from the list', async () => {
    const long = 'S'.repeat(3000)
    await client().create(order('date', { date: '2019-01-01' }))
    await client().create(order('mobile', { customer: { mobile: '12' } }))
    await client().create(order('discount', { discount: 5000 }))
    const customer = { mobile: '09120000002', name: 'ن'.repeat(3000) }
    await client().create(order('x'.repeat(100), { items: [row(long, 1)], customer }))
    const { page, errors } = await open('#/refused', { locale: 'fa-IR' })
    const shown = async () => (await page.locator('main').textContent())?.replace(/[\u2068\u2069\u200f]/g, '')
    await page.getByText('موبایل مشتری').waitFor()
    expect(await shown()).toContain('تاریخ «۱۱ دی ۱۳۹۷»: خارج از سال‌های مالی باز است')
    expect(await shown()).toContain('موبایل مشتری «12»: باید شماره موبایل باشد')
    expect(await shown()).toContain('تخفیف کل «۵٬۰۰۰»: نباید بیش از مبلغ کالاها')
    await page.getByText('به فروشگاه اطلاع دهید تا سفارش را اصلاح کند').first().waitFor()
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 740 })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      expect(await violationsOf(page)).toEqual([])
    }
    for (const left of [3, 2, 1, 0]) {
      await page.getByRole('button', { name: 'حذف سفارش' }).first().click()
      await fill(page.getByRole('dialog'), {}, 'حذف')
      await page.locator('.refusals > tbody > tr').nth(left).waitFor({ state: 'detached' })
    }
    await page.getByText('سفارش ردشده‌ای نیست').waitFor()
    expect(errors).toEqual([])
  })

  test('a Jalali date that a store sent is shown as it was sent, and only the store can correct it', async () => {
    for (const date of ['1405/09/05', '1405-09-05'])
      await client().create(order(date.replaceAll('/', '.'), { date }))
    const { page, errors } = await open('#/refused', { locale: 'fa-IR' })
    const main = page.locator('main')
    await main.getByText('«⁨1405-09-05⁩»').waitFor({ timeout: 5000 })
    for (const summary of await page.locator('summary', { hasText: 'آنچه فروشگاه فرستاده است' }).all())
      await summary.click()
    await main.getByText('تاریخ1405/09/05', { exact: true }).waitFor({ timeout: 5000 })
    await main.getByText('تاریخ1405-09-05', { exact: true }).waitFor()
    expect(await main.getByText('به فروشگاه اطلاع دهید تا سفارش را اصلاح کند').count()).toBe(2)
    expect(errors).toEqual([])
  })

  test('an order without a customer or with an unknown one is explained with the settings that help', async () => {
    await client().settings({ defaultCustomer: null, automaticCustomerCreation: false })
    await client().create(order('none'))
    const pages = await Promise.all([open('#/refused'), open('#/refused', { locale: 'fa-IR' })])
    const [english, persian] = pages.map(({ page }) => page.getByRole('table')) as [Locator, Locator]
    await english
      .getByText('The order has no mobile number, and no default customer is selected.', { exact: true })
      .waitFor()
    await persian
      .getByText('سفارش شماره موبایل ندارد و مشتری پیش‌فرض انتخاب نشده است.', { exact: true })
      .waitFor()
    await english.getByText(/^Select a default customer in the settings\./).waitFor()
    await persian.getByText(/^در تنظیمات مشتری پیش‌فرض را انتخاب کنید\./).waitFor()
    expect(await english.getByText('automatic customer creation').count()).toBe(0)

    await client().create(order('unknown', { customer: { mobile: '9350000001' } }))
    await client().create(order('number', { customer: { mobile: 9350000001 } }))
    await english
      .getByText('Mobile number of the customer "09350000001": no customer has this number')
      .waitFor()
    await english.getByText('Select a default customer or turn on automatic customer creation').waitFor()
    await english.getByText('Mobile number of the customer "9350000001": must be a string').waitFor()
    await persian.getByText('باید متن باشد').waitFor()
    const shown = (await persian.textContent())?.replace(/[\u2066-\u2069\u200f]/g, '')
    expect(shown).toContain(
      'موبایل مشتری «۰۹۳۵۰۰۰۰۰۰۱»: مشتری با این شماره نیست، ایجاد خودکار مشتری خاموش است و مشتری پیش‌فرض انتخاب نشده است',
    )
    expect(shown).toContain('موبایل مشتری «۹۳۵۰۰۰۰۰۰۱»: باید متن باشد')
    await client().create(order('empty', { items: [{ sku: 'SKU-1', quantity: 1 }] }))
    await english.getByText('Unit price in row 1 is missing', { exact: true }).waitFor()
    await persian.getByText(/مبلغ واحد.* ارسال نشده است/).waitFor()
    expect((await persian.textContent())?.replace(/[\u2066-\u2069\u200f]/g, '')).toContain(
      'مبلغ واحد در ردیف ۱ ارسال نشده است',
    )
  })

  test('a reason that a change of the settings has replaced is marked as the current one', async () => {
    await client().create(order('1', { date: '2019-05-01' }))
    await client().settings({ defaultCustomer: null })
    await client().put('fiscal-years', { from: '2019-01-01', to: '2019-12-31' })
    const { page } = await open('#/refused')
    await page
      .getByText('Current reason: The order has no mobile number, and no default customer is selected.')
      .waitFor({ timeout: 5000 })
    await page.getByText(/^Earlier reason: Date "1 May 2019": /).waitFor()
  })

  test('a refusal whose cause is gone says so in both languages', async () => {
    await client().create(order('1', { date: '2019-05-01' }))
    const pages = await Promise.all([open('#/refused'), open('#/refused', { locale: 'fa-IR' })])
    const [english, persian] = pages.map(({ page }) => page.getByRole('table')) as [Locator, Locator]
    await english.getByText('Add or reopen the fiscal year').waitFor()
    await persian.getByText('سال مالی آن را اضافه یا بازگشایی کنید').waitFor()
    await client().put('fiscal-years', { from: '2019-01-01', to: '2019-12-31' })
    await english.getByText('The cause is gone.').waitFor()
    await persian.getByText('علت رد برطرف شده است.').waitFor()
    await persian.getByText(/^علت قبلی: /).waitFor()
    expect(await english.getByText('Add or reopen').count()).toBe(0)
    expect(await persian.getByText('بازگشایی کنید').count()).toBe(0)
  })

  test('a refused order is readable, names what is still missing, and is removed after confirmation', async () => {
    const items = [{ ...row('SHOE-42', 2), name: 'کفش' }, row('BAG-7', 1, 500.5)]
    await client().create(order('1', { items, customer: { name: 'سارا', mobile: '09123456789' } }))
    await client().product('SHOE-42', { stock: 1 })
    const { page } = await open('#/refused', { locale: 'fa-IR' })
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
}
