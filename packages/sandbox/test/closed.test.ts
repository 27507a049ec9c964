import { expect, test } from '@jest/globals'
import { eachWithSandbox, type Json, order, PAYMENT } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-27T12:00:00Z') })

const MOBILE = '09123456789'

test('an invoice keeps its seller and buyer once its fiscal year is removed, until the year is added again', async () => {
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

  // The removal of another year changes nothing.
  await put('fiscal-years', { fiscalYears: years.slice(0, 1) })
  expect(await partiesOf('closed')).toEqual(kept)
  await put('fiscal-years', { fiscalYears: [last, ...years] })
  expect([await partiesOf('closed'), await partiesOf('open')]).toEqual([current, current])
  expect([await found('سارا'), await found('مینا')]).toEqual([[], ['open', 'closed']])
})
