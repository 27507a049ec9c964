import { expect, test } from '@jest/globals'
import { startSandbox } from '../src/start.ts'
import { clientOf, eachWithSandbox, order } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-21T12:00:00Z') })

const DEFAULTS = {
  defaultCustomer: 'walk-in',
  automaticCustomerCreation: true,
  orderPaymentReceivingAccount: 'bank-1',
  taxRate: 10,
  pricesIncludeTax: false,
  automaticFinalization: true,
  duplicatesReturnOriginal: false,
  correctionsSendWebhooks: false,
}

const YEAR = { from: '2029-03-21', to: '2030-03-20' }
const NEXT = { from: '2030-03-21', to: '2031-03-20' }

test('a new sandbox has the settings, accounts, products and fiscal years that a first order needs', async () => {
  const { panel, list } = sandbox()
  expect((await panel('settings')).body).toEqual(DEFAULTS)
  expect(await list('accounts')).toMatchObject([
    { code: 'bank-1', kind: 'bank', openingBalance: 0, openingDate: null, inUse: false },
    { code: 'cash-1', kind: 'cash', openingBalance: 0, openingDate: null, inUse: false },
  ])
  expect((await list('products')).map(({ stock }) => stock)).toEqual([100, 100, 0])
  // 1404, 1405 and 1406.
  expect(await list('fiscal-years')).toEqual([
    { from: '2025-03-21', to: '2026-03-20', closed: false },
    { from: '2026-03-21', to: '2027-03-20', closed: false },
    { from: '2027-03-21', to: '2028-03-19', closed: false },
  ])
})

test('updates settings individually, accounts and products by code, fiscal years individually or as a list', async () => {
  const { panel, put, list } = sandbox()
  const changes = { taxRate: 8.5, pricesIncludeTax: true, defaultCustomer: null }
  for (const [name, value] of Object.entries(changes))
    expect((await put('settings', { [name]: value })).body).toMatchObject({ [name]: value })
  expect((await panel('settings')).body).toEqual({ ...DEFAULTS, ...changes })

  const product = async (change: unknown) => (await put('products/%D9%85%2F1', change)).body
  expect(await product({ stock: 2.5 })).toEqual({
    sku: 'م/1',
    name: 'م/1',
    stock: 2.5,
    price: null,
    unit: 'عدد',
  })
  const desk = { sku: 'م/1', name: 'میز', stock: 2.5, price: 12500, unit: 'متر' }
  expect(await product({ name: 'میز', price: 12500, unit: 'متر' })).toEqual(desk)
  expect(await product({ stock: 0, price: null })).toEqual({ ...desk, stock: 0, price: null })

  const opening = { openingBalance: 500, openingDate: '2026-03-21' }
  for (const [account, kept] of [
    [
      { code: 'pos', name: 'POS', kind: 'bank' },
      { openingBalance: 0, openingDate: null },
    ],
    [{ code: 'pos', name: 'Till', kind: 'cash', ...opening }, {}],
    [{ code: 'pos', name: 'Box', kind: 'cash' }, opening],
  ] as const)
    expect((await put('accounts', account)).body).toEqual({ ...account, ...kept, inUse: false })
  expect((await list('accounts')).at(-1)).toEqual({
    code: 'pos',
    name: 'Box',
    kind: 'cash',
    inUse: false,
    lowest: null,
    ...opening,
  })

  for (const year of [YEAR, YEAR]) expect((await put('fiscal-years', year)).body.fiscalYears).toHaveLength(4)
  await put('fiscal-years', { fiscalYears: [NEXT, YEAR] })
  expect(await list('fiscal-years')).toEqual([YEAR, NEXT].map(year => ({ ...year, closed: false })))
})

