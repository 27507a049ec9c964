import { fork } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import * as v from 'valibot'
import { feedQueueName, QUEUES } from '../../lib/platform/names.ts'
import { MAX_BODY_BYTES } from '../../lib/protocol/json.ts'
import { STATUSES } from '../../lib/protocol/status.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import { urlOf } from '../../local/settings.ts'
import { type ReceivedMessage, readFeedMessage } from '../oracle.ts'
import { type Backends, startBackends } from './backends.ts'
import { chance, pick } from './chance.ts'
import { type Link, noFaults } from './faults.ts'
import type { FloodMessage, FloodSettings } from './flood-functions.ts'
import { type Change, changeViolations, costViolations, heapGrowth, quantile } from './flood-violations.ts'
import { deliveryOf, KINDS, kindIn, signatureOf, type Webhook, webhookOf } from './flood-webhooks.ts'
import { newJournal } from './journal.ts'
import { startProxy } from './proxy.ts'
import { startQueueStore } from './stores.ts'

const USAGE = `Sends many webhooks to the receiver and checks that every change reached its store once, at the known cost.

  --deliveries N   number of webhooks (default: 10000)
  --seed N         determines them (default: 1)
  --lanes N        requests under way at once (default: 8)
  --bug NAME       plant this bug of test/crash/bugs.ts; it should be found
  --help           show this help

Writes reports/flood-<seed>.json. Exit code: 0 everything holds, 1 something is violated, 2 usage error.
`

/** Changes of orders among a hundred webhooks; the rest is shared by weight. */
const CHANGES = 60
const BESIDES = KINDS.filter(({ kind }) => !['first', 'twin'].includes(kind)) as [
  (typeof KINDS)[number],
  ...(typeof KINDS)[number][],
]

const SOURCE = 'shop'
const BACKLOG = 200
const ATTEMPTS = 20
const HEAP_GROWTH_MAX = 0.2

const increment = (counts: Record<string, number>, name: string) => {
  counts[name] = (counts[name] ?? 0) + 1
}

const answer = v.pipe(
  v.string(),
  v.parseJson(),
  v.union([
    v.pipe(
      v.object({ status: v.string() }),
      v.transform(({ status }) => status),
    ),
    v.pipe(
      v.object({ error: v.object({ code: v.string() }) }),
      v.transform(({ error }) => error.code),
    ),
  ]),
)

/** Starts the functions in a process of their own and collects what they tell. */
const startFunctions = async (settings: FloodSettings) => {
  const child = fork(join(import.meta.dirname, 'flood-functions.ts'), [JSON.stringify(settings)], {
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
  })
  const heap: number[] = []
  const failures: string[] = []
  const ready = Promise.withResolvers<{ webhookPort: number; secret: string }>()
  child.on('message', (message: FloodMessage) => {
    if ('heap' in message) heap.push(message.heap)
    else if ('failure' in message) failures.push(message.failure)
    else ready.resolve(message)
  })
  child.on('exit', code => ready.reject(new Error(`The functions ended with exit code ${code}`)))
  return { ...(await ready.promise), heap, failures, stop: () => child.connected && child.disconnect() }
}

/** Proxies that count the receiver's calls to AWS, by what they were made for, and calls to the service. */
const startCounting = async (
  { ports: { dynamodb, sqs, ssm, sandbox } }: Backends,
  closing: (() => unknown)[],
) => {
  const journal = newJournal()
  const calls: Record<string, number> = {}
  const { passing } = journal
  // The story of so many requests would fill the memory.
  journal.note = () => undefined
  journal.passing = (link, request, body) => {
    const passed = passing(link, request, body)
    // A retry of the SDK is the machine's slowness, not another call.
    if (!/attempt=[^1]/.test(String(request.headers['amz-sdk-request'])))
      increment(calls, `${link}: ${passed.action || 'request'} for ${kindIn(body)}`)
    return passed
  }
  const proxies: Record<string, string> = {}
  const counted: [Link, number][] = [
    ...[dynamodb, sqs, ssm].map((port): [Link, number] => ['webhook to AWS', port]),
    ['worker to service', sandbox],
  ]
  for (const [link, to] of counted) {
    const options = { link, to, faults: noFaults, journal, patience: Number.POSITIVE_INFINITY }
    const proxy = await startProxy(options)
    closing.push(proxy.close)
    proxies[`${link} ${to}`] = proxy.url
  }
  return { calls, proxies }
}

type Options = {
  deliveries: number
  seed: number
  lanes: number
  bug: string | undefined
  progress: (text: string) => void
}

