import { fork } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { paginateScan } from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import { feedQueueName, QUEUES, TABLES } from '../../lib/platform/names.ts'
import { MAX_BODY_BYTES } from '../../lib/protocol/json.ts'
import { STATUSES } from '../../lib/protocol/status.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import { urlOf } from '../../local/settings.ts'
import { type ReceivedMessage, readFeedMessage } from '../oracle.ts'
import { startBackends } from './backends.ts'
import { chance, pick } from './chance.ts'
import { type Link, noFaults } from './faults.ts'
import type { FloodMessage, FloodSettings } from './flood-functions.ts'
import { deliveryOf, KINDS, kindIn, signatureOf, type Webhook, webhookOf } from './flood-webhooks.ts'
import { newJournal } from './journal.ts'
import { startProxy } from './proxy.ts'
import { startQueueStore } from './stores.ts'
import { NOT_CONSUMED } from './violations.ts'

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
const CALLS_OF = { '200 queued': 3, '200 duplicate': 1 } as const

const SOURCE = 'shop'
const BACKLOG = 200
const ATTEMPTS = 20
const HEAP_GROWTH_MAX = 0.2
/** Below a minute nothing can be said of memory: code is still being compiled. */
const HEAP_SAMPLES_MIN = 30

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
  return { ...(await ready.promise), heap, failures, stop: () => child.disconnect() }
}

const quantile = (values: readonly number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]

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
  const journal = newJournal()
  const calls: Record<string, number> = {}
  const answers: Record<string, number> = {}
  const violations: string[] = []
  try {
    // Counts calls only: the story of so many requests would fill the memory.
    journal.note = () => undefined
    const { passing } = journal
    journal.passing = (link, request, body) => {
      const passed = passing(link, request, body)
      // A retry of the SDK is the machine's slowness, not another call.
      if (!/attempt=[^1]/.test(String(request.headers['amz-sdk-request'])))
        increment(calls, `${link}: ${passed.action || 'request'} for ${kindIn(body)}`)
      return passed
    }
    const proxies: Record<string, string> = {}
    const { dynamodb, sqs, ssm, sandbox } = backends.ports
    const counted: [Link, number][] = [
      ...[dynamodb, sqs, ssm].map((port): [Link, number] => ['webhook to AWS', port]),
      ['worker to service', sandbox],
    ]
    for (const [link, to] of counted) {
      const proxy = await startProxy({
        link,
        to,
        faults: noFaults,
        journal,
        patience: Number.POSITIVE_INFINITY,
      })
      closing.push(proxy.close)
      proxies[`${link} ${to}`] = proxy.url
    }
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

    const expected = new Map<string, { delivery: string; data: object }[]>()
    let orders = 0
    /** One order after the other, each change once the one before was answered, as the service sends them. */
    const lane = async () => {
      let last: Webhook | undefined
      while (sent < deliveries) {
        const number = orders++
        const external_id = `سفارش ${number}`
        const statuses = STATUSES.filter(status => chance(seed, number, status) < 0.6)
        if (statuses.length === 0) continue
        const changes: { delivery: string; data: object }[] = []
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

    for (const [external_id, changes] of expected) {
      const feed = (feeds.get(external_id) ?? []).map(({ delivery, version, data }) => ({
        delivery,
        version,
        data,
      }))
      if (
        !isDeepStrictEqual(
          feed,
          changes.map((change, index) => ({ ...change, version: index + 1 })),
        )
      )
        violations.push(`${external_id}: the feed has ${feed.length} of ${changes.length} changes, or others`)
      const stored = await backends.stored({ source: SOURCE, external_id })
      const { version, result, doubt, intents } = stored?.order ?? {}
      if (
        !isDeepStrictEqual(
          [version, result, doubt, intents],
          [changes.length, changes.at(-1)?.data, false, {}],
        )
      )
        violations.push(
          `${external_id}: the table has version ${version} and not ${changes.length}, or another result`,
        )
    }
    if (received !== due) violations.push(`the feed has ${received} messages, and ${due} changes were sent`)
    let recorded = 0
    for await (const { Count = 0 } of paginateScan(
      { client: backends.dynamodb },
      { TableName: TABLES.deliveries, Select: 'COUNT' },
    ))
      recorded += Count
    if (recorded !== due) violations.push(`${recorded} deliveries are recorded, not ${due}`)
    for (const name of [...NOT_CONSUMED, QUEUES.orders, feedQueueName(SOURCE)])
      if ((await backends.depth(name)) > 0) violations.push(`something is in ${name}`)

    const callsFor = (kind: string) =>
      ['GetItem', 'SendMessage', 'PutItem'].reduce(
        (sum, action) => sum + (calls[`webhook to AWS: ${action} for ${kind}`] ?? 0),
        0,
      )
    for (const { kind, answers: allowed } of KINDS) {
      const given = Object.entries(answers).filter(([name]) => name.startsWith(`${kind}: `))
      for (const [name, count] of given)
        if (!allowed.some(each => name === `${kind}: ${each}`)) violations.push(`${count} times ${name}`)
    }
    // A duplicate is named by its first delivery; after a 503 a call may have been made all the same.
    const cost = KINDS.reduce((sum, { kind }) => sum + callsFor(kind), 0)
    const dueCost = Object.entries(answers).reduce((sum, [name, count]) => {
      const each = Object.entries(CALLS_OF).find(([end]) => name.endsWith(end))?.[1] ?? 0
      return sum + each * count
    }, 0)
    if (cost < dueCost || cost > dueCost + 3 * unavailable)
      violations.push(`the receiver made ${cost} calls to DynamoDB and SQS, not ${dueCost}`)
    for (const name of Object.keys(calls)) {
      const isKnown = /^webhook to AWS: (GetParametersByPath for none|\w+ for (first|twin))$/.test(name)
      if (!isKnown) violations.push(`${calls[name]} times ${name}`)
    }
    const reads = calls['webhook to AWS: GetParametersByPath for none'] ?? 0
    // At the start, when they are a minute old, and once a minute after a mismatch.
    if (reads > 1 + 2 * Math.ceil(seconds / 60)) violations.push(`the secrets were read ${reads} times`)

    const { heap, failures } = functions
    const quarter = (part: number) =>
      quantile(heap.slice((heap.length * part) / 4, (heap.length * (part + 1)) / 4), 0.5) ?? Number.NaN
    const growth = heap.length < HEAP_SAMPLES_MIN ? undefined : quarter(3) / quarter(1) - 1
    if (growth !== undefined && growth > HEAP_GROWTH_MAX)
      violations.push(`the functions' memory grew by ${Math.round(growth * 100)} %`)
    violations.push(...failures)
    return {
      ...{ seed, deliveries: sent, orders, changes: due, received, seconds: Math.round(seconds) },
      ...{ answers, calls, secretsRead: reads, unavailable, heapGrowth: growth, violations },
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
