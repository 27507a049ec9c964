// How many orders a second the sandbox registers, over real HTTP, on a database file, and how long one takes:
// node bench/sandbox.ts [--json]

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const CONNECTIONS = 16
const WARM_UP = 2000
const RUNS = 5
const ORDERS_PER_RUN = 4000

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

/** @returns the status of the answer, once all of it has come */
const send = (method: string, url: string, body: unknown): Promise<number | undefined> => {
  const bytes = Buffer.from(JSON.stringify(body))
  const headers = {
    authorization: 'Bearer sandbox-key',
    'content-type': 'application/json',
    'content-length': bytes.length,
  }
  return new Promise((resolve, reject) => {
    request(url, { method, agent, headers })
      .on('response', response => response.resume().on('end', () => resolve(response.statusCode)))
      .on('error', reject)
      .end(bytes)
  })
}

/** A paid order of three rows, shipping and discount, by one of a thousand customers. */
const order = (id: number) => ({
  external_id: String(id),
  customer: { mobile: `0912${String(id % 1000).padStart(7, '0')}`, name: 'سارا محمدی' },
  items: [1, 2, 3].map(each => ({ sku: `BENCH-${each}`, quantity: each, unit_price: 125_000 * each })),
  shipping: 45_000,
  discount: 10_000,
  payment: { method: 'online', reference: String(id) },
})

let lastId = 0

/** @returns how long each create took, in milliseconds, and all of them together */
const run = async (url: string, orders: number) => {
  const latencies: number[] = []
  const end = lastId + orders
  const connection = async () => {
    while (lastId < end) {
      lastId += 1
      const started = performance.now()
      const status = await send('POST', `${url}/api/v1/orders/`, order(lastId))
      if (status !== 201) throw new Error(`Cannot measure: an order was answered ${status}`)
      latencies.push(performance.now() - started)
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: CONNECTIONS }, connection))
  return { latencies, seconds: (performance.now() - started) / 1000 }
}

const quantile = (sorted: readonly number[], q: number) =>
  sorted[Math.ceil(q * sorted.length) - 1] ?? Number.NaN

const ascending = (values: readonly number[]) => values.toSorted((a, b) => a - b)

/** Medians over the runs, with the spread of the throughput. */
const summary = (runs: Awaited<ReturnType<typeof run>>[]) => {
  const rates = ascending(runs.map(({ latencies, seconds }) => latencies.length / seconds))
  const median = (q: number) =>
    Number(
      quantile(ascending(runs.map(({ latencies }) => quantile(ascending(latencies), q))), 0.5).toFixed(2),
    )
  return {
    name: 'sandbox: create a paid order of three rows',
    connections: CONNECTIONS,
    orders: RUNS * ORDERS_PER_RUN,
    perSecond: Math.round(quantile(rates, 0.5)),
    perSecondFrom: Math.round(rates[0] ?? Number.NaN),
    perSecondTo: Math.round(rates.at(-1) ?? Number.NaN),
    p50Ms: median(0.5),
    p99Ms: median(0.99),
  }
}

const measure = async (url: string) => {
  for (const each of [1, 2, 3]) await send('PUT', `${url}/panel/products/BENCH-${each}`, { stock: 1e9 })
  await run(url, WARM_UP)
  const runs: Awaited<ReturnType<typeof run>>[] = []
  for (let each = 0; each < RUNS; each++) runs.push(await run(url, ORDERS_PER_RUN))
  return summary(runs)
}

const folder = await mkdtemp(join(tmpdir(), 'sandbox-bench-'))
const child = spawn(
  process.execPath,
  ['sandbox/main.ts', '--port', '0', '--data', join(folder, 'bench.db')],
  { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
)
try {
  if (child.stdout === null) throw new Error('Cannot measure: the sandbox has no output')
  const [line] = await once(createInterface(child.stdout), 'line')
  const found = await measure(String(line).replace('sandbox ready at ', ''))
  const { name, perSecond, perSecondFrom, perSecondTo, p50Ms, p99Ms } = found
  const text = `${name}: ${perSecond}/s (${perSecondFrom} to ${perSecondTo}), p50 ${p50Ms} ms, p99 ${p99Ms} ms`
  console.log(process.argv.includes('--json') ? JSON.stringify(found) : text)
} finally {
  agent.destroy()
  child.kill('SIGTERM')
  await once(child, 'exit')
  await rm(folder, { recursive: true })
}
