import { readFileSync } from 'node:fs'
import { partitionsOf } from '../../lib/orders/history.ts'
import { BULK_SHARDS, SHARDS } from '../../lib/orders/repository.ts'
import { LAST_CHECK_MS } from '../../lib/reconcile/handler.ts'

/**
 * What each limit needs at a number of orders a second. An order is a request of its store and a webhook; one in twenty
 * stays unsettled and is checked four times.
 */
const REQUESTS = 1
const WEBHOOKS = 1
const CHECKS = 0.05 * 4
/** Seconds: of the endpoints, with the wait for the answer, and of a batch of ten events (docs/performance.md). */
const API = 0.34
const WEBHOOK = 0.015
const CALL = 0.1
const REQUEST_BATCH = 0.14
const WEBHOOK_BATCH = 0.04
/** Saves of an order and entries of the history, one write unit each; `test/costs.test.ts` counts them. */
const SAVES = REQUESTS + WEBHOOKS
/** An unsettled order, and one that moves to the bulk queue, enters its index and leaves it. */
const INDEXED = 2

/** Quotas of AWS, as published; see the table for what to do above them. */
const PARTITION_UNITS = 1000
const NEW_TABLE_UNITS = 4000
const HTTP_API = 10_000
const FIFO_SENDS = 19_000
const LAMBDA = 1000
const PARAMETER_READS = 40

const serverless = readFileSync('serverless.yml', 'utf8')
/** The default of a parameter: its first value in the file, before the values of stages. */
const setting = (name: string) => Number(new RegExp(`^    ${name}: (\\d+)$`, 'm').exec(serverless)?.[1])

/** Events of a batch of the worker, which it handles in parallel. */
const BATCH = Number(/^ +batchSize: (\d+)$/m.exec(serverless)?.[1])
const reconcile = /^ {2}reconcile:\n(?: {4}.*\n)+/m.exec(serverless)?.[0]
/** The share of the time in which `reconcile` checks: each minute, a run uses its timeout less its last check. */
const CHECKING = Math.min(
  1,
  (Number(/timeout: (\d+)/.exec(reconcile ?? '')?.[1]) - LAST_CHECK_MS / 1000) / 60,
)

const workers = (rate: number) =>
  (rate * ((REQUESTS + CHECKS) * REQUEST_BATCH + WEBHOOKS * WEBHOOK_BATCH)) / BATCH
const environments = (rate: number) => rate * (REQUESTS * API + WEBHOOKS * WEBHOOK) + workers(rate)

type Limit = {
  what: string
  /** The capacity as shipped. */
  has: number
  needs: (rate: number) => number
  remedy: string
}

const LIMITS: readonly Limit[] = [
  {
    what: '`checksPerSecond`',
    has: setting('checksPerSecond'),
    needs: rate => (rate * CHECKS) / CHECKING,
    remedy: 'raise it; the alarm `relay-checks-late`',
  },
  {
    what: '`storeRequestsPerSecond`, if one store sends all of them',
    has: setting('storeRequestsPerSecond'),
    needs: rate => rate * REQUESTS,
    remedy: 'raise it; the alarm `relay-store-throttled`',
  },
  {
    what: '`requestsPerSecond` of each route',
    has: setting('requestsPerSecond'),
    needs: rate => rate * Math.max(REQUESTS, WEBHOOKS),
    remedy: 'raise it and `requestsAtOnce`; the alarm `relay-requests-throttled`',
  },
  {
    what: '`workerConcurrency`',
    has: setting('workerConcurrency'),
    needs: workers,
    remedy: 'raise it; the alarm `relay-queue-age`',
  },
  {
    what: 'calls to the accounting service at a time, ten for each worker',
    has: BATCH * setting('workerConcurrency'),
    needs: rate => rate * (REQUESTS + CHECKS) * CALL,
    remedy: 'agree with its operator before `workerConcurrency` is raised',
  },
  {
    what: 'write units of the orders of one store with ascending order numbers',
    has: PARTITION_UNITS,
    needs: rate => rate * SAVES,
    remedy: 'spread the store over several sources',
  },
  {
    what: 'write units of a new table: orders, history',
    has: NEW_TABLE_UNITS,
    needs: rate => rate * SAVES,
    remedy: 'warm throughput before the traffic; the quota is 40,000',
  },
  {
    what: 'concurrent executions of the account',
    has: LAMBDA,
    needs: environments,
    remedy: 'a quota, on request',
  },
  {
    what: 'write units of the history of one store',
    has: PARTITION_UNITS * partitionsOf('').length,
    needs: rate => rate * SAVES,
    remedy: 'orders continue without entries; the alarm `relay-history-throttled`',
  },
  {
    what: 'requests of the HTTP API of the account',
    has: HTTP_API,
    needs: rate => rate * (REQUESTS + WEBHOOKS),
    remedy: 'a quota, on request',
  },
  {
    what: 'SendMessage calls to the order queue (Frankfurt)',
    has: FIFO_SENDS,
    needs: rate => rate * (REQUESTS + WEBHOOKS + CHECKS),
    remedy: 'another region or a quota',
  },
  {
    what: 'write units of the index of the bulk queue, in an import',
    has: PARTITION_UNITS * BULK_SHARDS.length,
    needs: rate => rate * INDEXED,
    remedy: 'more partitions (`lib/orders/repository.ts`)',
  },
  {
    what: 'reads of Parameter Store, once a minute in each environment',
    has: PARAMETER_READS,
    needs: rate => environments(rate) / 60,
    remedy: '[higher throughput](operate.md#quotas)',
  },
  {
    what: 'write units of the index of unsettled orders',
    has: PARTITION_UNITS * SHARDS.length,
    needs: rate => rate * (0.05 * INDEXED + CHECKS),
    remedy: 'more partitions (`lib/orders/repository.ts`)',
  },
]

const RATES = [1, 10, 100, 1000]
const shown = (value: number) =>
  value >= 10 ? Math.ceil(value - 1e-9).toLocaleString('en') : String(Number(value.toPrecision(2)))

/** A row for each limit, sorted by the number of orders a second at which it is reached. */
export const loadTable = (): string => {
  const rows = LIMITS.map(limit => ({ ...limit, met: limit.has / limit.needs(1) }))
    .toSorted((a, b) => a.met - b.met)
    .map(({ what, has, needs, met, remedy }) => {
      const cells = RATES.map(rate => (needs(rate) > has ? `**${shown(needs(rate))}**` : shown(needs(rate))))
      return `| ${[what, shown(has), ...cells, Math.floor(met).toLocaleString('en'), remedy].join(' | ')} |`
    })
  return [
    `| limit | as shipped | ${RATES.map(rate => rate.toLocaleString('en')).join(' | ')} | reached at | above it |`,
    `|${'---|'.repeat(RATES.length + 4)}`,
    ...rows,
  ].join('\n')
}

if (import.meta.main) console.log(loadTable())
