import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from '@order-relay/local/child.ts'
import { freePorts } from '@order-relay/local/ports.ts'
import { urlOf } from '@order-relay/local/settings.ts'
import type { Part } from '../context.ts'
import { measured, quantile } from '../statistics.ts'

const CONNECTIONS = 16
const WARM_UP = 2000
const RUNS = 5
const ORDERS_PER_RUN = 4000

/** A paid order of three rows, with shipping and discount, by one of a thousand customers. */
const order = (id: number) => ({
  external_id: String(id),
  customer: { mobile: `0912${String(id % 1000).padStart(7, '0')}`, name: 'سارا محمدی' },
  items: [1, 2, 3].map(each => ({ sku: `BENCH-${each}`, quantity: each, unit_price: 125_000 * each })),
  shipping: 45_000,
  discount: 10_000,
  payment: { method: 'online', reference: String(id) },
})

/** Orders that the sandbox registers over HTTP, in a database on disk. */
export const sandbox: Part = async () => {
  await using closing = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'order-relay-sandbox-'))
  closing.defer(() => rm(folder, { recursive: true }))
  const { sandbox: port } = await freePorts()
  const child = startChild({
    name: 'sandbox',
    cwd: '.',
    environment: process.env,
    onLine: () => undefined,
    args: ['packages/sandbox/src/main.ts', '--port', String(port), '--data', join(folder, 'bench.db')],
    readyLine: /^sandbox ready/,
  })
  closing.defer(child.stop)
  await child.ready()
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  closing.defer(() => agent.destroy())

  const headers = { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' }
  const send = (method: string, path: string, body: unknown) =>
    new Promise<number | undefined>((resolve, reject) => {
      request(`${urlOf(port)}${path}`, { method, agent, headers })
        .on('response', response => response.resume().on('end', () => resolve(response.statusCode)))
        .on('error', reject)
        .end(JSON.stringify(body))
    })
  let lastId = 0
  const run = async (orders: number) => {
    const latencies: number[] = []
    const last = lastId + orders
    const createInTurn = async () => {
      while (lastId < last) {
        const started = performance.now()
        const status = await send('POST', '/api/v1/orders/', order(++lastId))
        if (status !== 201) throw new Error(`Cannot measure: the sandbox answered ${status} to an order`)
        latencies.push(performance.now() - started)
      }
    }
    const started = performance.now()
    await Promise.all(Array.from({ length: CONNECTIONS }, createInTurn))
    return { latencies, perSecond: (1000 * orders) / (performance.now() - started) }
  }
  for (const each of [1, 2, 3]) await send('PUT', `/panel/products/BENCH-${each}`, { stock: 1e9 })
  await run(WARM_UP)
  const runs: Awaited<ReturnType<typeof run>>[] = []
  while (runs.length < RUNS) runs.push(await run(ORDERS_PER_RUN))
  return {
    results: {
      ordersPerSecond: measured(runs.map(({ perSecond }) => perSecond)),
      medianMs: measured(runs.map(({ latencies }) => quantile(latencies, 0.5))),
      p99Ms: measured(runs.map(({ latencies }) => quantile(latencies, 0.99))),
    },
  }
}
