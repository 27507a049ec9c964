import { expect, test } from '@jest/globals'
import { eachWithSandbox, type Json, order, PAYMENT } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-27T12:00:00Z') })

const MOBILE = '09123456789'

test('an invoice keeps its seller and buyer once its fiscal year is closed, until the year is reopened', async () => {
  const { create, put, list, detail, url } = sandbox()
  const customer = { mobile: MOBILE, name: 'سارا محمدی' }
  await create(order('closed', { customer, date: '2026-03-19', payment: PAYMENT }))
  await create(order('open', { customer }))
  await put(`customers/${MOBILE}`, { nationalId: '10380284790', address: 'تهران' })
  await put('seller', { name: 'فروشگاه نمونه', economicCode: '411111111111' })
  const [last, ...years] = await list('fiscal-years')
  await put('fiscal-years', { fiscalYears: years })
  const change = async (name: string, nationalId: string) => {
    await put(`customers/${MOBILE}`, { name, nationalId })
    await put('seller', { name, nationalId })
  }
  await change('مینا کریمی', '0012345679')

  const partiesOf = async (id: string) => {
    const { seller, customer } = await detail(id)
    return [seller, customer].map(each => [String(each?.name), String(each?.nationalId)])
  }
  const [kept, current] = [
    [
      ['فروشگاه نمونه', ''],
      ['سارا محمدی', '10380284790'],
    ],
    [
      ['مینا کریمی', '0012345679'],
      ['مینا کریمی', '0012345679'],
    ],
  ]
  expect([await partiesOf('closed'), await partiesOf('open')]).toEqual([kept, current])
  // The lists and their exports agree with the invoices.
  const named = (orders: Json[]) =>
    orders.map(({ external_id, customer }) => `${external_id} ${customer?.name ?? customer}`)
  expect(named(await list('orders'))).toEqual(['open مینا کریمی', 'closed سارا محمدی'])
  expect(named(await list('documents'))).toEqual(['closed سارا محمدی'])
  for (const file of ['orders.csv', 'documents.csv'])
    expect(await (await fetch(`${url}/panel/${file}`)).text()).toMatch(/سارا محمدی.*10380284790/)
  const found = async (q: string) => (await list(`orders?q=${q}`)).map(({ external_id }) => `${external_id}`)
  expect([await found('سارا'), await found('مینا')]).toEqual([['closed'], ['open', 'closed']])

  // Removing another year that has no documents changes nothing.
  await put('fiscal-years', { fiscalYears: years.slice(0, 1) })
  expect(await list('fiscal-years')).toEqual([{ ...last, closed: true }, years[0]])
  expect(await partiesOf('closed')).toEqual(kept)
  await put('fiscal-years', { fiscalYears: [last, ...years] })
  expect([await partiesOf('closed'), await partiesOf('open')]).toEqual([current, current])
  expect([await found('سارا'), await found('مینا')]).toEqual([[], ['open', 'closed']])
})

test('a fiscal year that contains documents is closed instead of removed, and reopened by adding it again', async () => {
  const { create, act, put, list, refund } = sandbox()
  await create(order('1', { date: '2026-03-19', payment: PAYMENT }))
  const [last, current, next] = await list('fiscal-years')
  const states = async () =>
    (await list('fiscal-years')).map(({ from, closed }) => `${from} ${closed ? 'closed' : 'open'}`)
  // Only a year that contains documents stays in the list.
  await put('fiscal-years', { fiscalYears: [current] })
  expect(await states()).toEqual(['2025-03-21 closed', '2026-03-21 open'])
  const closed = { status: 400, body: { error: { code: 'outside_fiscal_years' } } }
  expect(await create(order('2', { date: '2026-03-19' }))).toMatchObject(closed)
  expect(await act('1', 'review', { error: 'x' })).toMatchObject(closed)
  expect(await put('fiscal-years?new=true', { from: last?.from, to: last?.to })).toMatchObject({
    status: 409,
    body: { error: { field: 'from' } },
  })
  await put('fiscal-years', { from: last?.from, to: last?.to })
  expect((await act('1', 'review', { error: 'x' })).status).toBe(200)
  expect(await states()).toEqual(['2025-03-21 open', '2026-03-21 open'])

  // `closed` also closes a year, and so does the removal of a year whose only document is not an invoice.
  await act('1', 'retry')
  await refund('1')
  await put('fiscal-years', { ...next, closed: true })
  await put('fiscal-years', { fiscalYears: [] })
  expect(await states()).toEqual(['2025-03-21 closed', '2026-03-21 closed'])
  // A year that overlaps closed years replaces them.
  await put('fiscal-years', { fiscalYears: [{ from: '2026-01-01', to: '2026-12-31' }] })
  expect(await states()).toEqual(['2026-01-01 open'])
})
