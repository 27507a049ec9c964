import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { fill, type OpenAt } from '@order-relay/test-support/browser.ts'
import { type Client, eventually, order, PAYMENT, row } from './world.ts'

/** What the accountant does with refused orders, credits and accounts. */
export const moneyTests = (openAt: OpenAt, client: () => Client) => {
  const open = (hash: string, options = {}) => openAt(`${client().url}/${hash}`, options)

  /** Registers orders so that the cash box has only the receipt of order 3, less 1,100 rials that were paid back. */
  const cashBoxWouldBeShort = async () => {
    const { create, act } = client()
    for (const id of ['1', '2']) await create(order(id, { items: [row('SKU-1', 1)], payment: PAYMENT }))
    await create(order('3', { items: [row('SKU-1', 2)] }))
    await act('3', 'pay', { method: 'cash', account: 'cash-1' })
    await act('1', 'return')
    await act('1', 'repay', { method: 'cash', account: 'cash-1' })
  }

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
    await page.getByText('The products exist now.').waitFor()
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

  test('the account of a payment follows the method until it is chosen', async () => {
    await client().create(order('1'))
    const { page, errors } = await open('#/orders/1?source=api')
    await page.getByRole('button', { name: 'Register payment' }).click()
    const dialog = page.getByRole('dialog')
    const account = dialog.getByLabel('Account')
    const method = dialog.getByLabel('Method')
    expect([await method.inputValue(), await account.inputValue()]).toEqual(['transfer', 'bank-1'])
    await method.selectOption('cash')
    await dialog.getByText('as a cash receipt').waitFor()
    expect(await account.inputValue()).toBe('cash-1')
    await fill(dialog, { 'Amount in rials': '200' }, 'Register payment')
    await page.getByRole('region', { name: 'Receipt 1' }).getByText('صندوق فروشگاه').waitFor()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Register payment' }).click()
    await account.selectOption('cash-1')
    await method.selectOption('card')
    expect(await account.inputValue()).toBe('cash-1')
    await page.keyboard.press('Escape')
    const leave = dialog.getByRole('alertdialog', { name: 'Discard your changes?' })
    await leave.getByRole('button', { name: 'Keep editing' }).click()
    expect(await account.inputValue()).toBe('cash-1')
    await page.keyboard.press('Escape')
    await leave.getByRole('button', { name: 'Discard changes' }).click()
    await dialog.waitFor({ state: 'detached' })

    await client().settings({ orderPaymentReceivingAccount: null })
    await page.reload()
    await page.getByRole('button', { name: 'Register payment' }).click()
    await fill(dialog, {}, 'Register payment')
    await dialog.getByRole('alert').filter({ hasText: 'Fill in this field' }).waitFor()
    await account.selectOption('bank-1')
    await dialog.getByRole('button', { name: 'Register payment' }).click()
    await page.getByRole('region', { name: 'Receipt 2' }).getByText('حساب بانک ملت').waitFor()
    expect(errors).toEqual([])
  })

  test('a credit is paid back and shown with net and tax of its return, and a repayment is reversed', async () => {
    await client().create(order('1', { items: [row('SKU-1', 4)], payment: PAYMENT }))
    const { page, errors } = await open('#/orders/1?source=api')
    await page.getByRole('group', { name: 'Actions' }).waitFor()
    expect(await page.getByRole('button', { name: 'Register repayment' }).count()).toBe(0)
    await client().act('1', 'return', { rows: [{ row: 1, quantity: 1 }] })
    const goods = page.getByRole('region', { name: 'Sales return 1' })
    await goods.getByText('Amount1,100 rials', { exact: true }).waitFor()
    expect(await goods.getByRole('row').last().textContent()).toBe('Sum1,0001001,100')
    await page.getByRole('button', { name: 'Register repayment' }).click()
    const dialog = page.getByRole('dialog', { name: 'Register repayment: 1' })
    await dialog.getByText('The buyer has a credit of 1,100 rials.').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await fill(dialog, { 'Amount in rials': '1200' }, 'Register repayment')
    await dialog.getByText('Must not exceed the credit of the buyer, 1,100').waitFor()
    const [method, account] = [dialog.getByLabel('Method'), dialog.getByLabel('Account')]
    await account.selectOption('cash-1')
    await dialog.getByText('Only cash is paid from a cash box.').waitFor()
    expect(await method.inputValue()).toBe('cash')
    await method.selectOption('card')
    await dialog.getByText('No cash is paid from a bank account.').waitFor()
    expect(await account.inputValue()).toBe('bank-1')
    await method.selectOption('cash')
    await fill(dialog, { 'Amount in rials': '600' }, 'Register repayment')
    await dialog.getByText('the cash box "صندوق فروشگاه" has only 0 rials on').waitFor()
    const till = { code: 'cash-1', name: 'صندوق فروشگاه', kind: 'cash' }
    await client().put('accounts', { ...till, openingBalance: 600 })
    await fill(dialog, {}, 'Register repayment')
    await page.getByText('Order 1: 600 rials repaid').waitFor()
    const repayment = page.getByRole('region', { name: 'Repayment 1' })
    await repayment.getByText('صندوق فروشگاه').waitFor()
    await page.getByText(/^Credit of the buyer500$/).waitFor()
    await page.getByRole('button', { name: 'Reverse repayment' }).click()
    await page.getByRole('dialog').getByText('Repayment 1 is cancelled.').waitFor()
    await fill(page.getByRole('dialog'), { Reason: 'Not paid' }, 'Reverse repayment')
    await repayment.getByText('Reason of the cancellationNot paid', { exact: true }).waitFor()
    await page.getByText('Repayment reversed by the accountant (Not paid)').waitFor()
    await page.getByText(/^Credit of the buyer1,100$/).waitFor()
    // The browser reports what the service refused.
    expect(errors.filter(each => !/status of 4(00|09)/.test(each))).toEqual([])
  })

  test('a day is closed by its documents: by kind, account and day, with sums and an export', async () => {
    await client().create(order('1', { payment: PAYMENT, date: '2026-04-22' }))
    await client().create(order('2', { payment: PAYMENT, date: '2026-04-23' }))
    await client().act('2', 'reverse-payment', {})
    await client().act('2', 'pay', { method: 'cash', account: 'cash-1', date: '2026-04-23' })
    const { page, errors } = await open('#/orders')
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Documents' }).click()
    const rows = page.getByRole('table', { name: 'Documents' }).locator('tbody').getByRole('row')
    const shown = (names: readonly string[]) =>
      eventually(
        () => rows.getByRole('link').allTextContents(),
        texts => texts.join() === names.join(),
      )
    await shown(['Receipt 3', 'Receipt 2', 'Receipt 1'])
    await rows.nth(1).getByText('Cancelled').waitFor()
    await rows.nth(1).getByText('Booked as: Card reader').waitFor()
    await page.getByText('Sums by account and type of receipt').click()
    const sums = page.getByRole('table', { name: 'Sums by account, in rials' })
    expect(await sums.getByRole('row').allTextContents()).toEqual([
      'AccountOpening balanceReceivedRepaidReceipts less repaymentsClosing balance',
      'حساب بانک ملت02,20002,2002,200',
      'صندوق فروشگاه02,20002,2002,200',
      'Sum04,40004,4004,400',
    ])
    const types = page.getByRole('table', { name: 'Sums by type of receipt, in rials' })
    expect(await types.getByRole('row').allTextContents()).toEqual([
      'Booked asNumber of receiptsReceived',
      ...['Cash12,200', 'Card reader12,200', 'Sum24,400'],
    ])
    await page.getByLabel('Booked as', { exact: true }).selectOption('cash')
    await shown(['Receipt 3'])
    await page.getByLabel('Booked as', { exact: true }).selectOption('All')
    await page.getByLabel('First day').fill('2026-04-23')
    await shown(['Receipt 3', 'Receipt 2'])
    expect(await sums.getByRole('row').last().textContent()).toBe('Sum2,2002,20002,2004,400')
    await page.getByLabel('Account', { exact: true }).selectOption('bank-1')
    await shown(['Receipt 2'])
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export CSV (for Excel)' }).click()
    expect((await download).suggestedFilename()).toBe('documents-from-2026-04-23.csv')
    await page.getByRole('link', { name: 'Sales returns' }).click()
    await page.getByText('No document matches').waitFor()
    await page.getByRole('link', { name: 'Show all documents' }).click()
    await shown(['Receipt 3', 'Receipt 2', 'Receipt 1'])
    await page.getByLabel('Search by document').fill('رسید ۱')
    await shown(['Receipt 1'])
    await page.getByLabel('Search by document').fill('')
    await page.getByRole('link', { name: 'Today' }).click()
    await page.getByText('No document matches').waitFor()
    await page.getByText('3 documents with other dates were registered or cancelled on these days').waitFor()
    await page.getByRole('link', { name: 'Show by registration' }).click()
    await shown(['Receipt 3', 'Receipt 2', 'Receipt 1'])
    await page
      .getByText('3 of these documents have other dates. These sums are by date of registration')
      .waitFor()
    expect(await violationsOf(page)).toEqual([])
    const csv = await page.getByRole('link', { name: 'Export CSV (for Excel)' }).getAttribute('href')
    expect(csv).toContain('days=registration')
    await page.getByLabel('Date basis').selectOption('Date of the document')
    await page.getByText('No document matches').waitFor()
    const today = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short' }).format()
    expect(page.url()).toContain(`from=${today}&to=${today}`)
    await page.goto(`${client().url}/#/documents?from=2026-04-23&to=2026-04-24`)
    await page
      .getByText('2 documents of these days were registered or cancelled later, so an earlier list')
      .waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('link', { name: 'Show them' }).click()
    await page.getByText('These sums include only documents that were registered or cancelled').waitFor()
    await shown(['Receipt 3', 'Receipt 2'])
    expect(errors).toEqual([])
  })

  test('reversing a receipt warns about a cash box that becomes negative, and the sums mark it', async () => {
    await cashBoxWouldBeShort()
    const { page, errors } = await open('#/orders/3?source=api', { locale: 'fa-IR' })
    await page.getByRole('button', { name: 'ابطال دریافت وجه' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('بدون رسیدهای دریافت باطل‌شده، موجودی «').waitFor()
    await dialog.getByLabel('علت').fill('اشتباه')
    await dialog.getByText('بدون رسیدهای دریافت باطل‌شده، موجودی «').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'ابطال دریافت وجه' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.locator('#main').getByText('بدون رسیدهای دریافت باطل‌شده، موجودی «').waitFor()
    expect((await client().detail('3')).cancelled).toMatchObject({ receipts: [{ cancel_reason: 'اشتباه' }] })

    const { page: list } = await open('#/documents')
    await list.getByText(/has −1,100 rials\. A cash box cannot be negative/).waitFor()
    await list.getByText('Sums by account and type of receipt').click()
    const sums = list.getByRole('table', { name: 'Sums by account, in rials' })
    expect(await sums.getByRole('row').filter({ hasText: 'Negative' }).count()).toBe(1)
    expect(await violationsOf(list)).toEqual([])
    expect(errors).toEqual([])
  })

  test('moving an order back to review warns about a cash box that becomes negative, before a reason is typed', async () => {
    await cashBoxWouldBeShort()
    const { page, errors } = await open('#/orders/3?source=api')
    await page.getByRole('button', { name: 'Move back to review' }).click()
    const dialog = page.getByRole('dialog')
    const warning = 'Without the cancelled receipts, the cash box "صندوق فروشگاه" has -1,100 rials on'
    await dialog.getByText(warning).waitFor()
    await dialog.getByLabel('What to review').fill('Wrong goods')
    expect(await violationsOf(page)).toEqual([])
    await fill(dialog, {}, 'Move back to review')
    await dialog.waitFor({ state: 'detached' })
    await page.locator('#main').getByText(warning).waitFor()
    expect(await client().detail('3')).toMatchObject({ status: 'needs_review', error: 'Wrong goods' })
    expect(errors).toEqual([])
  })

  test('the panel warns about a payment with the reference of another receipt, and marks dates in the future', async () => {
    await client().create(order('1', { payment: { ...PAYMENT, reference: '777' } }))
    await client().create(order('2'))
    await client().put('fiscal-years?new=true', { from: '2031-03-21', to: '2032-03-19' })
    await client().create(order('3', { date: '2031-03-21', payment: { ...PAYMENT, date: '2031-03-22' } }))
    const { page, errors } = await open('#/orders/2?source=api')
    await page.getByRole('button', { name: 'Register payment' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reference').fill('۷۷۷')
    const warning = 'Receipt 3 has the reference of receipt 1, order "1"'
    await dialog.getByText(warning).waitFor()
    expect(await violationsOf(page)).toEqual([])
    await fill(dialog, {}, 'Register payment')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('main').getByText(warning).waitFor()
    await page.evaluate('location.hash = "#/orders/3?source=api"')
    await page.getByText(/^Receipt 2 is dated in the future, /).waitFor()
    for (const list of ['orders', 'documents']) {
      await page.evaluate(`location.hash = "#/${list}"`)
      const future = page.getByRole('row').filter({ hasText: 'In the future' })
      await future.getByText(list === 'orders' ? '21 Mar 2031' : '22 Mar 2031').waitFor()
      expect(await future.count()).toBe(1)
      expect(await violationsOf(page)).toEqual([])
    }
    const { page: persian } = await open('#/orders/2?source=api', { locale: 'fa-IR' })
    await persian.getByText('شماره پیگیری رسید دریافت ۳ با رسید دریافت ۱ سفارش').waitFor()
    await persian.evaluate('location.hash = "#/orders/3?source=api"')
    await persian.getByText('تاریخ رسید دریافت ۲ در آینده است').waitFor()
    expect(errors).toEqual([])
  })

  test('a part of an order is returned without clearing the other rows', async () => {
    await client().create(order('1', { items: [row('SKU-1', 3), row('SKU-2', 2)], shipping: 50 }))
    const { page, errors } = await open('#/orders/1?source=api')
    await page.getByRole('button', { name: 'Register return' }).click()
    const dialog = page.getByRole('dialog', { name: 'Register return: 1' })
    await dialog.getByText('Amount of the return: 5,555 rials').waitFor()
    await dialog.getByLabel('What to return').selectOption('Some of the goods')
    await dialog.getByText('Must be greater than zero in at least one row').waitFor()
    await dialog.getByLabel(/return of .*قهوه ترک/).fill('1')
    await dialog.getByText('Amount of the return: 1,100 rials').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await fill(dialog, {}, 'Register return')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Goods were returned, so the order cannot be corrected').waitFor()
    await page.getByRole('button', { name: 'Register return' }).click()
    await fill(dialog, { Reason: 'x' }, 'Register return')
    const goods = page.getByRole('region', { name: 'Sales return 2', exact: true })
    await goods.getByText('Sum4,0504054,455', { exact: true }).waitFor()
    await page.getByText('Goods were returned, so the order cannot be corrected').waitFor()
    await page.getByRole('button', { name: 'Reverse return' }).click()
    const reversal = page.getByRole('dialog', { name: 'Reverse return: 1' })
    await reversal.getByText('The goods leave the stock again').waitFor()
    const second = reversal.locator('option').filter({ hasText: /^2: 4,455 rials, .*x/ })
    await reversal.getByLabel('Sales return').selectOption(await second.getAttribute('value'))
    expect(await violationsOf(page)).toEqual([])
    await fill(reversal, { Reason: 'Goods did not arrive' }, 'Reverse return')
    await goods.getByText('Reason of the cancellationGoods did not arrive', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Documents' }).click()
    const cancelled = page.getByRole('row').filter({ hasText: 'Sales return 2' })
    await cancelled.getByText('Cancelled: Goods did not arrive').waitFor()
    expect(errors.filter(each => !/status of 400/.test(each))).toEqual([])
  })

  test('the result of a form is not computed while it is submitted', async () => {
    await client().create(order('1'))
    const { page, errors } = await open('#/orders/1?source=api')
    await page.getByRole('button', { name: 'Register return' }).click()
    const dialog = page.getByRole('dialog', { name: 'Register return: 1' })
    await dialog.getByText('Amount of the return').waitFor()
    await page.route(/\/return\?/, async route => {
      const response = await route.fetch()
      // Longer than the pause before the result is computed.
      await page.waitForTimeout(500)
      await route.fulfill({ response })
    })
    await fill(dialog, { Reason: 'x' }, 'Register return')
    await dialog.waitFor({ state: 'detached' })
    expect(errors).toEqual([])
  })

  test('an invoice of a removed fiscal year keeps its seller and buyer', async () => {
    const customer = { mobile: '09123456789', name: 'سارا محمدی' }
    await client().create(order('1', { customer, date: '2026-03-19' }))
    await client().put('seller', { name: 'فروشگاه نمونه' })
    const fiscalYears = await client().list('fiscal-years')
    const { page } = await open('#/orders/1?source=api')
    const parties = page.locator('.parties')
    const shows = (name: string) => parties.getByText(name).first().waitFor()
    const rename = async (name: string) => {
      for (const at of ['seller', 'customers/09123456789']) await client().put(at, { name })
    }
    await rename('مینا کریمی')
    await parties.getByText('مینا کریمی').nth(1).waitFor()
    await client().put('fiscal-years', { fiscalYears: [] })
    await rename('رضا رضایی')
    await page.reload()
    await shows('مینا کریمی')
    expect(await parties.textContent()).not.toContain('رضا رضایی')
    await client().put('fiscal-years', { fiscalYears })
    await shows('رضا رضایی')
    expect(await parties.textContent()).not.toContain('مینا کریمی')
  })

  test('the identity of a buyer is added to the customer and printed', async () => {
    await client().create(order('1', { customer: { mobile: '09123456789', name: 'Sara' } }))
    const { page, errors } = await open('#/customers', { locale: 'fa-IR' })
    await page.getByRole('cell', { name: '۰۹۱۲۳۴۵۶۷۸۹' }).first().waitFor()
    expect(await page.locator('table').textContent()).not.toContain('0912')
    await page.getByRole('button', { name: 'Sara' }).click()
    const identity = { 'شناسه ملی / کد ملی': '0012345679', نشانی: 'اصفهان', 'کد پستی': '8134567890' }
    await fill(page.getByRole('dialog'), identity, 'ذخیره')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.goto(`${client().url}/#/orders/1?source=api`)
    await page.emulateMedia({ media: 'print' })
    const buyer = page.locator('.parties > div').filter({ hasText: 'خریدار' })
    await buyer.getByText('کد ملی').waitFor()
    const text = (await buyer.textContent())?.replace(/[\u2068\u2069]/g, '')
    expect(text).toBe('خریدارSaraکد ملی: ۰۰۱۲۳۴۵۶۷۹اصفهانکد پستی: ۸۱۳۴۵۶۷۸۹۰موبایل: ۰۹۱۲۳۴۵۶۷۸۹')
    expect(errors).toEqual([])
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
      'New total: 3,300 rials. The 2,200 rials that were received do not change. 1,100 rials will be due.',
    )
    await review.getByText('A payment of 2,200 rials is held').waitFor()
    await review.getByText('1,100 rials will be due.').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.evaluate('location.hash = "#/orders"')
    await page.getByRole('button', { name: 'Retry all that are ready' }).click()
    await dialog.getByRole('row').filter({ hasText: '3,300' }).getByText('Received 2,200').waitFor()
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
      'New total: 3,300 rials. The 2,200 rials that were received do not change. 1,100 rials will be due.',
    )
    await review.getByText('A payment of 2,200 rials is held').waitFor()
    await page.getByText('Held payment: 2,200 rials, the amount when it came in').waitFor()
    expect(errors).toEqual([])
  })

  test('the last reason of a review does not repeat the current causes', async () => {
    await client().create(order('1', { items: [row('SKU-3', 3)] }))
    const { page } = await open('#/orders/1?source=api')
    const last = page.getByText('Last reason')
    await client().product('SKU-3', { stock: 2 })
    await page.getByText('"SKU-3" needs 3, available 2').waitFor()
    expect(await last.count()).toBe(0)
    await client().settings({ automaticFinalization: false })
    await page.getByText('"SKU-3" needs 3, available 2. Automatic finalization is off').waitFor()
    expect(await last.count()).toBe(0)
    await client().retry('1')
    await client().settings({ automaticFinalization: true })
    await page.getByText('Last reason: Automatic finalization is off', { exact: true }).waitFor()
  })

  test('a fiscal year is chosen with its days', async () => {
    await client().put('fiscal-years', {
      fiscalYears: [
        { from: '2025-03-21', to: '2026-03-20' },
        { from: '2027-01-01', to: '2027-12-31' },
      ],
    })
    await client().create(order('old', { date: '2025-03-21' }))
    await client().create(order('new', { date: '2027-01-01' }))
    for (const [locale, period, year] of [
      ['en-GB', 'Fiscal year', '2025–2026'],
      ['fa-IR', 'سال مالی', '۱۴۰۴'],
    ] as const) {
      const { page } = await open('#/orders', { locale })
      // Its tax after returns is that of its orders.
      const note = page.getByText(/^Returns count on the date of their order|به تاریخ سفارش آن حساب می‌شود/)
      expect(await note.getByRole('link').getAttribute('href')).toBe('#/documents?kind=return')
      await page.getByRole('link', { name: 'new', exact: true }).waitFor()
      await page.getByLabel(period).selectOption({ label: year })
      await page.getByRole('link', { name: 'new', exact: true }).waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'old', exact: true }).waitFor()
      expect(page.url()).toContain('from=2025-03-21&to=2026-03-20')
      await page.getByLabel(period).selectOption('/')
      await page.getByRole('link', { name: 'new', exact: true }).waitFor()
      expect(page.url()).not.toContain('from')
      await page.close()
    }
  })

  test('today is chosen with one click', async () => {
    const { page } = await open('#/orders?q=x')
    await page.getByRole('button', { name: 'Choose a day' }).first().click()
    await page.getByRole('button', { name: 'Today' }).click()
    const today = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short' }).format()
    await page.waitForURL(`**from=${today}`)
    expect(await page.getByLabel('First day').inputValue()).toBe(today)
  })
}
