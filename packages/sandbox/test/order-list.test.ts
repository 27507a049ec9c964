import { describe, expect, test } from '@jest/globals'
import { createExamples } from '../src/actions/examples.ts'
import { exportOrders } from '../src/actions/export.ts'
import { clockIn } from '../src/clock.ts'
import { openStore } from '../src/store/open.ts'
import { eachWithSandbox, type Json, order, PAYMENT, row, SHORT } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-21T12:00:00Z') })

describe('the list of orders', () => {
  const ids = (orders: Json[]) => orders.map(({ external_id }) => String(external_id))

  test('is sorted and paged', async () => {
    const { create, panel } = sandbox()
    for (const [index, price] of [90, 90, 10_000, 1000, 9].entries()) {
      const payment = { ...PAYMENT, reference: index === 4 ? '' : 'card' }
      const date = `2026-11-0${[1, 2, 9, 8, 2][index]}`
      await create(order(String(index + 1), { items: [row('SKU-1', 1, price)], payment, date }))
    }
    for (const [query, expected] of [
      ['', '54321'],
      ['sort=invoice_number', '12345'],
      ['sort=-date', '34521'],
      ['sort=date', '12543'],
      ['sort=total', '51243'],
      ['sort=-total&q=card', '3421'],
      ['sort=updated_at', '12345'],
    ]) {
      let found = ''
      for (let before: unknown = ''; before !== null; ) {
        const { orders, next } = (await panel(`orders?limit=2&${query}&before=${before}`)).body
        found += ids([...(orders ?? [])]).join('')
        before = next
      }
      expect([query, found]).toEqual([query, expected])
    }
  })

  test('is searched by any words of up to 500 characters; longer searches are refused', async () => {
    const { panel, post } = sandbox()
    const words = (count: number) => Array(count).fill('w').join(' ')
    const lists = [
      'orders',
      'sums',
      'orders.csv',
      'rows.csv',
      'documents',
      'documents.csv',
      'products',
      'customers',
    ]
    for (const at of lists) {
      expect([at, (await panel(`${at}?q=${words(250)}`)).status]).toEqual([at, 200])
      const error = { field: 'q', message: expect.stringContaining('must have at most 500 characters') }
      expect(await panel(`${at}?q=${words(251)}`)).toMatchObject({ status: 400, body: { error } })
    }
    const retry = (q: string) => post('retries', { filter: { q }, dryRun: true })
    expect([(await retry(words(250))).status, (await retry(words(251))).status]).toEqual([200, 400])
  })

  test('can be filtered by status, source and text, with counts by status', async () => {
    const { create, pay, refund, panel, list } = sandbox()
    const customer = { mobile: '09123456789', name: 'سارا محمدی' }
    await create(order('A-1', { customer }))
    await create(order('A-2', { source: 'shop', customer }))
    await create(order('B_3', SHORT))
    await create(order('B-4'))
    await pay('A-2', PAYMENT, 'shop')
    await refund('B-4')
    const found = async (query: string) => ids(await list(`orders?${query}`))
    expect(await found('status=needs_review')).toEqual(['B_3'])
    expect(await found('source=shop')).toEqual(['A-2'])
    expect(await found('q=a-')).toEqual(['A-2', 'A-1'])
    expect(await found('q=_')).toEqual(['B_3'])
    const texts = 'سارا,سارا مُحمدى,محمدي,0912345,09123456789,+989123456789,۰۹۱۲۳۴۵۶۷۸۹,sku-1 a'
    for (const text of texts.split(','))
      expect([text, await found(`q=${encodeURIComponent(text)}`)]).toEqual([text, ['A-2', 'A-1']])
    expect(await found('q=r-1')).toEqual(['A-2'])
    expect(await found('q=%232')).toEqual(['A-2'])
    expect(await found(`q=${encodeURIComponent('"*[a')}`)).toEqual([])
    expect(await found('from=2026-11-21&to=2026-11-21')).toHaveLength(4)
    expect(await found('from=2026-11-22')).toEqual([])
    const counts = async (query: string) => Object.values((await panel(`sums?${query}`)).body.counts ?? {})
    expect(await counts('status=paid')).toEqual([1, 1, 1, 1])
    expect(await counts('q=a-')).toEqual([0, 1, 1, 0])
    expect(await list('orders?source=shop')).toMatchObject([
      {
        status: 'paid',
        date: '2026-11-21',
        created_at: expect.stringMatching(/^2026-11-21T.*Z$/),
        customer: { code: '09123456789', ...customer },
      },
    ])
  })
})

