import { SQSClient } from '@aws-sdk/client-sqs'
import type { SQSEvent } from 'aws-lambda'
import { lineProducer } from '../../lib/line/producer.ts'
import { reconcile } from '../../lib/reconcile/reconcile.ts'
import { unsettledIndex } from '../../lib/reconcile/unsettled.ts'
import { startEventSource } from '../../local/event-source.ts'
import { CREDENTIALS } from '../../local/settings.ts'
import type { Bug } from '../crash/world.ts'
import { changeOf, misread } from './bug.ts'
import { type Change, clientsAt, type Endpoints } from './clients.ts'
import { calm, type Link, type Weather } from './faults.ts'
import { startApiFront, startWebhookFront } from './fronts.ts'
import { feederFunction, type Run, workerFunction } from './functions.ts'
import { newJournal } from './journal.ts'
import { namer, orderIn } from './names.ts'
import { hearDeletion } from './overheard.ts'
import type { Pace } from './pace.ts'
import { REGION, startParts } from './parts.ts'
import { startProxy } from './proxy.ts'
import { sandboxClient } from './service.ts'
import { newEars, requester, startShop, startWeb } from './stores.ts'
import { intruder } from './strangers.ts'

/** Two deployments of the worker are at work at once, as in the minutes of an exchange. */
const WORKERS = 2
const DAY_SECONDS = 24 * 60 * 60

/** Starts all parts, the relay's functions between them, and a proxy between every two. */
export const assemble = async ({ weather, pace, bug = {} }: { weather: Weather; pace: Pace; bug?: Bug }) => {
  const closing: (() => unknown)[] = []
  const over = new AbortController()
  const close = async () => {
    over.abort()
    for (const stop of closing.reverse()) await stop()
  }
  const journal = newJournal()
  const name = namer()
  let current = weather

  const parts = await startParts(pace)
  closing.push(parts.close)
  const sandbox = sandboxClient(parts.sandbox.url)
  const ears = newEars()

  const through = async (link: Link, to: number) => {
    const patience = link === 'feeder to store' ? pace.serviceTimeout : pace.awsTimeout
    const proxy = await startProxy({
      link,
      to,
      weather: request => current(request),
      name,
      journal,
      patience,
    })
    closing.push(proxy.close)
    return proxy.url
  }
  const clientsThrough = async (link: Link, change?: Change) => {
    const { dynamodb, sqs, ssm } = parts.ports
    const endpoints: Endpoints = {
      dynamodb: await through(link, dynamodb),
      sqs: await through(link, sqs),
      ssm: await through(link, ssm),
    }
    return clientsAt(endpoints, pace.awsTimeout, change)
  }

  const queuesThrough = async (link: Link) => {
    const endpoint = await through(link, parts.ports.sqs)
    const sqs = new SQSClient({ region: REGION, credentials: CREDENTIALS, endpoint, maxAttempts: 1 })
    closing.push(() => sqs.destroy())
    return sqs
  }

  const timed =
    (run: Run): Run =>
    async event => {
      journal.underWay++
      const began = performance.now()
      try {
        return await run(event)
      } finally {
        journal.underWay--
        const took = Math.round(performance.now() - began)
        const slow = `a function ran for ${took} ms, and its messages were out for ${pace.visibility * 1000}`
        if (took > pace.visibility * 1000)
          for (const { body } of event.Records) journal.tooSlow.set(orderIn(body), slow)
      }
    }
  /** A function as Lambda runs it: it can die before it begins, and after it has done all. */
  const invoked =
    (run: Run): Run =>
    async event => {
      const about = event.Records.map(({ body }) => orderIn(body)).join(' ')
      const fault = journal.meet(current, 'event source to function', `invoke ${about}`)
      if (fault?.kind === 'reset before') throw new Error('The function died before it began')
      const answer = await run(event)
      if (fault === undefined) return answer
      for (const { receiptHandle } of event.Records) journal.unanswered.add(receiptHandle)
      throw new Error('The function died before it answered')
    }
  const feed = async (queue: string, run: Run) => {
    const sqs = await queuesThrough('event source to SQS')
    // Heard where it is asked for: a connection can break before a proxy has read what goes over it.
    sqs.middlewareStack.add(
      (next, { commandName = '' }) =>
        asked => {
          if (commandName.startsWith('DeleteMessage')) hearDeletion(journal, asked.input)
          return next(asked)
        },
      { step: 'initialize' },
    )
    const whole = invoked(misread(bug, timed(run)))
    const { stop } = startEventSource({
      sqs,
      queue: { url: parts.queueUrl(queue), arn: queue, region: REGION },
      batchSize: 10,
      reportsFailures: true,
      invoke: event => whole(event as SQSEvent),
      onError: error => journal.note(`event source of ${queue}: ${error}`),
    })
    closing.push(stop)
  }

  try {
    const webhook = await startWebhookFront(
      await clientsThrough('webhook to AWS'),
      parts,
      bug.webhook ?? (same => same),
    )
    closing.push(webhook.close)
    const webhookUrl = `${await through('service to relay', webhook.port)}/webhook`
    const secret = await sandbox.registerWebhook(webhookUrl)
    await parts.provision(secret)
    const intrude = intruder(await through('stranger to relay', webhook.port), secret, journal)

    const api = await startApiFront(await clientsThrough('api to AWS'), parts)
    closing.push(api.close)
    const request = requester(await through('store to relay', api.port), over.signal)

    for (let count = 0; count < WORKERS; count++) {
      const serviceUrl = await through('worker to service', parts.ports.sandbox)
      const tampering = bug.worker ?? (same => same)
      const clients = await clientsThrough('worker to AWS', changeOf(bug))
      await feed('order-line.fifo', workerFunction(clients, parts, { serviceUrl, pace, tampering, journal }))
    }
    const web = await startWeb(ears)
    closing.push(web.close)
    const storeUrl = await through('feeder to store', web.port)
    await feed(
      'feed-web.fifo',
      feederFunction(await clientsThrough('feeder to AWS'), parts, { storeUrl, pace, journal }),
    )
    const shop = startShop({ ...parts, sqs: await queuesThrough('store to SQS') }, ears)
    closing.push(shop.close)

    const { dynamodb, sqs } = await clientsThrough('reconcile to AWS')
    let days = 0
    const run = (now: number) =>
      reconcile({
        unsettled: unsettledIndex(dynamodb, 'orders'),
        enqueue: lineProducer(sqs, parts.line),
        now: () => now,
        random: Math.random,
      })
    /** The clock calls the reconciliation; every time a day later than before, so that all are due. */
    const check = async () => {
      const now = Math.floor(Date.now() / 1000) + ++days * 3 * DAY_SECONDS
      const fault = journal.meet(current, 'clock to reconcile', 'check')
      if (fault?.kind === 'reset before') return
      await Promise.all(fault?.kind === 'duplicate' ? [run(now), run(now)] : [run(now)])
    }
    return {
      parts,
      sandbox,
      ears,
      request,
      intrude,
      journal,
      check,
      calmDown: () => {
        current = calm
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

export type Assembled = Awaited<ReturnType<typeof assemble>>
