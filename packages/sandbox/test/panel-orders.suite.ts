import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { fill, type OpenAt } from '@order-relay/test-support/browser.ts'
import { type Client, order, PAYMENT, row, SAFFRON, SHORT, startReceiver } from './world.ts'

export const orderTests = (openAt: OpenAt, client: () => Client) => {
  const open = (hash: string, options = {}) => openAt(`${client().url}/${hash}`, options)

  test('the history tells the payments of an order in review from the reasons for its review', async () => {
    await client().create(order('1', SHORT))
    for (const _ of ['sent', 'repeated']) await client().pay('1', PAYMENT)
    const { page } = await open('#/orders/1?source=api')
    const history = page.getByRole('region', { name: 'History' })
    await history.getByText('received again: it is already held').waitFor()
    for (const name of ['Held for review', 'Payment held', 'Payment reported again'])
      expect([name, await history.getByText(name, { exact: true }).count()]).toEqual([name, 1])
    expect(await page.getByText('A payment of 2,200 rials is held').count()).toBe(1)
    const { page: persian } = await open('#/orders/1?source=api', { locale: 'fa-IR' })
    await persian.getByText('اعلام دوباره دریافت وجه').waitFor()
    await persian.getByText('دوباره اعلام شد: از پیش معلق است').waitFor()
  })

  test('fixes missing stock and retries the order on its page, and every open page shows it as paid', async () => {
    const receiver = await startReceiver()
    await client().register(receiver.url)
    const list = await open('#/orders')
    await list.page.getByText('No orders yet').waitFor()

    await client().create(order('1001', SAFFRON))
    const listed = list.page.getByRole('row').filter({ hasText: '1001' })
    await listed.getByText('Needs review').waitFor()
    expect(await listed.getByText('نیازمند بررسی').getAttribute('lang')).toBe('fa')
    await list.page.getByRole('link', { name: 'Orders 1 need review' }).waitFor()

    const { page, errors } = await open('#/orders/1001?source=api')
    const review = page.getByRole('region', { name: 'Needs review' })
    await review.getByText('Insufficient stock: "SKU-3" needs 2.5, available 0').waitFor()
    await review.getByText('Until the cause above is fixed, a retry changes nothing. Then it').waitFor()
    await review.getByText(/A payment of [\d,]+ rials is held: card/).waitFor()
    await review.getByText('It is booked to حساب بانک ملت as card reader.').waitFor()
    const stock = review.getByLabel('Stock of SKU-3')
    expect(await stock.inputValue()).toBe('2.5')
    await stock.fill('۱۰')
    await review.getByRole('button', { name: 'Set stock and retry' }).click()

    const outcome = page.getByRole('region', { name: 'Outcome' })
    const paid = 'The order is now paid: invoice 1 is finalized, receipt 1 is registered.'
    await outcome.getByText(paid).waitFor()
    await page.locator('#outcome:focus').waitFor()
    await page.getByRole('heading', { name: 'Receipt 1' }).waitFor()
    const receipt = page.getByRole('region', { name: 'Receipt 1' })
    await receipt.getByText('MethodCard', { exact: true }).waitFor()
    await receipt.getByText('Booked asCard reader', { exact: true }).waitFor()
    await outcome.getByText('Stock of SKU-3 set from 0 to 10 by the accountant').waitFor()
    await page.getByText('Retried by the accountant').waitFor()
    await page.getByRole('region', { name: 'Webhook deliveries' }).getByText('Delivered').waitFor()

    await listed.getByText('Paid').waitFor()
    expect(await list.page.locator('#announcer').textContent()).toBe('Order 1001: Paid')
    expect(await client().stock('SKU-3')).toBe(7.5)
    expect(receiver.received).toHaveLength(1)
    expect([...errors, ...list.errors]).toEqual([])
    await receiver.close()
  })

  test('typed stock stays with its product when another shortage is resolved elsewhere', async () => {
    await client().create(order('1001', { items: [row('SKU-3', 2), row('SKU-1', 500)] }))
    const { page } = await open('#/orders/1001?source=api')
    const review = page.getByRole('region', { name: 'Needs review' })
    await review.getByLabel('Stock of SKU-3').fill('7')
    await review.getByLabel('Stock of SKU-1').fill('-1')
    await review.getByRole('button', { name: 'Set stock and retry' }).click()
    await review.getByText('Must not be negative').waitFor()
    await review.getByLabel('Stock of SKU-1').fill('900')
    await client().product('SKU-3', { stock: 50 })
    await review.getByLabel('Stock of SKU-3').waitFor({ state: 'detached' })
    await review.getByRole('button', { name: 'Set stock and retry' }).click()
    await page.getByRole('region', { name: 'Outcome' }).waitFor()
    expect(await client().stock('SKU-1')).toBe(400)
    expect(await client().stock('SKU-3')).toBe(48)
  })

  test("fixes settings on the order's page, and reports a retry without effect", async () => {
    await client().settings({ automaticFinalization: false, orderPaymentReceivingAccount: null })
    await client().create(order('1002', { payment: { method: 'cash' } }))
    const { page, errors } = await open('#/orders/1002?source=api')

    await page.getByLabel('Order payment receiving account').selectOption('cash-1')
    await page.getByLabel('Turn on automatic finalization').uncheck()
    await page.getByRole('button', { name: 'Change settings and retry' }).click()
    await page.getByText('Retried, and it still needs review').waitFor()
    expect((await client().read('1002')).body.status).toBe('needs_review')

    await page.getByLabel('Turn on automatic finalization').check()
    await page.getByRole('button', { name: 'Change settings and retry' }).click()
    await page.getByText('The order is now paid').waitFor()
    const { body } = await client().panel('settings')
    expect(body).toMatchObject({ automaticFinalization: true, orderPaymentReceivingAccount: 'cash-1' })
    expect(errors).toEqual([])
  })

  test('offers only the retry when the cause was fixed elsewhere', async () => {
    await client().create(order('1004', SAFFRON))
    const list = await open('#/orders')
    await list.page.getByText('"SKU-3" needs 2.5, available 0').waitFor()
    const { page } = await open('#/orders/1004?source=api')
    await page.getByLabel('Stock of SKU-3').waitFor()

    await client().product('SKU-3', { stock: 3 })
    await list.page.getByText('Ready to retry').waitFor()
    await page.getByText('Ready to retry.').waitFor()
    await page.getByText('A retry finalizes invoice 1 and').waitFor()
    await page.getByRole('button', { name: 'Retry', exact: true }).click()

    await page.getByText('The order is now paid').waitFor()
  })

  test('corrects, pays, reverses, returns and reviews an order on its page', async () => {
    await client().create(order('1005', { items: [{ ...row('SKU-1', 2), name: 'Tea' }] }))
    const { page, errors } = await open('#/orders/1005?source=api')
    const act = async (action: string, effect: string, fields: Record<string, string> = {}) => {
      await page.getByRole('group', { name: 'Actions' }).getByRole('button', { name: action }).click()
      const dialog = page.getByRole('dialog', { name: `${action}: 1005` })
      await dialog.getByText(effect).waitFor()
      expect(await violationsOf(page)).toEqual([])
      await fill(dialog, fields, action)
      await dialog.waitFor({ state: 'detached' })
    }
    await client().product('SKU-1', { stock: 1e17 })
    await page.getByRole('button', { name: 'Correct order' }).click()
    const dialog = page.getByRole('dialog', { name: 'Correct order: 1005' })
    const line = (number: number) => dialog.getByRole('group', { name: `Row ${number}`, exact: true })
    await dialog.getByText('New total: 2,200 rials').waitFor()
    await dialog.getByRole('button', { name: 'Add row' }).click()
    const suggested = line(2).locator('datalist option', { hasText: 'SKU-2 · ' })
    expect(await suggested.getAttribute('value')).toBe('SKU-2')
    const choose = async (sku: string) => {
      await line(2).getByLabel('Product').fill(sku)
      await line(2).getByLabel('Product').blur()
    }
    await choose('SKU')
    await line(2)
      .getByText(/^\d products match: /)
      .waitFor()
    await choose('NONE')
    await line(2).getByText('No product has this code').waitFor()
    await choose('SKU-2')
    expect(await line(2).getByLabel('Unit price').inputValue()).toBe('1,250,000')
    await dialog.getByText('New total: 1,377,200 rials').waitFor()
    await fill(dialog, { 'Order discount': '9999999' }, 'Correct order')
    await dialog.getByText('Must not exceed the items, 1,252,000', { exact: true }).waitFor()
    await fill(line(2), { Discount: '9999999' }, 'Remove row 2')
    await fill(dialog, { 'Order discount': '500', Quantity: '90071992547409931' }, 'Add row')
    expect(await line(1).getByLabel('Quantity').inputValue()).toBe('90,071,992,547,409,931')
    await choose('SKU-3')
    await fill(dialog, { 'Mobile number': '09123456789', 'Name of a new customer': 'Ali' }, 'Correct order')
    await dialog.getByText('"SKU-3" needs 1, available 0').first().waitFor()
    await line(2).getByRole('button', { name: 'Remove row 2' }).click()
    await dialog.getByText('New total: 99,079,191,802,150,923,550 rials').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Correct order' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('BuyerAliMobile: 09123456789', { exact: true }).waitFor()
    expect((await client().read('1005')).body.total).toBe('99079191802150923550')

    const due = (amount: string) => page.getByText(new RegExp(`^Due${amount}$`)).waitFor()
    await act('Register payment', '99,079,191,802,150,923,550 rials are due', {
      'Amount in rials': '550',
    })
    await page.getByRole('heading', { name: 'Receipt 1' }).waitFor()
    await due('99,079,191,802,150,923,000')
    await act('Register payment', '99,079,191,802,150,923,000 rials are due')
    await page.getByRole('heading', { name: 'Receipt 2' }).waitFor()
    await page.getByRole('button', { name: 'Reverse payment' }).click()
    await fill(page.getByRole('dialog'), {}, 'Reverse payment')
    await page.getByRole('alert').filter({ hasText: 'Fill in this field' }).waitFor()
    const receipts = page.getByLabel('Receipt', { exact: true })
    const details =
      /^2: 99,079,191,802,150,923,000 rials, \u2068\d+ \w+ \d+, \u2068حساب بانک ملت\u2069, Bank transfer\u2069$/
    const second = receipts.locator('option').filter({ hasText: details })
    await receipts.selectOption(await second.getAttribute('value'))
    await fill(page.getByRole('dialog'), {}, 'Reverse payment')
    await due('99,079,191,802,150,923,000')
    await act('Register return', 'The goods go back to stock', { 'Return of Tea': '1', Reason: 'broken' })
    await page.getByText('Order 1005: 1 × Tea returned, 1,100 rials').waitFor()
    await page.getByRole('heading', { name: 'Sales return 1' }).waitFor()
    await page.getByText('the order cannot be corrected: move it back to review first').waitFor()
    await act('Register return', 'Amount of the return: 99,079,191,802,150,922,450 rials', {
      Reason: 'broken',
    })
    await page.getByRole('heading', { name: 'Sales return 2' }).waitFor()
    await page.getByText('Credit of the buyer').waitFor()
    await act(
      'Move back to review',
      'Sales returns 1, 2 are cancelled. Receipt 1 is cancelled and its payment held.',
      { 'What to review': 'Wrong goods' },
    )
    await page.getByRole('region', { name: 'Needs review' }).getByText('Wrong goods').first().waitFor()
    // The browser reports what the service refused of the correction.
    expect(errors.filter(each => !/status of 4(00|09)/.test(each))).toEqual([])
  })

  test('a return and a reversal apply only to the rows and the receipt that the dialog showed', async () => {
    await client().create(order('1009', { items: [row('SKU-1', 2), row('SKU-2', 1)] }))
    await client().act('1009', 'pay', { method: 'cash', amount: 1000 })
    const { page } = await open('#/orders/1009?source=api')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Register return' }).click()
    await dialog.getByLabel('What to return').selectOption('some')
    await client().act('1009', 'correct', { items: [row('SKU-2', 4)] })
    await dialog.getByLabel('Return of').first().fill('1')
    await dialog.getByRole('button', { name: 'Register return' }).click()
    await dialog.getByText('it has changed meanwhile; open it again').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard changes' }).click()

    await page.getByRole('button', { name: 'Reverse payment' }).click()
    await dialog.getByText('Receipt 1 is cancelled.').waitFor()
    await client().act('1009', 'pay', { method: 'cash', amount: 500 })
    await fill(dialog, {}, 'Reverse payment')
    await dialog.waitFor({ state: 'detached' })
    expect((await client().detail('1009')).receipts).toMatchObject([{ number: 2 }])
  })

  test('a payment names the account of its receipt', async () => {
    await client().create(order('1008'))
    for (const [account, hint] of [
      ['bank-1', /^Booked to .+ as a card-reader receipt if paid by card, otherwise as a transfer/],
      ['cash-1', /^Booked to .+ as a cash receipt\.$/],
      [null, 'No receiving account is selected in the settings.'],
    ] as const) {
      await client().settings({ orderPaymentReceivingAccount: account })
      const { page } = await open('#/orders/1008?source=api')
      await page.getByRole('button', { name: 'Register payment' }).click()
      await page.getByRole('dialog').getByText(hint).waitFor()
      await page.close()
    }
  })

  test('shows the exact amounts of an invoice, even beyond 2^53', async () => {
    const items = [{ sku: 'SKU-1', quantity: 2, unit_price: 'huge', discount: 1 }, row('SKU-2', 0.5)]
    const big = order('big', { items, discount: 1000, shipping: 250 })
    await client().create(JSON.stringify(big).replace('"huge"', '9007199254740993'))
    const { rows, totals } = await client().detail('big')
    const { page } = await open('#/orders/big?source=api')
    const grouped = (value: unknown) => BigInt(String(value)).toLocaleString('en-US')

    const table = page.getByRole('table', { name: 'Rows of invoice 1, in rials' })
    await table.waitFor()
    const cells = await table.getByRole('row').nth(1).getByRole('cell').allTextContents()
    const [first] = rows ?? []
    expect(String(first?.amount)).toBe('18014398509481985')
    expect(cells).toEqual([
      ...['2', 'عدد', '9,007,199,254,740,993', '18,014,398,509,481,986'],
      ...[`−${grouped(BigInt(String(first?.orderDiscount)) + 1n)}`, grouped(first?.net), grouped(first?.tax)],
      grouped(BigInt(String(first?.net)) + BigInt(String(first?.tax))),
    ])
    await page.getByText(`${grouped(totals?.total)} rials`).waitFor()
  })

  test('the totals of an invoice add up from the total before discounts, in one calendar in Persian', async () => {
    const items = [{ ...row('SKU-1', 2), discount: 100.4 }, row('SKU-2', 1)]
    await client().product('SKU-2', { unit: 'کیلوگرم' })
    await client().create(order('sums', { items, discount: 300, shipping: 50, date: '2026-04-23' }))
    // The invoice keeps its units.
    await client().product('SKU-2', { unit: 'بسته' })
    await client().settings({ pricesIncludeTax: true })
    await client().create(order('with-tax', { items, discount: 300, shipping: 50 }))
    const { page } = await open('#/orders/sums?source=api')
    await page.getByText('23 Apr 2026 (۳ اردیبهشت ۱۴۰۵)').first().waitFor()
    const totals = () => page.locator('.invoice .totals > div').allTextContents()
    const table = async () => [
      await page.locator('.invoice-rows thead th').allTextContents(),
      ...(await Promise.all(
        (
          await page.locator('.invoice-rows :is(tbody, tfoot) tr').all()
        ).map(each => each.locator('td').allTextContents()),
      )),
    ]
    expect(await table()).toEqual([
      [
        'Item',
        'Quantity',
        'Unit',
        'Unit price',
        'Gross amount',
        'Discount',
        'After discount',
        'Tax',
        'Row total',
      ],
      ['2', 'عدد', '1,000', '2,000', '−297', '1,703', '170', '1,873'],
      ['1', 'کیلوگرم', '1,000', '1,000', '−103', '897', '90', '987'],
      ['1', '–', '50', '50', '–', '50', '5', '55'],
      ['', '', '', '3,050', '−400', '2,650', '265', '2,915'],
    ])
    expect(await totals()).toEqual([
      ...['Total before discounts3,050', 'Row discounts−100', 'Order discount−300'],
      ...['Net2,650', 'Tax 10 %265', 'Total2,915 rials'],
    ])
    expect(await page.locator('.invoice-rows tbody th').allTextContents()).toEqual([
      expect.stringMatching(/^1\. /),
      expect.stringMatching(/^2\. /),
      expect.stringMatching(/^3\. /),
    ])
    await page.evaluate('location.hash = "#/orders/with-tax?source=api"')
    await page.getByText('Total after discounts, with tax').waitFor()
    expect((await table()).slice(-1)).toEqual([
      ['', '', '', '3,050', '−400', '2,650', '2,408', '242', '2,650'],
    ])
    expect(await totals()).toEqual([
      ...['Total before discounts3,050', 'Row discounts−100', 'Order discount−300'],
      ...[
        'Total after discounts, with tax2,650',
        'Net2,408',
        'Tax 10 %, in the prices242',
        'Total2,650 rials',
      ],
    ])
    const persian = await openAt(`${client().url}/#/orders/sums?source=api`, { locale: 'fa-IR' })
    await persian.page.getByText('۳ اردیبهشت ۱۴۰۵', { exact: true }).first().waitFor()
    expect(await persian.page.locator('.invoice').textContent()).not.toContain('۲۰۲۶')
  })
}
