import { SQSClient } from '@aws-sdk/client-sqs'
import type { SQSEvent } from 'aws-lambda'
import { lineProducer } from '../../lib/line/producer.ts'
import { reconcile } from '../../lib/reconcile/reconcile.ts'
import { unsettledIndex } from '../../lib/reconcile/unsettled.ts'
import { startEventSource } from '../../local/event-source.ts'
import { CREDENTIALS } from '../../local/functions-environment.ts'
import type { Bug } from '../crash/world.ts'
import { clientsAt, type Endpoints } from './clients.ts'
import { calm, type Link, type Weather } from './faults.ts'
import { startApiFront, startWebhookFront } from './fronts.ts'
import { feederFunction, type Run, workerFunction } from './functions.ts'
import { namer } from './names.ts'
import type { Pace } from './pace.ts'
import { REGION, startParts } from './parts.ts'
import { newJournal, startProxy } from './proxy.ts'
import { sandboxClient } from './service.ts'
import { newEars, requester, startShop, startWeb } from './stores.ts'

export type StormBug = Pick<Bug, 'webhook' | 'worker'>

/** Two deployments of the worker are at work at once, as in the minutes of an exchange. */
const WORKERS = 2
const DAY_SECONDS = 24 * 60 * 60

/** Starts all parts, the relay's functions between them, and a proxy between every two. */
export const assemble = async ({
  weather,
  pace,
  bug = {},
}: {
  weather: Weather
  pace: Pace
  bug?: StormBug
}) => {
  const closing: (() => unknown)[] = []
  const close = async () => {
    for (const stop of closing.reverse()) await stop()
  }
  const journal = newJournal()
  const name = namer()
  let current = weather
  let longest = 0

  const parts = await startParts(pace)
  closing.push(parts.close)
  const sandbox = sandboxClient(parts.sandbox.url)
  const ears = newEars()

  const through = async (link: Link, to: number) => {
    const proxy = await startProxy({ link, to, weather: request => current(request), name, journal })
    closing.push(proxy.close)
    return proxy.url
  }
  const clientsThrough = async (link: Link) => {
    const { dynamodb, sqs, ssm } = parts.ports
    const endpoints: Endpoints = {
      dynamodb: await through(link, dynamodb),
      sqs: await through(link, sqs),
      ssm: await through(link, ssm),
    }
    return clientsAt(endpoints, pace.awsTimeout)
  }

  /** A function as Lambda runs it: it can die before it begins, and after it has done all. */
  const invoked = (run: Run) => {
    const counts = new Map<string, number>()
    return async (event: SQSEvent) => {
      const link = 'event source to function'
      const about = `invoke ${name({ method: '', url: '', headers: {} }, event.Records[0]?.body ?? '').trim()}`
      const count = (counts.get(about) ?? 0) + 1
      counts.set(about, count)
      const fault = current({ link, name: about, count })
      if (fault !== undefined) journal.faults.push(fault)
      if (fault?.kind === 'reset before') throw new Error('The function died before it began')
      const began = performance.now()
      const answer = await run(event)
      longest = Math.max(longest, performance.now() - began)
      if (fault !== undefined) throw new Error('The function died before it answered')
      return answer
    }
  }
  const feed = async (queue: string, run: Run) => {
    const endpoint = await through('event source to SQS', parts.ports.sqs)
    const sqs = new SQSClient({ region: REGION, credentials: CREDENTIALS, endpoint, maxAttempts: 1 })
    const { stop } = startEventSource({
      sqs,
      queue: { url: parts.queueUrl(queue), arn: queue, region: REGION },
      batchSize: 10,
      reportsFailures: true,
      invoke: event => invoked(run)(event as SQSEvent),
      onError: () => undefined,
    })
    closing.push(() => sqs.destroy(), stop)
  }

  try {
    const webhook = await startWebhookFront(
      await clientsThrough('webhook to AWS'),
      parts,
      bug.webhook ?? (same => same),
    )
    closing.push(webhook.close)
    await parts.provision(
      await sandbox.registerWebhook(`${await through('service to relay', webhook.port)}/webhook`),
    )

    const api = await startApiFront(await clientsThrough('api to AWS'), parts)
    closing.push(api.close)
    const request = requester(await through('store to relay', api.port))

    for (let count = 0; count < WORKERS; count++) {
      const serviceUrl = await through('worker to service', parts.ports.sandbox)
      const tampering = bug.worker ?? (same => same)
      const clients = await clientsThrough('worker to AWS')
      await feed('order-line.fifo', workerFunction(clients, parts, { serviceUrl, pace, tampering }))
    }
    const web = await startWeb(ears)
    closing.push(web.close)
    const storeUrl = await through('feeder to store', web.port)
    await feed(
      'feed-web.fifo',
      feederFunction(await clientsThrough('feeder to AWS'), parts, { storeUrl, pace }),
    )
    const shop = startShop(parts, ears)
    closing.push(shop.close)

    const { dynamodb, sqs } = await clientsThrough('reconcile to AWS')
    let days = 0
    /** One run of the reconciliation; every run is a day later than the one before, so that all are due. */
    const check = () =>
      reconcile({
        unsettled: unsettledIndex(dynamodb, 'orders'),
        enqueue: lineProducer(sqs, parts.line),
        now: () => Math.floor(Date.now() / 1000) + ++days * 3 * DAY_SECONDS,
        random: Math.random,
      })
    return {
      parts,
      sandbox,
      ears,
      request,
      journal,
      check,
      calmDown: () => {
        current = calm
      },
      longestRun: () => longest,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

export type Assembled = Awaited<ReturnType<typeof assemble>>
