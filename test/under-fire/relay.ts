import type { IncomingMessage } from 'node:http'
import { SQSClient } from '@aws-sdk/client-sqs'
import { jest } from '@jest/globals'
import * as v from 'valibot'
import { CREDENTIALS } from '../../local/settings.ts'
import { SECRETS_PATH } from '../../proof/flood/provision.ts'
import { loadFunction } from '../../proof/flood/settings.ts'
import type { Kind, Link } from '../../proof/storm/faults.ts'
import { startServer } from '../../proof/storm/fronts.ts'
import { newJournal } from '../../proof/storm/journal.ts'
import type { Promised } from '../../proof/storm/live.ts'
import type { Life } from '../../proof/storm/lives.ts'
import { namer } from '../../proof/storm/names.ts'
import { keyOfStore, REGION, type Source, startParts } from '../../proof/storm/parts.ts'
import { startProxy } from '../../proof/storm/proxy.ts'
import { sandboxClient } from '../../proof/storm/service.ts'
import { newEars, startWeb } from '../../proof/storm/stores.ts'
import { complaintsAbout } from '../../proof/storm/verify.ts'
import { until } from '../support/until.ts'
import { hearAlarms } from './alarms.ts'
import { hand, received, remove } from './hand.ts'

/** Longer than any message of the line waits, and than Lambda keeps a secret. */
const A_WHILE_MS = 16 * 60 * 1000

/** Everything but the time of day is real: servers, connections, the service's timers. */
const NOT_FAKE = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
]

/** What strikes a request; most are not struck. */
export type Trouble = (link: Link, name: string) => Kind | undefined

const answered = v.object({
  statusCode: v.number(),
  body: v.pipe(v.string(), v.parseJson(), v.looseObject({})),
})

/** A request as API Gateway hands it to a function. */
const eventOf = ({ method, url = '', headers }: IncomingMessage, body: Buffer) => {
  const { pathname, searchParams } = new URL(url, 'http://relay')
  return {
    version: '2.0',
    rawPath: pathname,
    pathParameters: { proxy: pathname.replace('/api/v1/orders/', '') },
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    queryStringParameters: Object.fromEntries(searchParams),
    requestContext: { http: { method, path: pathname }, stage: '$default' },
    body: body.toString('utf8'),
    isBase64Encoded: false,
  }
}

/** The feed of the store "web"; its address is known when it listens. */
const feed = { http: '', disable_after: 24 * 60 * 60 }
jest.unstable_mockModule('../../stores.yml', () => ({
  default: [
    { source: 'shop', feed: 'sqs' },
    { source: 'web', feed },
  ],
}))

/** Environments of functions that were loaded so far: each is a module of its own. */
let loaded = 0

/**
 * The functions themselves, between the sandbox, two stores and the embedded parts of AWS, with a proxy on every
 * link. The time of day is ours, so hours pass at a word.
 */
