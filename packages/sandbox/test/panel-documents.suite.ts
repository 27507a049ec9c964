import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import type { OpenAt } from '@order-relay/test-support/browser.ts'
import type { Locator } from 'playwright-core'
import { type Client, eventually, order, PAYMENT, row, upTo } from './world.ts'

/** Receipts, returns and repayments on screen and on paper. */
export const documentTests = (openAt: OpenAt, client: () => Client) => {
  const open = (hash: string, options = {}) => openAt(`${client().url}/${hash}`, options)

  test('a return lists what was returned with shipping, tax and sums, and a cancelled document is opened from the list', async () => {
    const { create, act } = client()
    await create(order('1', { items: [row('SKU-1', 4)], shipping: 50, payment: PAYMENT }))
    await act('1', 'return', { rows: [1, 2].map(each => ({ row: each, quantity: 1 })), reason: 'شکسته' })
    await act('1', 'reverse-return', { reason: 'اشتباه' })
    const { page, errors } = await open('#/documents')
    const list = page.getByRole('table', { name: 'Documents' })
    await list.getByText('Cancelled', { exact: true }).waitFor()
    await list.getByRole('link', { name: 'Sales return 1' }).click()
    const goods = page.getByRole('region', { name: 'Sales return 1', exact: true })
    await goods.getByText('Reason of the cancellationاشتباه', { exact: true }).waitFor()
    expect(await goods.getByRole('row').allTextContents()).toEqual([
      'ItemQuantityUnitUnit priceNetTaxRow total',
      '1. چای سیاه ۵۰۰ گرمیSKU-11عدد1,0001,0001001,100',
      '2. هزینه ارسال1–5050555',
      'Sum1,0501051,155',
    ])
    expect(
      await page.evaluate('document.getElementById("return-1").getBoundingClientRect().top'),
    ).toBeLessThan(400)
    expect(await violationsOf(page)).toEqual([])
    await page.evaluate('window.print = () => {}')
    await goods.getByRole('button', { name: 'Print Sales return 1' }).click()
    await page.emulateMedia({ media: 'print' })
    for (const text of ['Cancelled', 'شکسته', '1,155']) await goods.getByText(text, { exact: true }).waitFor()
    expect(await page.getByRole('region', { name: 'Receipt 1', exact: true }).isVisible()).toBe(false)
    expect(errors).toEqual([])
  })

  test('sums of large amounts are shown in full on screen and on paper', async () => {
    await client().create(order('1', { items: [row('SKU-1', 4, 15_000_000_000)], payment: PAYMENT }))
    const viewport = { width: 1280, height: 800 }
    const { page } = await open('#/documents', { locale: 'fa-IR', viewport })
    const sums = page.locator('.sides table')
    await sums.nth(1).waitFor({ state: 'attached' })
    await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true')
    const boxes = async () => {
      const [first, second] = await Promise.all([0, 1].map(each => sums.nth(each).boundingBox()))
      if (!(first && second)) throw new Error('a table of sums is hidden')
      return [first, second] as const
    }
    const [first, second] = await boxes()
    expect(second.x + second.width <= first.x || first.y + first.height <= second.y).toBe(true)
    // The width of A4 without its margins.
    await page.setViewportSize({ width: 718, height: 800 })
    await page.emulateMedia({ media: 'print' })
    for (const { x, width } of await boxes()) expect([x >= 0, x + width <= 718]).toEqual([true, true])
  })

  test('the printed list of documents has title, seller, days and filter, and the documents of all pages', async () => {
    const { create, put, detail } = client()
    await put('seller', { name: 'فروشگاه نمونه' })
    const paid = { items: [row('SKU-1', 1)], payment: PAYMENT }
    for (const each of upTo(52)) await create(order(String(each), paid))
    await create(order('earlier', { ...paid, date: '2026-04-22' }))
    const { date } = await detail('1')
    const day = new Intl.DateTimeFormat('fa-IR', { dateStyle: 'long' }).format(new Date(String(date)))
    const { page, errors } = await open(`#/documents?account=bank-1&from=${date}&to=${date}`, {
      locale: 'fa-IR',
    })
    const rows = page.locator('tbody').last().getByRole('row')
    const list = page.locator('main')
    const shown = async () => (await list.innerText()).replace(/[\u2066-\u2069\u200e\u200f]/g, '')
    await rows.nth(49).waitFor()
    await page.emulateMedia({ media: 'print' })
    expect(await shown()).toContain('این برگه فقط ۵۰ سند از این فهرست را دارد')
    await page.emulateMedia({ media: 'screen' })
    await page.evaluate('window.print = () => {}')
    await page.getByRole('button', { name: 'چاپ همه اسناد این فهرست' }).click()
    await rows.nth(51).waitFor()
    await page.emulateMedia({ media: 'print' })
    const paper = await shown()
    for (const text of ['فهرست اسناد', 'فروشگاه نمونه', day, 'حساب بانک ملت', 'تاریخ سند'])
      expect(paper).toContain(text)
    expect(paper).not.toContain('این برگه فقط')
    expect(paper).toContain('با تاریخ روزهای دیگر')
    expect(paper).not.toContain('نمایش بر پایه تاریخ ثبت')
    await page.evaluate('dispatchEvent(new Event("afterprint"))')
    await rows.nth(50).waitFor({ state: 'detached' })
    expect(errors).toEqual([])
  })

  test('an invoice of three products with a return fits on one page', async () => {
    const { create, act, put } = client()
    const identity = { economicCode: '411111111111', nationalId: '10380284790', postalCode: '1234567890' }
    await put('seller', { name: 'فروشگاه نمونه', ...identity, address: 'تهران، خیابان ولیعصر', phone: '021' })
    const items = [row('SKU-1', 4), row('SKU-2', 2), { ...row('SKU-1', 1), discount: 100 }]
    const customer = { mobile: '09123456789', name: 'سارا رضایی' }
    await create(order('1', { items, customer, shipping: 500, discount: 50, payment: PAYMENT }))
    await act('1', 'return', { rows: [{ row: 1, quantity: 1 }] })
    for (const locale of ['fa-IR', 'en-US']) {
      const { page } = await open('#/orders/1?source=api', { locale })
      await page.locator('#return-1').waitFor()
      const edge = '10mm'
      const margin = { top: edge, right: edge, bottom: edge, left: edge }
      const pdf = (await page.pdf({ format: 'A4', margin })).toString('latin1')
      expect([locale, pdf.match(/\/Type \/Page\b/g)?.length]).toEqual([locale, 1])
    }
  })

  test('an open dialog follows a payment by someone else, and keeps its fields in line below an error', async () => {
    const { create, act } = client()
    await create(order('1', { items: [row('SKU-1', 4), row('SKU-2', 2), row('SKU-1', 1)] }))
    const { page } = await open('#/orders/1?source=api')
    await page.getByRole('button', { name: 'Register payment' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('7,700 rials are due').waitFor()
    await act('1', 'pay', { ...PAYMENT, amount: 700 })
    await dialog.getByText('7,000 rials are due').waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Register return' }).click()
    await dialog.getByLabel('What to return').selectOption('Some of the goods')
    const quantities = dialog.getByLabel(/: return of/)
    await quantities.first().fill('9')
    const tops = async () => {
      const boxes = await Promise.all([0, 1].map(each => quantities.nth(each).boundingBox()))
      return new Set(boxes.map(box => box?.y)).size
    }
    await dialog.getByRole('button', { name: 'Register return' }).click()
    await dialog.getByText('Must not exceed what is not returned, 4').waitFor()
    expect(await tops()).toBe(1)
    expect(await violationsOf(page)).toEqual([])
  })

  test('the question before changes are discarded is visible below a form that is longer than the page', async () => {
    await client().create(order('1'))
    const viewport = { width: 1360, height: 860 }
    const { page } = await open('#/orders/1?source=api', { viewport, locale: 'fa-IR' })
    await page.getByRole('button', { name: 'اصلاح سفارش' }).click()
    await page.getByRole('dialog').getByLabel('مقدار').fill('2')
    await page.getByRole('status').getByText('جمع کل').waitFor()
    await page.keyboard.press('Escape')
    const bottomOf = async (place: Locator) => {
      const { y = 0, height = 0 } = (await place.boundingBox()) ?? {}
      return y + height
    }
    const question = page.getByRole('alertdialog')
    await question.waitFor()
    expect(await bottomOf(question)).toBeLessThan(await bottomOf(page.getByRole('dialog')))
  })

  test('lists the documents of a day by kind, account and date, with sums and an export', async () => {
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
    // A line through the amount would hide the Persian zero, which is a dot.
    const line = 'getComputedStyle(document.querySelector("tbody s")).textDecorationLine'
    expect(await page.evaluate(line)).toBe('none')
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
    const today = new Date().toISOString().slice(0, 10)
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

  test('today is chosen with one click', async () => {
    const { page } = await open('#/orders?q=x')
    await page.getByRole('button', { name: 'Choose a day' }).first().click()
    await page.getByRole('button', { name: 'Today' }).click()
    const today = new Date().toISOString().slice(0, 10)
    await page.waitForURL(`**from=${today}`)
    expect(await page.getByLabel('First day').inputValue()).toBe(today)
  })
}