test.each<[at: string, change: unknown, field: string | undefined]>([
  ['settings', { taxRate: -1 }, 'taxRate'],
  ['settings', { taxRate: 100.5 }, 'taxRate'],
  ['settings', { taxRate: '9' }, 'taxRate'],
  ['settings', { pricesIncludeTax: true, automaticFinalization: 'no' }, 'automaticFinalization'],
  ['settings', { pricesIncludeTax: true, automaticFinalisation: false }, 'automaticFinalisation'],
  ['settings', { pricesIncludeTax: true, defaultCustomer: 'nobody' }, 'defaultCustomer'],
  ['settings', { orderPaymentReceivingAccount: 'nowhere' }, 'orderPaymentReceivingAccount'],
  ['products/x', { stock: -1 }, 'stock'],
  ['products/x', { stock: '1' }, 'stock'],
  ['products/x', { name: '' }, 'name'],
  ['products/x', { price: -5 }, 'price'],
  ['products/x', { cost: 5 }, 'cost'],
  ['seller', { name: 5 }, 'name'],
  ['products/x', [], undefined],
  ['accounts', { code: 'pos', name: 'Till', kind: 'purse' }, 'kind'],
  ['accounts', { code: 'pos', name: 'Till', kind: 'cash', openingBalance: 0.5 }, 'openingBalance'],
  ['accounts', { code: 'pos', name: 'Till', kind: 'cash', openingDate: '1405' }, 'openingDate'],
  ['fiscal-years', { from: '2031-01-01', to: '2030-01-01' }, 'to'],
  ['fiscal-years', { from: '2031-01-01' }, 'to'],
  ['fiscal-years', { fiscalYears: 'none' }, 'fiscalYears'],
  ['fiscal-years', { fiscalYears: [{ from: 'a', to: 'b' }] }, 'fiscalYears[0].from'],
])('%s refuses %j', async (at, change, field) => {
  const { panel, put } = sandbox()
  const shown = async () => (await panel(at.replace('/x', ''))).body
  const before = await shown()
  const { status, body } = await put(at, change)
  expect({ status, field: body.error?.field }).toEqual({ status: 400, field })
  expect(await shown()).toEqual(before)
})

test('lists customers by code, with a limit and a text filter', async () => {
  const customers = [
    { mobile: '09120000002', name: 'Neda' },
    { mobile: '09120000001', email: 'NEDA@example.com' },
  ]
  for (const customer of customers) await sandbox().create(order(customer.mobile, { customer }))
  const listed = async (query: string) => (await sandbox().list(`customers?${query}`)).map(({ code }) => code)
  expect(await listed('')).toEqual(['09120000001', '09120000002', 'walk-in'])
  expect(await listed('limit=1')).toEqual(['09120000001'])
  expect(await listed('q=neda')).toEqual(['09120000001', '09120000002'])
  expect(await listed('q=۰۹۱۲۰۰۰۰۰۰۱')).toEqual(['09120000001'])
  expect(await listed('q=مشتري')).toEqual(['walk-in'])
})

test('finds customers by words in any order, by international mobile numbers and by what invoices say about them', async () => {
  const customer = { mobile: '09120000001', name: 'سارا محمدی' }
  await sandbox().create(order('1', { customer }))
  await sandbox().put('customers/09120000001', {
    nationalId: '0012345679',
    economicCode: '41111111111111',
    phone: '021-88888888',
    postalCode: '1234567890',
  })
  const found = [
    'محمدي سارا',
    '+989120000001',
    '0912 000 0001',
    '۰۰۱۲۳۴۵۶۷۹',
    '411111',
    '88888',
    '12345678',
    'sara',
  ]
  const codes = async (q: string) =>
    (await sandbox().list(`customers?q=${encodeURIComponent(q)}`)).map(({ code }) => code)
  expect(await Promise.all(found.map(codes))).toEqual([...found.slice(1).map(() => ['09120000001']), []])
})

test('products are found by code and name in either spelling, and the seller is stored', async () => {
  const { product, list, put, panel } = sandbox()
  await product('K-1', { name: 'كیف چرمی', price: 5_000_000 })
  const found = async (q: string) =>
    (await list(`products?q=${encodeURIComponent(q)}`)).map(({ sku }) => String(sku))
  expect([await found('کيف'), await found('k-'), await found('sku-'), await found('no')]).toEqual([
    ...[['K-1'], ['K-1']],
    ...[['SKU-1', 'SKU-2', 'SKU-3'], []],
  ])
  const nothing = { economicCode: '', nationalId: '', address: '', postalCode: '', phone: '' }
  expect((await panel('seller')).body).toEqual({ name: '', ...nothing })
  await put('seller', { name: 'فروشگاه' })
  expect((await put('seller', { phone: '021' })).body).toEqual({ ...nothing, name: 'فروشگاه', phone: '021' })
})

test.each([
  ['2025-03-20', '2023-03-21/2024-03-19', '2024-03-20/2025-03-20', '2025-03-21/2026-03-20'],
  ['2025-03-21', '2024-03-20/2025-03-20', '2025-03-21/2026-03-20', '2026-03-21/2027-03-20'],
])('on %s, the fiscal years are the Jalali years around it', async (day, ...years) => {
  const { url, close } = await startSandbox({ port: 0, clock: () => new Date(`${day}T12:00:00Z`) })
  const found = await clientOf(url).list('fiscal-years')
  expect(found.map(({ from, to }) => `${from}/${to}`)).toEqual(years)
  await close()
})
