import { beforeEach, expect, test } from '@jest/globals'
import { eachWithSandbox, expectFit, order, PAYMENT, row } from './world.ts'

/** Half an hour after midnight in Tehran. */
const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-21T21:00:00Z') })
const TODAY = '2026-11-22'

const list = async (query = '') => {
  const { body, status } = await sandbox().panel(`documents?${query}`)
  expect(status).toBe(200)
  return body
}

const named = async (query = '') =>
  (await list(query)).documents?.map(({ kind, number }) => `${kind} ${number}`)

const search = (q: string) => named(`q=${encodeURIComponent(q)}`)

/** Receipt 1 is cancelled, receipt 2 in the bank, receipt 3 and repayment 1 in the cash box. */
beforeEach(async () => {
  const { create, act } = sandbox()
  const customer = { mobile: '09123456789', name: 'سارا' }
  await create(order('1', { customer, payment: PAYMENT, date: '2026-04-22' }))
  await act('1', 'reverse-payment', { reason: 'تکراری' })
  await act('1', 'pay', { method: 'card', reference: 'bank-77', date: '2026-04-23' })
  await create(order('2', { items: [row('SKU-2', 4)], date: '2026-04-24' }))
  await act('2', 'pay', { method: 'cash', account: 'cash-1', date: '2026-04-23', reference: '۰۱۲' })
  await act('2', 'return', { rows: [{ row: 1, quantity: 1 }], reason: 'شکسته', date: '2026-04-24' })
  await act('2', 'repay', { method: 'cash', account: 'cash-1', amount: 600, date: '2026-04-24' })
})

test('documents, including cancelled ones, are listed newest first and filtered by kind, account and day', async () => {
  expect(await named()).toEqual(['return 1', 'repayment 1', 'receipt 3', 'receipt 2', 'receipt 1'])
  expect(await named('kind=receipt')).toEqual(['receipt 3', 'receipt 2', 'receipt 1'])
  expect(await named('account=cash-1')).toEqual(['repayment 1', 'receipt 3'])
  expect(await named('from=2026-04-23&to=2026-04-23')).toEqual(['receipt 3', 'receipt 2'])
  const { documents } = await list('from=2026-04-22&to=2026-04-22')
  expect(documents).toMatchObject([
    { number: 1, external_id: '1', customer: 'سارا', amount: '2200', account: { code: 'bank-1' } },
  ])
  expect(documents?.[0]?.cancelled_at).toEqual(expect.any(String))
  const { status, body } = await sandbox().panel('documents?before=x')
  expect([status, body.error?.message]).toEqual([400, expect.stringContaining('of the previous page')])
})

test('documents that were registered or cancelled on other days than their own are found by these days', async () => {
  await sandbox().act('2', 'return', { rows: [{ row: 1, quantity: 1 }] })
  const day = `from=${TODAY}&to=${TODAY}`
  expect(await named(day)).toEqual(['return 2'])
  const body = await list(day)
  expect(body.otherwise_dated).toBe(5)
  const still = { received: '0', repaid: '0', balance: '0' }
  expect(body.sums).toMatchObject({
    receipts: { count: 0 },
    repayments: { count: 0 },
    accounts: [
      { account: { code: 'bank-1' }, opening: '2200', ...still, closing: '2200' },
      { account: { code: 'cash-1' }, opening: '3800', ...still, closing: '3800' },
    ],
  })
  const all = ['return 2', 'return 1', 'repayment 1', 'receipt 3', 'receipt 2', 'receipt 1']
  expect(await named(`${day}&days=registration`)).toEqual(all)
  expect((await list(`${day}&days=registration&kind=receipt`)).sums?.receipts).toEqual({
    count: 2,
    amount: '6600',
  })
  expect(await list('from=2026-04-22&to=2026-04-22&days=registration')).toMatchObject({
    documents: [],
    otherwise_dated: 0,
  })
  expect((await list()).otherwise_dated).toBe(0)
  expect((await list(`from=${TODAY}&kind=receipt`)).otherwise_dated).toBe(3)
  for (const to of ['9999-12-31', TODAY])
    expect([to, await named(`to=${to}&days=registration`)]).toEqual([to, all])
  expect(await named('to=2026-11-21&days=registration')).toEqual([])
})