const flood = async ({ deliveries, seed, lanes, bug, progress }: Options) => {
  const backends = await startBackends()
  const closing: (() => unknown)[] = [backends.close]
  const answers: Record<string, number> = {}
  try {
    const { calls, proxies } = await startCounting(backends, closing)
    const functions = await startFunctions({ ports: backends.ports, proxies, bug })
    closing.push(functions.stop)

    const feeds = new Map<string, ReceivedMessage[]>()
    const latencies: number[] = []
    let received = 0
    const receive = (body: string) => {
      const message = readFeedMessage(body)
      const { external_id, sent_at } = message.data
      feeds.set(external_id, [...(feeds.get(external_id) ?? []), message])
      latencies.push(Date.now() - Number(sent_at))
      received++
    }
    const queue = backends.queueUrl(feedQueueName(SOURCE))
    closing.push(startQueueStore(backends.sqs, queue, { receive }).close)

    let sent = 0
    let unavailable = 0
    const send = async ({ kind, delivery, body: text }: Webhook) => {
      const body = kind === 'too large' ? text + ' '.repeat(MAX_BODY_BYTES) : text
      sent++
      for (let attempt = 1; ; attempt++) {
        const response = await fetch(`${urlOf(functions.webhookPort)}/webhook`, {
          method: 'POST',
          headers: {
            [HEADERS.event]: ORDER_UPDATED,
            [HEADERS.delivery]: delivery,
            [HEADERS.signature]: signatureOf(kind, functions.secret, body),
          },
          body,
        }).catch(() => undefined)
        if (response !== undefined && response.status < 500)
          return increment(answers, `${kind}: ${response.status} ${v.parse(answer, await response.text())}`)
        unavailable++
        if (attempt === ATTEMPTS) throw new Error(`A ${kind} was never answered`)
        await sleep(100 * attempt)
      }
    }

    const expected = new Map<string, Change[]>()
    let orders = 0
    /** One order after the other, each change once the one before was answered, as the service sends them. */
    const lane = async () => {
      let last: Webhook | undefined
      while (sent < deliveries) {
        const number = orders++
        const external_id = `سفارش ${number}`
        const statuses = STATUSES.filter(status => chance(seed, number, status) < 0.6)
        if (statuses.length === 0) continue
        const changes: Change[] = []
        expected.set(external_id, changes)
        for (const [step, status] of statuses.entries()) {
          const kind = chance(seed, number, step, 'twin') < 4 / 62 ? 'twin' : 'first'
          const data = {
            ...{ source: SOURCE, external_id, status, status_display: `وضعیت: ${status}` },
            ...{ total: String(number * 1000), invoice_number: number, error: null, sent_at: Date.now() },
          }
          const webhook = webhookOf(kind, deliveryOf(kind, seed, number, step), data)
          changes.push({ delivery: webhook.delivery, data })
          await (kind === 'twin' ? Promise.all([send(webhook), send(webhook)]) : send(webhook))
          last = webhook
          for (let more = 0; chance(seed, number, step, 'besides', more) < 1 - CHANGES / 100; more++) {
            const besides = pick(BESIDES, chance(seed, number, step, 'kind', more)).kind
            const unwanted = { ...data, status: 'refunded' }
            if (besides === 'duplicate') await send({ ...last, kind: 'duplicate' })
            else
              await send(
                webhookOf(
                  besides,
                  deliveryOf(besides, seed, number, step, more),
                  besides === 'foreign source' ? { ...unwanted, source: 'elsewhere' } : unwanted,
                ),
              )
          }
        }
        while ((await backends.depth(QUEUES.orders)) > BACKLOG) await sleep(50)
        progress(`${sent} of ${deliveries} sent, ${received} received `)
      }
    }
    const began = performance.now()
    await Promise.all(Array.from({ length: lanes }, lane))
    const due = [...expected.values()].reduce((sum, changes) => sum + changes.length, 0)
    for (let moved = performance.now(), before = -1; received < due; await sleep(50)) {
      if (received !== before) moved = performance.now()
      before = received
      if (performance.now() - moved > 30_000) break
    }
    const seconds = (performance.now() - began) / 1000
    while ((await backends.depth(QUEUES.orders)) > 0 && performance.now() - began < (seconds + 10) * 1000)
      await sleep(50)

    const { heap, failures } = functions
    const growth = heapGrowth(heap)
    const violations = [
      ...(await changeViolations(backends, SOURCE, expected, feeds)),
      ...costViolations({ answers, calls, unavailable, seconds }),
      ...(growth !== undefined && growth > HEAP_GROWTH_MAX
        ? [`the functions' memory grew by ${Math.round(growth * 100)} %`]
        : []),
      ...failures,
    ]
    return {
      ...{ seed, deliveries: sent, orders, changes: due, received, seconds: Math.round(seconds) },
      ...{ answers, calls, unavailable, heapGrowth: growth, violations },
      latencyMs: { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) },
    }
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

const numbers = v.object({
  deliveries: v.pipe(v.string(), v.regex(/^[1-9]\d{0,6}$/, 'use a whole number'), v.transform(Number)),
  seed: v.pipe(v.string(), v.regex(/^[1-9]\d{0,9}$/, 'use a whole number'), v.transform(Number)),
  lanes: v.pipe(v.string(), v.regex(/^[1-9]\d{0,2}$/, 'use a whole number'), v.transform(Number)),
})

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      deliveries: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
      lanes: { type: 'string', default: '8' },
      bug: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const options = v.safeParse(numbers, values)
  if (!options.success) {
    const [issue] = options.issues
    process.stderr.write(`Cannot run: --${v.getDotPath(issue)} is "${issue.input}"; ${issue.message}\n`)
    return 2
  }
  const result = await flood({
    ...options.output,
    bug: values.bug,
    progress: text => process.stderr.isTTY && process.stderr.write(`\r\u001B[K${text}`),
  })
  const file = `reports/flood-${result.seed}.json`
  await mkdir('reports', { recursive: true })
  await writeFile(file, `${JSON.stringify(result, null, 2)}\n`)
  const { deliveries, changes, received, seconds, violations } = result
  for (const violation of violations.slice(0, 20)) process.stdout.write(`✗ ${violation}\n`)
  process.stdout.write(
    `${violations.length === 0 ? 'agreed' : 'violated'}: ${deliveries} webhooks, ${received} of ${changes} changes ` +
      `received, ${seconds} s; see ${file}\n`,
  )
  return violations.length === 0 ? 0 : 1
}

process.exitCode = await main()
