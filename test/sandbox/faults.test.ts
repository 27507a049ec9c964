import { expect, test } from '@jest/globals'
import { eachWithSandbox, eventually, order } from './world.ts'

const sandbox = eachWithSandbox()

const add = (body: object) => sandbox().panel('faults', { method: 'POST', body })
const active = async () => [...((await sandbox().panel('faults')).body.faults ?? [])]

/** What a store gets for an order: the status, or that the connection broke. */
const created = async (id: string) => {
  try {
    const { status, headers, body } = await sandbox().create(order(id))
    return [status, headers.get('retry-after'), body.error?.code].filter(Boolean)
  } catch {
    return ['broken']
  }
}

test.each<[fault: object, answer: unknown[], isRegistered: boolean]>([
  [{ kind: 'reset' }, ['broken'], false],
  [{ kind: 'lose' }, ['broken'], true],
  [{ kind: 'error' }, [500, 'fault'], false],
  [{ kind: 'error', status: 503 }, [503, 'fault'], false],
  [{ kind: 'error', status: 429, retryAfter: 7 }, [429, '7', 'fault'], false],
  [{ kind: 'slow', delay: 50 }, [201], true],
])(
  '%j hits the next requests of a kind, and then the service works again',
  async (fault, answer, isRegistered) => {
    const { panel, read } = sandbox()
    const { status, body } = await add({ ...fault, operation: 'createOrder', requests: 2 })
    expect({ status, body }).toMatchObject({ status: 200, body: { id: 1, requests: 2, until: null } })
    expect((await read('1')).status).toBe(404)
    const began = performance.now()
    expect(await created('1')).toEqual(answer)
    if ('delay' in fault) expect(performance.now() - began).toBeGreaterThan(48)
    expect(await active()).toMatchObject([{ requests: 1 }])
    expect((await panel('orders/1')).status).toBe(isRegistered ? 200 : 404)
    expect(await created('2')).toEqual(answer)
    expect(await active()).toEqual([])
    expect(await created('1')).toEqual([isRegistered ? 200 : 201])
  },
)

test('a fault of the whole order API lasts for a time, or until it is ended; the oldest one hits', async () => {
  await add({ kind: 'error', seconds: 1 })
  await add({ kind: 'error', status: 429 })
  expect((await sandbox().read('1')).status).toBe(500)
  await eventually(active, faults => faults.length === 1)
  expect((await sandbox().read('1')).status).toBe(429)
  const end = (query = '') => sandbox().panel(`faults${query}`, { method: 'DELETE' })
  expect((await end('?id=1')).body.faults).toHaveLength(1)
  expect((await end()).body).toEqual({ faults: [] })
  expect((await sandbox().read('1')).status).toBe(404)
  for (const body of [{}, { kind: 'fire' }, { kind: 'error', status: 302 }, { kind: 'slow', requests: 0.5 }])
    expect((await add(body)).status).toBe(400)
})

test('example orders have every status, and stock is set for all products at once', async () => {
  const { panel, stock } = sandbox()
  const examples = () => panel('examples', { method: 'POST', body: { orders: 10, source: 'shop' } })
  expect((await examples()).body.orders).toHaveLength(10)
  // What is returned is in stock again.
  expect(await stock('SKU-1')).toBe(103)
  await examples()
  const { counts } = (await panel('sums?source=shop')).body
  expect(counts).toEqual({ needs_review: 4, invoiced: 4, paid: 8, refunded: 4 })
  const { products } = (await panel('products', { method: 'PUT', body: { stock: 3.5 } })).body
  expect([...(products ?? [])].map(each => each.stock)).toEqual([3.5, 3.5, 3.5])
})