test('counts and finds documents that were registered or cancelled after the days on which they are dated', async () => {
  const day = 'from=2026-04-24&to=2026-04-24'
  expect(await list(day)).toMatchObject({ changed_later: 2, otherwise_dated: 0 })
  await sandbox().create(order('3', { date: '2026-04-24' }))
  // Like every payment of a store without a date, it has the date of the order.
  await sandbox().pay('3')
  expect((await list(day)).changed_later).toBe(3)
  expect((await list(`${day}&kind=return`)).changed_later).toBe(1)
  const late = await list(`${day}&days=later`)
  expect(late.documents?.map(({ kind, number }) => `${kind} ${number}`)).toEqual([
    ...['return 1', 'repayment 1', 'receipt 4'],
  ])
  expect(late).toMatchObject({ changed_later: 3, sums: { receipts: { count: 1, amount: '2200' } } })
  expect(late.sums?.accounts?.map(({ opening }) => opening)).toEqual([null, null])
  expect(await named(`from=2026-04-24&to=${TODAY}&days=later`)).toEqual([])
  expect(await named('from=2026-04-24&days=later')).toEqual([])
  for (const days of ['', 'from=2026-04-24', `to=${TODAY}`]) expect((await list(days)).changed_later).toBe(0)
  const { url } = sandbox()
  const file = await fetch(`${url}/panel/documents.csv?${day}&days=later`)
  expect(file.headers.get('content-disposition')).toContain('late-documents-from-2026-04-24')
  expect((await file.text()).trim().split('\n')).toHaveLength(4)
})

test('pages contain every document once', async () => {
  const [found, cursors]: [unknown[], string[]] = [[], ['']]
  for (const before of cursors) {
    const { documents = [], next } = await list(`limit=2${before && `&before=${before}`}`)
    found.push(...documents.map(({ kind, number }) => `${kind} ${number}`))
    if (next !== null) cursors.push(String(next))
  }
  expect(found).toEqual(['return 1', 'repayment 1', 'receipt 3', 'receipt 2', 'receipt 1'])
  expect(cursors).toHaveLength(3)
})

test('sums are exact, also for each account, and exclude cancelled documents', async () => {
  await sandbox().create(order('3', { items: [row('SKU-1', 1, 1e30)], payment: PAYMENT }))
  const body = await list('limit=1')
  expectFit('DocumentList', JSON.parse(JSON.stringify(body)))
  expect(body.sums).toEqual({
    receipts: { count: 3, amount: '1100000000000000000000000006600' },
    repayments: { count: 1, amount: '600' },
    returns: { count: 1, amount: '1100', net: '1000', tax: '100' },
    accounts: [
      {
        account: { code: 'bank-1', name: 'حساب بانک ملت' },
        received: '1100000000000000000000000002200',
        repaid: '0',
        balance: '1100000000000000000000000002200',
        opening: '0',
        closing: '1100000000000000000000000002200',
      },
      {
        account: { code: 'cash-1', name: 'صندوق فروشگاه' },
        opening: '0',
        received: '4400',
        repaid: '600',
        balance: '3800',
        closing: '3800',
      },
    ],
    types: [
      { type: 'cash', count: 1, amount: '4400' },
      { type: 'pos', count: 2, amount: '1100000000000000000000000002200' },
    ],
  })
  expect((await list('kind=receipt&to=2026-04-22')).sums?.receipts).toEqual({ count: 0, amount: '0' })
})

test('receipts are filtered by type, and those without an account are found', async () => {
  const { create, settings } = sandbox()
  expect(await named('type=cash')).toEqual(['receipt 3'])
  expect(await named('type=pos')).toEqual(['receipt 2', 'receipt 1'])
  expect((await list('type=pos')).sums).toMatchObject({
    receipts: { amount: '2200' },
    repayments: { count: 0 },
    returns: { count: 0 },
    types: [{ type: 'pos', count: 1, amount: '2200' }],
  })
  expect(await named('account=none')).toEqual([])
  await create(order('3'))
  await settings({ orderPaymentReceivingAccount: null })
  await sandbox().pay('3', { method: 'transfer' })
  await sandbox().act('3', 'return', {})
  expect(await named('account=none')).toEqual(['receipt 4'])
  expect((await list('account=none')).sums).toMatchObject({
    receipts: { count: 1 },
    returns: { count: 0 },
    types: [{ type: 'transfer' }],
  })
  expect((await sandbox().panel('documents?type=coins')).status).toBe(400)
})

