import { expect, test } from '@jest/globals'
import { eachWithSandbox, order, row } from './world.ts'

const sandbox = eachWithSandbox()

const UNKNOWN = {
  items: [{ ...row('TEA-9', 2, 2100), name: 'Green tea' }, row('SKU-1', 1), row('TEA-9', 1, 2100)],
  customer: { mobile: '09123456789', name: 'Sara' },
}

const refusals = async (query = '') => (await sandbox().panel(`refusals${query}`)).body

test('a refused order is listed with the missing products until a product is added and the store sends it again', async () => {
  const { create, product } = sandbox()
  for (const _ of [1, 2]) expect((await create(order('1', UNKNOWN))).status).toBe(400)
  const { refusals: listed, open } = await refusals()
  expect(open).toBe(1)
  expect(listed).toMatchObject([
    {
      source: 'api',
      external_id: '1',
      code: 'unknown_sku',
      field: 'items[0].sku',
      message: 'Field "items[0].sku" is "TEA-9": no product has this code',
      customer: 'Sara',
      attempts: 2,
      resolved_at: null,
      missing: [{ sku: 'TEA-9', name: 'Green tea', unit_price: 2100 }],
    },
  ])
  expect(JSON.parse(String(listed?.[0]?.body))).toEqual(order('1', UNKNOWN))

  await product('TEA-9', { name: 'Green tea', stock: 5 })
  expect(await refusals()).toMatchObject({ open: 1, refusals: [{ missing: [] }] })
  expect((await create(order('1', UNKNOWN))).status).toBe(201)
  expect(await refusals()).toEqual({ open: 0, refusals: [] })
  expect(await refusals('?state=resolved')).toMatchObject({
    open: 0,
    refusals: [{ external_id: '1', resolved_at: expect.stringMatching(/Z$/) }],
  })
})

test('an order has the reason of its last refusal, for any cause, exact numbers included', async () => {
  const { create, settings } = sandbox()
  await settings({ defaultCustomer: null })
  await create('{"external_id":"1","items":[{"sku":"SKU-1","quantity":1,"unit_price":-9007199254740993}]}')
  expect(await refusals()).toMatchObject({
    refusals: [{ code: 'invalid', field: 'items[0].unit_price', customer: null, missing: [] }],
  })
  expect(String((await refusals()).refusals?.[0]?.body)).toContain('-9007199254740993')
  await create(order('1'))
  expect(await refusals()).toMatchObject({ refusals: [{ code: 'no_customer', attempts: 2 }] })
  await create(order('1', { date: '1999-01-01' }))
  expect(await refusals()).toMatchObject({ refusals: [{ code: 'outside_fiscal_years', attempts: 3 }] })
})

test('a refused order has its current cause, which changes with the settings and leaves nothing registered', async () => {
  const { create, settings, put, list } = sandbox()
  await settings({ defaultCustomer: null })
  await create(order('1', { date: '2019-05-01', customer: { mobile: '09123456789' } }))
  const current = async () => (await refusals()).refusals?.[0]?.current
  expect(await current()).toMatchObject({ code: 'outside_fiscal_years', field: 'date' })
  await put('fiscal-years', { from: '2019-01-01', to: '2019-12-31' })
  expect(await current()).toBeNull()
  await settings({ automaticCustomerCreation: false })
  expect(await current()).toMatchObject({ code: 'no_customer', field: 'customer.mobile' })
  expect(await refusals()).toMatchObject({
    open: 1,
    refusals: [{ code: 'outside_fiscal_years', attempts: 1 }],
  })
  await settings({ automaticCustomerCreation: true })
  expect(await current()).toBeNull()
  expect(await list('orders')).toEqual([])
})

test('requests without an order number, duplicates and refused payments are not listed', async () => {
  const { create, pay } = sandbox()
  await create({ items: [] })
  await create('{')
  await create(order('1'))
  await create({ external_id: '1' })
  await pay('1', { method: 'none' })
  expect(await refusals()).toEqual({ open: 0, refusals: [] })
})

test('a dismissed order is listed again if it is refused again', async () => {
  const { create, panel } = sandbox()
  await create(order('a/b', { ...UNKNOWN, source: 'shop' }))
  await create(order('2', UNKNOWN))
  const remove = (query: string) => panel(`refusals?${query}`, { method: 'DELETE' })
  expect((await remove('external_id=a%2Fb&source=shop')).body).toEqual({ open: 1 })
  expect((await remove('external_id=unknown')).body).toEqual({ open: 1 })
  expect((await remove('')).status).toBe(400)
  await create(order('a/b', { ...UNKNOWN, source: 'shop' }))
  const { refusals: listed } = await refusals()
  expect(listed?.map(({ external_id, attempts }) => [external_id, attempts])).toEqual([
    ['a/b', 1],
    ['2', 1],
  ])
  expect((await refusals('?limit=1')).refusals).toHaveLength(1)
})

test('the 500 orders that were refused last are kept, without bodies of more than 64 KB', async () => {
  const { create } = sandbox()
  const long = { items: [{ ...row('no', 1), name: 'x'.repeat(70_000) }] }
  await create(order('repeated', UNKNOWN))
  for (let id = 0; id < 501; id += 1) {
    if (id === 300) await create(order('repeated', UNKNOWN))
    await create(order(String(id), id === 500 ? long : UNKNOWN))
  }
  const { refusals: listed, open } = await refusals('?limit=500')
  expect([open, listed?.length, listed?.at(-1)?.external_id]).toEqual([500, 500, '2'])
  expect(listed?.find(each => String(each.external_id) === 'repeated')).toMatchObject({ attempts: 2 })
  expect([listed?.[0]?.body, listed?.[0]?.message]).toEqual([null, expect.stringContaining('"no"')])
})