test('finds names in Arabic and Persian spelling, with or without joiners, hamza and diacritics', async () => {
  const { create, panel } = sandbox()
  const written = 'علی‌پور عليپور كاظمی کاظمي مؤمنی مومنی آرش ارش رضائی رضایی هُدیٰ هدی'.split(' ')
  for (const [index, name] of written.entries())
    await create(order(String(index), { customer: { mobile: `${9120000000 + index}`, name } }))
  for (const [index, name] of written.entries()) {
    const { counts } = (await panel(`sums?q=${encodeURIComponent(name)}`)).body
    expect([index, counts?.invoiced]).toEqual([index, 2])
  }
})

test('has exact totals for a filter, and its export contains every order and no formulas', async () => {
  const { create, refund, panel } = sandbox()
  const hostile = { mobile: '09123456789', name: '=HYPERLINK("http://evil.example";"x")' }
  await create(order('+1', { customer: hostile, payment: { method: 'card', reference: ' ＠a;b' } }))
  await create(order('2', { items: [row('SKU-1', 1, 1e30)], payment: PAYMENT }))
  await create(order('3', { payment: PAYMENT }))
  await refund('3')
  const totals = async (query: string) => (await panel(`sums?${query}`)).body.totals
  const huge = '1100000000000000000000000000000'
  const invoices = { count: 3, net: '1000000000000000000000000004000', tax: '100000000000000000000000000400' }
  expect(await totals('')).toEqual({
    ...invoices,
    finalized: { ...invoices, total: '1100000000000000000000000004400' },
    drafts: { count: 0, net: '0', tax: '0', total: '0' },
    held: '0',
    due: '0',
    credit: '2200',
    returns: { net: '2000', tax: '200' },
    total: '1100000000000000000000000004400',
    received: '1100000000000000000000000004400',
    returned: '2200',
    repaid: '0',
  })
  const paid = { count: 1, total: huge, received: huge, returned: '0' }
  expect(await totals('status=paid&q=r-1')).toMatchObject(paid)
  const response = await fetch(`${sandbox().url}/panel/orders.csv?status=paid&sort=invoice_number`)
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="orders.csv"')
  const csv = Buffer.from(await response.arrayBuffer()).toString()
  const [head, first, second, ...rest] = csv.split('\r\n')
  expect(head).toMatch(/^\uFEFFsource,external_id,date,customer_name,mobile,/)
  expect(first).toBe(
    `api,'+1,2026-11-21,"'=HYPERLINK(""http://evil.example"";""x"")",09123456789,paid,1,1,,"' ＠a;b",card,0,0,2000,200,2200,2200,0,0,0,,,,0,,0`,
  )
  expect(second).toContain(huge)
  expect(rest).toEqual([''])
})

test('sums up finalized invoices, drafts and what is due separately', async () => {
  const { create, act, panel, pay } = sandbox()
  await create(order('draft', SHORT))
  for (const id of ['due', 'part', 'credit']) await create(order(id))
  await act('part', 'pay', { method: 'cash', amount: 200 })
  await pay('credit')
  await act('credit', 'return', { rows: [{ row: 1, quantity: 1 }] })
  const { totals } = (await panel('sums')).body
  expect(totals).toMatchObject({
    count: 4,
    total: '8800',
    received: '2400',
    returned: '1100',
    due: '4200',
    finalized: { count: 3, net: '6000', tax: '600', total: '6600' },
    drafts: { count: 1, net: '2000', tax: '200', total: '2200' },
  })
  expect((await panel('sums?status=needs_review')).body.totals).toMatchObject({
    due: '0',
    finalized: { count: 0, total: '0' },
    drafts: { total: '2200' },
  })
})