test('a return keeps the rows as they were sold, even if the order is corrected after its cancellation', async () => {
  const { create, act, detail } = sandbox()
  await create(order('3', { items: [row('SKU-1', 1, 1000.5)], shipping: 500 }))
  await act('3', 'return', { rows: [{ row: 2, quantity: 1 }] })
  const before = await act('3', 'return', { reason: 'شکسته' })
  const item = { row: 1, sku: 'SKU-1', name: 'چای سیاه ۵۰۰ گرمی', unit: 'عدد', unit_price: '1000.5' }
  const shipping = { row: 2, sku: null, name: 'هزینه ارسال', unit: null, unit_price: '500' }
  expect(before.body.returns).toMatchObject([
    { amount: '550', rows: [{ ...shipping, quantity: 1, net: '500', tax: '50' }] },
    { amount: '1101', rows: [{ ...item, quantity: 1, net: '1001', tax: '100' }] },
  ])
  expect(before.body.cancelled).toEqual({ receipts: [], returns: [], repayments: [] })
  await act('3', 'reverse-return', { reason: 'اشتباه' })
  await act('3', 'correct', { items: [row('SKU-2', 1), row('SKU-1', 1)] })
  const { returns, cancelled, returned } = await detail('3')
  expect([returns, returned]).toEqual([[], '0'])
  expect(cancelled?.returns).toMatchObject([
    { number: 2, cancel_reason: 'اشتباه', rows: [shipping] },
    { number: 3, reason: 'شکسته', cancel_reason: 'اشتباه', rows: [item] },
  ])
})

test('cancelled receipts and repayments stay in their order, apart from the valid ones', async () => {
  const { act, detail } = sandbox()
  await act('2', 'reverse-repayment', { reason: 'پرداخت نشد' })
  expect(await detail('2')).toMatchObject({
    repaid: '0',
    repayments: [],
    cancelled: {
      receipts: [],
      repayments: [{ number: 1, amount: '600', account: { code: 'cash-1' }, cancel_reason: 'پرداخت نشد' }],
    },
  })
  expect(await detail('1')).toMatchObject({
    receipts: [{ number: 2 }],
    cancelled: { receipts: [{ number: 1, cancel_reason: 'تکراری', cancelled_at: expect.any(String) }] },
  })
})

test('a search finds documents by their own amount, reference, note and reason, and sums only these', async () => {
  const { act } = sandbox()
  const out = {
    method: 'cash',
    account: 'cash-1',
    date: '2026-04-24',
    reference: 'OUT-1',
    note: 'تتمه مشتری',
  }
  await act('2', 'repay', { ...out, amount: 470 })
  for (const [q, found] of [
    ['OUT-1', ['repayment 2']],
    ['out-1 SKU-2', ['repayment 2']],
    ['OUT-1 SKU-1', []],
    ['bank-77', ['receipt 2']],
    ['r-1', ['receipt 1']],
    ['r-', ['receipt 1']],
    ['تتمّه', ['repayment 2']],
    ['شكسته', ['return 1']],
    ['تکراری', ['receipt 1']],
    ['۲٬۲۰۰', ['receipt 2', 'receipt 1']],
    ['1,100', ['return 1']],
    ['470', ['repayment 2']],
    ['برگشت ۱', ['return 1']],
    ['#1', ['receipt 2', 'receipt 1']],
  ] as const)
    expect([q, await search(q)]).toEqual([q, found])
  const { sums } = await list('q=OUT-1')
  expect(sums).toMatchObject({
    receipts: { count: 0, amount: '0' },
    repayments: { count: 1, amount: '470' },
    returns: { count: 0, amount: '0' },
  })
})

