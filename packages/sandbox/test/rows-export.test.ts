import { expect, test } from '@jest/globals'
import { eachWithSandbox, order, row, SHORT } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-27T12:00:00Z') })

const COLUMNS =
  'invoice_number,date,source,external_id,status,customer_name,mobile,national_id,economic_code,postal_code,address,row,sku,name,quantity,unit,unit_price,gross,row_discount,order_discount,net,tax_rate,tax,total,returned,prices_include_tax,net_discount'

const exported = async (query = '') => {
  const response = await fetch(`${sandbox().url}/panel/rows.csv?sort=invoice_number&${query}`)
  const text = Buffer.from(await response.arrayBuffer()).toString()
  return { lines: text.split('\r\n').slice(0, -1), name: response.headers.get('content-disposition') }
}

/** The rows by column. */
const rowsOf = async () => {
  const { lines } = await exported()
  const [head = '', ...rows] = lines
  const names = head.replace('\uFEFF', '').split(',')
  return rows.map(line => new Map(line.split(',').map((cell, index) => [String(names[index]), cell])))
}

test('finalized invoices are exported by row, with the buyer, both discounts and what was returned', async () => {
  const { create, act, put } = sandbox()
  const customer = { mobile: '09123456789', name: 'سارا' }
  const items = [
    { ...row('SKU-1', 3, 1000), discount: 10 },
    { ...row('SKU-2', 2.5, 200), name: 'قهوه' },
  ]
  await create(order('1', { items, customer, discount: 349, shipping: 100, date: '2026-04-22' }))
  await create(order('draft', SHORT))
  await act('1', 'return', { rows: [{ row: 2, quantity: 0.5 }] })
  await put('customers/09123456789', {
    nationalId: '0012345679',
    economicCode: '411111111111',
    postalCode: '0134567890',
    address: 'تهران',
  })
  const order1 = '1,2026-04-22,api,1,invoiced,سارا,09123456789,0012345679,411111111111,0134567890,تهران'
  expect((await exported()).lines).toEqual([
    `\uFEFF${COLUMNS}`,
    `${order1},1,SKU-1,چای سیاه ۵۰۰ گرمی,3,عدد,1000,3000,10,299,2691,10,269,2960,0,no,309`,
    `${order1},2,SKU-2,قهوه,2.5,عدد,200,500,0,50,450,10,45,495,0.5,no,50`,
    `${order1},3,,هزینه ارسال,1,,100,100,0,0,100,10,10,110,0,no,0`,
  ])
  const persian = await exported('language=fa&calendar=persian&to=2026-04-22')
  expect(persian.name).toBe('attachment; filename="rows-to-1405-02-02.csv"')
  expect(persian.lines[1]).toContain(
    '1,1405/02/02,api,1,فاکتور شده,سارا,"=""09123456789""","=""0012345679"""',
  )
  expect(persian.lines[1]).toContain('"=""0134567890""",تهران')
  expect((await exported('q=draft')).lines).toHaveLength(1)
})

test('both exports have discounts on the same basis: with tax if the prices include it, or without tax, as the header says', async () => {
  const { create, settings, detail } = sandbox()
  await settings({ pricesIncludeTax: true })
  const items = [
    { ...row('SKU-1', 1, 350_000), discount: 33_337 },
    { ...row('SKU-2', 3, 10_007), discount: 4 },
  ]
  await create(order('1', { items, discount: 10_003, shipping: 55_000 }))
  const rows = await rowsOf()
  expect(rows.map(each => each.get('prices_include_tax'))).toEqual(['yes', 'yes', 'yes'])
  for (const each of rows) {
    const [gross = 0, rowDiscount = 0, orderDiscount = 0, total] = [
      'gross',
      'row_discount',
      'order_discount',
      'total',
    ].map(column => Number(each.get(column)))
    expect(gross - rowDiscount - orderDiscount).toBe(total)
  }
  const csv = await (await fetch(`${sandbox().url}/panel/orders.csv`)).text()
  const [head = '', line = ''] = csv.split('\r\n')
  const discount = line.split(',')[head.split(',').indexOf('discount')]
  expect(rows.reduce((all, each) => all + Number(each.get('net_discount')), 0)).toBe(Number(discount))
  // The sums with tax are those of the invoice.
  expect((await detail('1')).totals).toMatchObject({ rowDiscounts: '33341', orderDiscount: '10003' })
  const persian = (await exported('language=fa')).lines
  expect(persian[0]).toContain('تخفیف ردیف بر مبنای قیمت سفارش (ریال)')
  expect(persian[1]).toContain(',بله,')
})

test('the rows add up to the invoices despite rounding', async () => {
  const { create, settings, detail, panel } = sandbox()
  const ids = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const [index, id] of ids.entries()) {
    await settings({ taxRate: [10, 9, 8.5][index % 3], pricesIncludeTax: index > 2 })
    const items = [
      { ...row('SKU-1', 1.5, 333.3), discount: 0.5 },
      { ...row('SKU-2', 3, 10_007), discount: index },
      row('SKU-1', 1, 1e30),
    ]
    await create(order(id, { items, discount: 1000 + index, shipping: 7.5 }))
  }
  const rows = await rowsOf()
  const added = (column: string, id?: string) =>
    String(
      rows
        .filter(each => id === undefined || each.get('external_id') === id)
        .reduce((all, each) => all + BigInt(each.get(column) ?? ''), 0n),
    )
  for (const id of ids) {
    const { totals } = await detail(id)
    expect([id, ...['net', 'tax', 'total', 'order_discount'].map(column => added(column, id))]).toEqual([
      ...[id, totals?.net, totals?.tax, totals?.total, totals?.orderDiscount],
    ])
    expect(added('row_discount', id)).toBe(totals?.rowDiscounts)
    expect(BigInt(added('gross', id)) - BigInt(added('row_discount', id))).toBe(BigInt(`${totals?.amount}`))
  }
  const { totals } = (await panel('sums')).body
  expect({ ...totals?.finalized }).toEqual({
    count: 6,
    ...Object.fromEntries(['net', 'tax', 'total'].map(column => [column, added(column)])),
  })
})
