import { describe, expect, test } from '@jest/globals'
import { eachWithSandbox, order, PAYMENT, row, SHORT } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-21T12:00:00Z') })

describe('bulk retries', () => {
  const retries = async (body: object) => (await sandbox().post('retries', body)).body

  test('finalize orders oldest first while stock lasts, after a dry run that predicts the result', async () => {
    const { create, product, read, register, list, stock, detail } = sandbox()
    await register('http://127.0.0.1:9/')
    for (const [index, quantity] of [2, 2, 3, 1].entries())
      await create(order(`${index}`, { items: [row('SKU-3', quantity)] }))
    await product('SKU-3', { stock: 3 })
    const customer = 'مشتری متفرقه'
    const retried = {
      source: 'api',
      customer,
      status: 'invoiced',
      review_reason: null,
      error: null,
      received: '0',
    }
    const left = (needed: number) => ({
      ...retried,
      external_id: `${needed - 1}`,
      total: `${needed * 1100}`,
      status: 'needs_review',
      error: `Insufficient stock: "SKU-3" needs ${needed}, available 1`,
    })
    const orders = [
      { ...retried, external_id: '0', total: '2200' },
      ...[left(2), left(3)],
      { ...retried, external_id: '3', total: '1100' },
    ]
    const before = await detail('0')
    const stays = await detail('1')
    expect(await retries({ dryRun: true })).toEqual({ dryRun: true, orders })
    expect([await detail('0'), await stock('SKU-3'), await list('deliveries')]).toEqual([before, 3, []])
    expect(await retries({})).toEqual({ dryRun: false, orders })
    expect([(await read('3')).body.status, await stock('SKU-3')]).toEqual(['invoiced', 0])
    expect((await detail('1')).history).toEqual(stays.history)
    expect(await list('deliveries')).toHaveLength(2)
    expect((await retries({})).orders).toEqual([])
  })

  test('are limited to the orders of a filter', async () => {
    const { create, product, read, post } = sandbox()
    const days = ['2026-11-01', '2026-11-02', '2026-11-02']
    for (const [index, date] of days.entries())
      await create(order(`${index}`, { ...SHORT, date, ...(index === 2 && { source: 'other' }) }))
    await product('SKU-3', { stock: 100 })
    const found = async (filter: object) =>
      (await retries({ filter, dryRun: true })).orders?.map(({ external_id }) => external_id)
    expect(await found({ from: '2026-11-02', to: '2026-11-02' })).toEqual(['1', '2'])
    expect(await found({ q: 'sku-3', source: 'api' })).toEqual(['0', '1'])
    expect(await found({})).toEqual(['0', '1', '2'])
    const refused = await post('retries', { orders: [], filter: {} })
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('filter') } },
    })
    await retries({ filter: { source: 'other' } })
    const statuses = [await read('0'), await read('1'), await read('2', 'other')].map(
      ({ body }) => body.status,
    )
    expect(statuses).toEqual(['needs_review', 'needs_review', 'invoiced'])
  })

  test("list the orders that the accountant moved back to review last, with the accountant's reason", async () => {
    const { create, act, product, detail } = sandbox()
    await create(order('own'))
    await create(order('short', SHORT))
    await act('own', 'review', { error: 'مشتری انصراف داد' })
    await product('SKU-3', { stock: 2 })
    expect((await retries({ dryRun: true })).orders).toMatchObject([
      { external_id: 'short', review_reason: null },
      { external_id: 'own', review_reason: 'مشتری انصراف داد' },
    ])
    expect(await detail('own')).toMatchObject({ obstacles: [], review_reason: 'مشتری انصراف داد' })
    await product('SKU-1', { stock: 0 })
    await retries({ orders: [{ external_id: 'own' }] })
    expect(await detail('own')).toMatchObject({
      error: expect.stringContaining('stock'),
      review_reason: null,
    })
  })

  test('of selected orders return one result per order', async () => {
    const { create, detail } = sandbox()
    await create(order('paid', { payment: PAYMENT }))
    await create(order('short', SHORT))
    const orders = ['paid', 'short', 'unknown'].map(external_id => ({ external_id }))
    expect((await retries({ orders })).orders).toMatchObject([
      { status: 'paid', error: expect.stringContaining('its invoice is finalized') },
      { status: 'needs_review', error: 'Insufficient stock: "SKU-3" needs 2, available 0' },
      { status: null, total: null, error: expect.stringContaining('is not registered') },
    ])
    const history = [...((await detail('short')).history ?? [])]
    expect(history.map(({ kind }) => kind)).toEqual(['created', 'held', 'retried', 'held'])
  })
})