test('a search finds documents by number, reference and order, and orders by their documents', async () => {
  for (const q of [
    'رسید ۲',
    'رسید دريافت 2',
    'receipt 2',
    'Receipt #2',
    'bank-77 رسید ۲',
    'رسید دریافت شماره ۲',
    'Receipt № 2',
  ])
    expect([q, await search(q)]).toEqual([q, ['receipt 2']])
  for (const [q, found] of [
    ['receipt 1', ['receipt 1']],
    ['رسید ۹', []],
    ['برگشت از فروش ۱', ['return 1']],
    ['sales return 1', ['return 1']],
    ['رسید پرداخت ۱', ['repayment 1']],
    ['عودت وجه 1', ['repayment 1']],
    ['فاکتور ۱', ['receipt 2', 'receipt 1']],
    ['فاکتور فروش شماره ۱', ['receipt 2', 'receipt 1']],
    ['رسید پرداخت شماره ۱', ['repayment 1']],
    ['برگشت از فروش شماره ۱', ['return 1']],
    ['3', ['receipt 3', 'receipt 2', 'receipt 1']],
    ['سارا', ['receipt 2', 'receipt 1']],
  ] as const)
    expect([q, await search(q)]).toEqual([q, found])
  const orders = async (q: string) =>
    (await sandbox().list(`orders?q=${encodeURIComponent(q)}`)).map(({ external_id }) => external_id)
  for (const [q, id] of [
    ['رسید ۱', '1'],
    ['receipt 3', '2'],
    ['repayment 1', '2'],
    ['برگشت از فروش ۱', '2'],
  ] as const)
    expect([q, await orders(q)]).toEqual([q, [id]])
  expect(await orders('receipt 33')).toEqual([])
})

test('the export has the same documents, and amounts that add up without the cancelled ones', async () => {
  await sandbox().put('customers/09123456789', { nationalId: '0012345679', economicCode: '411111111111' })
  const csv = async (path: string) => {
    const response = await fetch(`${sandbox().url}/panel/${path}`)
    const lines = Buffer.from(await response.arrayBuffer())
      .toString()
      .split('\r\n')
    return { lines, name: response.headers.get('content-disposition') }
  }
  const english = await csv('documents.csv')
  expect(english.lines[0]).toBe(
    '\uFEFFkind,number,date,state,account,method,reference,amount,net,tax,cancelled_amount,reason,invoice_number,source,external_id,customer_name,national_id,economic_code,type,registered_on,cancelled_on,cancel_reason,received,returned,repaid,money,note',
  )
  expect(english.lines[1]).toMatch(
    /^return,1,2026-04-24,valid,,,,1100,1000,100,,شکسته,2,api,2,مشتری متفرقه,,,,2026-11-22,,,,1100,,,$/,
  )
  expect(english.lines).toHaveLength(7)
  const persian = await csv('documents.csv?language=fa&calendar=persian&kind=receipt&to=2026-04-23')
  expect(persian.name).toBe('attachment; filename="documents-to-1405-02-03.csv"')
  const registered = await csv(`documents.csv?days=registration&kind=repayment&from=${TODAY}`)
  expect(registered.name).toBe('attachment; filename="documents-by-registration-from-2026-11-22.csv"')
  expect(registered.lines[1]).toMatch(/^repayment,1,2026-04-24,.*,(\d+),-\1,$/)
  expect(persian.lines.slice(1)).toEqual([
    'رسید دریافت,3,1405/02/03,معتبر,صندوق فروشگاه,نقدی,"=""012""",4400,,,,,2,api,2,مشتری متفرقه,,,نقدی,1405/09/01,,,4400,,,4400,',
    'رسید دریافت,2,1405/02/03,معتبر,حساب بانک ملت,کارت بانکی,bank-77,2200,,,,,1,api,1,سارا,"=""0012345679""","=""411111111111""",کارتخوان,1405/09/01,,,2200,,,2200,',
    'رسید دریافت,1,1405/02/02,باطل‌شده,حساب بانک ملت,کارت بانکی,r-1,,,,2200,,1,api,1,سارا,"=""0012345679""","=""411111111111""",کارتخوان,1405/09/01,1405/09/01,تکراری,,,,,',
    '',
  ])
  const orders = await csv('orders.csv?q=سارا')
  expect(orders.lines[1]).toMatch(/^api,1,2026-04-22,سارا,.*,0012345679,411111111111,0,,0$/)
})

test('orders are filtered by what is due and by the credit of their buyers', async () => {
  const { create, act, list, panel } = sandbox()
  await create(order('draft', { items: [row('SKU-3', 1)] }))
  await create(order('free', { items: [row('SKU-1', 1, 0)] }))
  await create(order('due'))
  await create(order('part', { items: [row('SKU-1', 1, 1e30)] }))
  await act('part', 'pay', { method: 'cash', amount: 200 })
  const ids = async (query: string) => (await list(`orders?${query}`)).map(({ external_id }) => external_id)
  expect(await ids('balance=due')).toEqual(['part', 'due'])
  expect(await ids('balance=credit')).toEqual(['2'])
  expect(await ids('balance=due&q=part')).toEqual(['part'])
  expect(await ids('balance=credit&status=invoiced')).toEqual([])
  const { counts, totals } = (await panel('sums?balance=credit')).body
  expect(counts).toMatchObject({ paid: 1, invoiced: 0 })
  expect(totals).toMatchObject({ count: 1, credit: '500', due: '0', returns: { tax: '100' } })
  await act('2', 'repay', { method: 'cash', account: 'cash-1' })
  expect(await ids('balance=credit')).toEqual([])
})

