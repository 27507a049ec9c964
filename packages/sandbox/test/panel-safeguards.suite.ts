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
      lowest: null,
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
    await dialog.getByText('On a date, it is added to what the documents before that day leave').waitFor()
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
      lowest: null,
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

  test('the outcome of a retry disappears after the next action', async () => {
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

  test('a typed slash separates decimals in Persian, which rials do not have', async () => {
    await client().create(order('1', { items: [row('SKU-1', 4)] }))
    const { page } = await openOrder('1', 'fa-IR')
    await page.getByRole('button', { name: 'ثبت برگشت از فروش' }).click()
    const dialog = page.getByRole('dialog')
    const quantity = dialog.getByLabel('برگشت')
    await quantity.fill('۲/۵')
    await dialog.getByText('۲٬۷۵۰').waitFor({ timeout: 5000 })
    await quantity.blur()
    expect(await quantity.inputValue()).toBe('۲٫۵')
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'حذف تغییرات' }).click()
    await page.getByRole('button', { name: 'ثبت دریافت وجه' }).click()
    await fill(dialog, { 'مبلغ به ریال': '۲/۵' }, 'ثبت دریافت وجه')
    await dialog.getByText('ممیز دارد، ولی ریال اعشار ندارد').waitFor()
  })

  test('a refusal in Persian has Persian digits, even in a fraction', async () => {
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