const startRelay = async ({ deployments = 1 } = {}) => {
  jest.useFakeTimers({ doNotFake: NOT_FAKE, advanceTimers: true })
  const began = Date.now()
  const alarms = hearAlarms(() => Date.now() - began)
  const closing: (() => unknown)[] = [() => jest.useRealTimers()]
  const journal = newJournal()
  const name = namer()
  const ears = newEars()
  let trouble: Trouble = () => undefined

  const parts = await startParts({ visibility: 180 })
  closing.push(parts.close)
  const { ports, queueUrl, line, waiting, keep } = parts
  const sandbox = sandboxClient(parts.sandbox.url)
  const aws = { region: REGION, credentials: CREDENTIALS, maxAttempts: 1 }

  const through = async (link: Link, to: number) => {
    const proxy = await startProxy({
      link,
      to,
      weather: request => {
        const kind = trouble(link, request.name)
        return kind && { ...request, kind, ms: 0 }
      },
      name,
      journal,
    })
    closing.push(proxy.close)
    return proxy.url
  }
  const sqs = new SQSClient({ ...aws, endpoint: await through('event source to SQS', ports.sqs) })

  const web = await startWeb(ears)
  closing.push(web.close)
  feed.http = await through('feeder to store', web.port)

  /** Loads a function as a new environment of Lambda does. */
  const load = async (file: string, link: Link, seconds: number) => {
    Object.assign(process.env, {
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: await through(link, ports.dynamodb),
      AWS_ENDPOINT_URL_SQS: await through(link, ports.sqs),
      AWS_ENDPOINT_URL_SSM: await through(link, ports.ssm),
      ACCOUNTING_URL: await through('worker to service', ports.sandbox),
      DELIVERIES_TABLE: 'deliveries',
      ORDERS_TABLE: 'orders',
      LINE_URL: line,
      QUARANTINE_URL: queueUrl('quarantine'),
      FEEDS_DEAD_URL: parts.feedsDead,
      SECRETS_PATH,
    })
    const { href } = new URL(`../../functions/${file}.ts?environment=${++loaded}`, import.meta.url)
    return loadFunction(href, seconds)
  }
  const several = async (file: string, link: Link, seconds: number) => {
    const all = []
    for (let count = 0; count < deployments; count++) all.push(await load(file, link, seconds))
    return all
  }
  /** A door hands each request to all deployments at once, and says what the last of them says. */
  const door = async (file: string, link: Link) => {
    let all: Awaited<ReturnType<typeof several>> = []
    const server = await startServer(async (request, body) => {
      const answers = await Promise.all(all.map(run => run(eventOf(request, body))))
      const { statusCode, body: said } = v.parse(answered, answers.at(-1))
      return { status: statusCode, body: said }
    })
    closing.push(server.close)
    const open = async () => {
      all = await several(file, link, 9)
    }
    return { port: server.port, open }
  }

  const webhook = await door('webhook', 'webhook to AWS')
  const webhookUrl = `${await through('service to relay', webhook.port)}/webhook`
  const secret = await sandbox.registerWebhook(webhookUrl)
  await parts.provision(secret)
  await webhook.open()
  const orders = await door('orders', 'api to AWS')
  await orders.open()
  const api = await through('store to relay', orders.port)
  const workers = await several('worker', 'worker to AWS', 30)
  const feeders = await several('feeder', 'feeder to AWS', 120)
  const checks = await several('reconcile', 'reconcile to AWS', 60)

  /** Everything that can go on now does, until nothing moves. */
  const work = async () => {
    for (let moved = 1; moved > 0; ) {
      const handed = await Promise.all([
        ...workers.map(run => hand(sqs, line, run)),
        ...feeders.map(run => hand(sqs, queueUrl('feed-web.fifo'), run)),
      ])
      const shop = queueUrl('feed-shop.fifo')
      const news = await received(sqs, shop)
      for (const { Body = '' } of news) ears.hear(Body)
      await remove(sqs, shop, news)
      moved = handed.reduce((sum, count) => sum + count, news.length)
    }
  }
  const pass = (milliseconds: number) => void jest.setSystemTime(Date.now() + milliseconds)

  const pending = async (lives: readonly Life[]) => {
    const all = await Promise.all(lives.map(({ id }) => sandbox.webhooks(id)))
    return all.flat().filter(({ state }) => state === 'pending')
  }
  /** The next attempt of every webhook. The timers of the service know nothing of the time that has passed. */
  const serviceTriesAgain = async (lives: readonly Life[]) => {
    for (const { delivery } of await pending(lives)) await sandbox.resendDelivery(delivery)
  }
  /** Time passes until no webhook and no message waits any more. */
  const settle = async (lives: readonly Life[]) =>
    until(async () => {
      await work()
      pass(A_WHILE_MS)
      await serviceTriesAgain(lives)
      await work()
      for (const queue of ['order-line.fifo', 'feed-web.fifo', 'feed-shop.fifo'])
        if ((await waiting(queue)) > 0) return false
      return (await pending(lives)).length === 0
    })

  return {
    alarms,
    ears,
    keep,
    parts,
    pass,
    sandbox,
    secret,
    serviceTriesAgain,
    settle,
    /** How many webhooks about these orders the service has still to deliver. */
    undelivered: async (lives: readonly Life[]) => (await pending(lives)).length,
    waiting,
    webhookUrl,
    work,
    /** How many requests have passed a link. */
    requests: (link: Link) => journal.requests.get(link) ?? 0,
    check: () => Promise.all(checks.map(run => run({}))),
    /** From now on requests are struck, until the next word. */
    suffers(next: Trouble) {
      trouble = next
    },
    recovers() {
      trouble = () => undefined
    },
    /** A store asks the relay once; answers with the status, 0 when the connection broke. */
    async ask(method: 'GET' | 'POST', source: Source, path: string, body?: object): Promise<number> {
      const response = await fetch(
        `${api}/api/v1/orders/${path}${method === 'GET' ? `?source=${source}` : ''}`,
        {
          method,
          headers: { authorization: `Bearer ${keyOfStore(source)}` },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        },
      ).catch(() => undefined)
      await response?.body?.cancel()
      return response?.status ?? 0
    },
    /** What is not as it should be: service, table and store are compared, and nothing may be put aside. */
    async complaints(lives: readonly (Life & { promised: Promised })[]): Promise<string[]> {
      const seen = { parts, sandbox, ears, journal }
      const found = []
      for (const life of lives) found.push(...(await complaintsAbout(life, life.promised, seen)))
      for (const queue of ['order-line-dead.fifo', 'feeds-dead.fifo', 'quarantine'])
        if ((await waiting(queue)) > 0) found.push(`something is in ${queue}`)
      return found
    },
    async close() {
      for (const stop of closing.reverse()) await stop()
      sqs.destroy()
    },
  }
}

export type Relay = Awaited<ReturnType<typeof startRelay>>

/** Lets a story happen to a relay that begins empty. */
export const withRelay = async (
  story: (relay: Relay) => Promise<void>,
  options: { deployments?: number } = {},
): Promise<void> => {
  const relay = await startRelay(options)
  try {
    await story(relay)
  } finally {
    await relay.close()
  }
}