test('an export does not block other requests, and contains each order once while orders change', async () => {
  const store = openStore(undefined, clockIn('Asia/Tehran'))
  createExamples({ orders: 1000 }, store)
  const parts = exportOrders({ sort: '-updated_at', language: 'en', calendar: 'gregory' }, store)
  let csv = (await parts.next()).value
  for (const number of [1, 500, 999]) store.orders.setDraft(number, 'Changed')
  let turns = 0
  for await (const part of parts) {
    csv += part
    turns += 1
  }
  expect(turns).toBeGreaterThan(1)
  const ids = String(csv).match(/example-\d+/g)
  expect([ids?.length, new Set(ids).size]).toEqual([1000, 1000])
  store.close()
})

test('a search finds orders by total, invoice and product', async () => {
  const { create, list, act } = sandbox()
  const items = [{ ...row('SKU-1', 1, 1_250_000), name: 'کلوچه' }]
  await create(order('total', { items, shipping: 0 }))
  await create(order('1375', { items: [row('SKU-2', 1)] }))
  const found = async (q: string) =>
    (await list(`orders?q=${encodeURIComponent(q)}`)).map(({ external_id }) => external_id)
  for (const q of [
    '1375000',
    '1,375,000',
    '۱٬۳۷۵٬۰۰۰',
    '۱۳۷۵۰۰۰',
    'فاکتور ۱',
    'invoice 1',
    'فاکتور فروش ۱',
    'فاکتور فروش شماره ۱',
    'فاکتور شماره ۱',
    'Sales invoice № 1',
    'invoice number 1',
    '1,375,000 rials',
    '۱٬۳۷۵٬۰۰۰ ریال',
    'کلوچه',
    'کلوچه 1,375,000',
  ])
    expect([q, await found(q)]).toEqual([q, ['total']])
  for (const q of ['375000', '137,500', 'فاکتور ۱۰', 'هزینه ارسال'])
    expect([q, await found(q)]).toEqual([q, []])
  for (const q of ['1375', 'سفارش 1375', 'سفارش شماره ۱۳۷۵', 'order 1375'])
    expect([q, await found(q)]).toEqual([q, ['1375']])
  await act('total', 'correct', { shipping: 100_000 })
  expect([await found('1375000'), await found('1,485,000')]).toEqual([[], ['total']])
})

test('a search finds orders by the reference of a cancelled receipt or repayment', async () => {
  const { create, list, act } = sandbox()
  await create(order('1', { payment: { method: 'card', reference: 'bank-77' } }))
  await act('1', 'return')
  await act('1', 'repay', { method: 'card', reference: 'out-88' })
  await act('1', 'reverse-repayment')
  await act('1', 'reverse-return')
  await act('1', 'reverse-payment')
  for (const q of ['bank-77', 'out-88'])
    expect([q, await list(`orders?q=${q}`)]).toMatchObject([q, [{ external_id: '1' }]])
})

test('the export has discounts and shipping without tax, whether or not the prices include it', async () => {
  const { create, settings, url } = sandbox()
  const content = {
    items: [{ ...row('SKU-1', 1, 1_000_000), discount: 22_000 }],
    discount: 11_000,
    shipping: 350_000,
  }
  await create(order('1', content))
  await settings({ pricesIncludeTax: true })
  await create(order('2', content))
  const csv = await (await fetch(`${url}/panel/orders.csv`)).text()
  const [head = [], ...lines] = csv
    .trim()
    .split('\r\n')
    .map(line => line.split(','))
  const cells = lines.map(line =>
    ['external_id', 'discount', 'shipping', 'net', 'tax', 'total'].map(name => line[head.indexOf(name)]),
  )
  expect(cells.toSorted()).toEqual([
    ['1', '33000', '350000', '1317000', '131700', '1448700'],
    ['2', '30000', '318182', '1197273', '119727', '1317000'],
  ])
})

test('the export states the current reason of a review, not that of the last attempt', async () => {
  const { create, settings, url } = sandbox()
  await settings({ automaticFinalization: false })
  await create(order('1'))
  const exported = async (language: string) =>
    await (await fetch(`${url}/panel/orders.csv?language=${language}`)).text()
  expect(await exported('en')).toContain('Automatic finalization is off')
  await settings({ automaticFinalization: true })
  expect(await exported('en')).toContain('Nothing prevents finalization')
  expect(await exported('en')).not.toContain('Automatic finalization is off')
  expect(await exported('fa')).toContain('مانعی برای قطعی شدن نیست')
})