test('orders in review show the money that is held, in the list, its sums and the export', async () => {
  const { create, act, list, panel, url } = sandbox()
  await create(order('waiting', { items: [row('SKU-3', 1)] }))
  await create(order('whole', { items: [row('SKU-3', 2)], payment: PAYMENT, date: '2026-04-25' }))
  await act('whole', 'correct', { items: [row('SKU-3', 3)] })
  await act('2', 'reverse-repayment', {})
  await act('2', 'review', { error: 'x' })
  const held = async (query: string) => [
    (await list(`orders?${query}`)).map(({ external_id, held }) => `${external_id} ${held}`),
    String((await panel(`sums?${query}`)).body.totals?.held),
  ]
  expect(await held('')).toEqual([['whole 3300', 'waiting 0', '2 4400', '1 0'], '7700'])
  expect(await held('balance=held')).toEqual([['whole 3300', '2 4400'], '7700'])
  expect(await held('balance=held&q=sku-3')).toEqual([['whole 3300'], '3300'])
  expect(await held('to=2026-04-24&status=needs_review')).toEqual([['2 4400'], '4400'])
  expect(await held('status=paid')).toEqual([['1 0'], '0'])
  const csv = await (await fetch(`${url}/panel/orders.csv?balance=held&sort=invoice_number`)).text()
  const lines = csv.trim().split('\r\n')
  expect(lines.map(line => line.split(',').at(-1))).toEqual(['held', '4400', '3300'])

  await act('whole', 'retry', { stock: [{ sku: 'SKU-3', stock: 3 }] })
  expect(await held('balance=held')).toEqual([['2 4400'], '4400'])
  expect(await panel('orders/whole')).toMatchObject({ body: { held: '0', received: '3300' } })
})

test('the totals of orders contain net and tax of their returns', async () => {
  const returns = async (query: string) => (await sandbox().panel(`sums?${query}`)).body.totals?.returns
  for (const query of ['', 'status=paid', 'q=2', 'from=2026-04-24'])
    expect([query, await returns(query)]).toEqual([query, { net: '1000', tax: '100' }])
  for (const query of ['status=invoiced', 'q=سارا', 'to=2026-04-23'])
    expect([query, await returns(query)]).toEqual([query, { net: '0', tax: '0' }])
  await sandbox().act('2', 'reverse-repayment', {})
  await sandbox().act('2', 'review', { error: 'x' })
  expect(await returns('')).toEqual({ net: '0', tax: '0' })
})

test('receipts and repayments have a note, which a review keeps and the export includes', async () => {
  const { act, create, detail, url } = sandbox()
  await create(order('3'))
  await act('3', 'pay', { ...PAYMENT, note: 'بابت پیش‌پرداخت' })
  await act('3', 'review', { error: 'x' })
  expect((await detail('3')).held_payments).toMatchObject([{ note: 'بابت پیش‌پرداخت' }])
  await act('3', 'retry')
  await act('3', 'return', {})
  await act('3', 'repay', { method: 'transfer', note: 'عودت, کامل' })
  const { receipts, repayments, cancelled } = await detail('3')
  expect(receipts).toMatchObject([{ note: 'بابت پیش‌پرداخت' }])
  expect(cancelled?.receipts).toMatchObject([{ note: 'بابت پیش‌پرداخت' }])
  expect(repayments).toMatchObject([{ note: 'عودت, کامل' }])
  const notes = (await sandbox().list('documents')).map(({ kind, note }) => [kind, note])
  expect(notes).toContainEqual(['repayment', 'عودت, کامل'])
  expect(notes).toContainEqual(['return', null])
  const lines = (await (await fetch(`${url}/panel/documents.csv?kind=repayment`)).text()).split('\r\n')
  expect(lines[1]).toMatch(/,2200,-2200,"عودت, کامل"$/)
})
