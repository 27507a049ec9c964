import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import { askAccounting } from '../../lib/accounting/ask.ts'
import { withBreaker } from '../../lib/accounting/breaker.ts'
import { whileTimeIsLeft } from '../../lib/accounting/in-time.ts'
import { sqsFeeds } from '../../lib/feeds/sqs.ts'
import { workThrough } from '../../lib/line/batch.ts'
import { consume } from '../../lib/line/consume.ts'
import { keepBack } from '../../lib/line/keep-back.ts'
import { waitBeforeRetry } from '../../lib/line/retry.ts'
import { advance, type Ports } from '../../lib/orders/advance.ts'
import { ordersTable } from '../../lib/orders/table.ts'
import { quarantineQueue } from '../../lib/quarantine.ts'
import { awsOf, type Cloud } from './aws.ts'
import type { Clock } from './clock.ts'
import { LINE, QUARANTINE } from './doors.ts'
import { type Instance, type MakeCall, startInstance } from './faults.ts'
import type { Queue, Received } from './queue.ts'
import type { Service } from './service.ts'

/** A change to the worker's ports, to plant a bug in them. */
export type Tampering = (ports: Ports) => Ports

/** What is deleted of a batch, and when: how Lambda's event source reads the answer of the function. */
export type EventSource = {
  /** The ids to delete after the answer. */
  done: (batch: readonly Received[], answer: SQSBatchResponse) => readonly Received[]
  /** Whether everything is deleted before the function has it. */
  deletesFirst: boolean
}

export const reportsItemFailures: EventSource = {
  done: (batch, { batchItemFailures }) => {
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
    return batch.filter(({ id }) => !failed.has(id))
  },
  deletesFirst: false,
}

export type Parts = {
  clock: Clock
  call: MakeCall
  cloud: Cloud
  line: Queue
  service: Service
  tampering: Tampering
  eventSource: EventSource
}

/** The worker's timeout in serverless.yml, in milliseconds. */
export const TIMEOUT = 30_000

/** One environment of the worker function, wired as functions/worker.ts does it. */
const worker = ({ clock, call, cloud, service, tampering }: Parts) => {
  const instance = startInstance()
  const { dynamodb, sqs } = awsOf('worker', instance, call, cloud)
  const ask = askAccounting(service.client(instance, call))
  const guarded = withBreaker({ now: clock.now, random: () => 0.5, opened: () => undefined })
  const now = () => new Date(clock.now())
  const quarantine = quarantineQueue(sqs, QUARANTINE)
  const failed = waitBeforeRetry(keepBack(sqs, LINE), () => 0.5, clock.now)

  const run = ({ Records }: SQSEvent) => {
    const began = clock.now()
    const left = () => began + TIMEOUT - clock.now()
    const ports = tampering({
      orders: ordersTable(dynamodb, 'orders', () => 0.5),
      ask: whileTimeIsLeft((...asked: Parameters<typeof ask>) => guarded(() => ask(...asked)), left),
      tell: sqsFeeds(sqs, LINE),
      now,
    })
    const handle = consume({ advance: message => advance(message, ports), quarantine, now })
    return workThrough(Records, handle, failed)
  }
  return { instance, run }
}

const recordOf = ({ id, handle, body, group, receives, sentAt }: Received): SQSRecord => ({
  messageId: id,
  receiptHandle: handle,
  body,
  attributes: {
    MessageGroupId: group,
    ApproximateReceiveCount: String(receives),
    SentTimestamp: String(sentAt),
    SenderId: '',
    ApproximateFirstReceiveTimestamp: '',
  },
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: '',
  awsRegion: '',
})

/** Gathers what arrives together into one batch. */
const GATHERING = 20
export const BATCH = 10
const ENVIRONMENTS = 2

/**
 * Lambda's event source: hands batches of the line to the worker's environments, replaces those that ended,
 * and deletes what succeeded.
 */
export const feedWorker = (parts: Parts): void => {
  const { clock, call, line, eventSource } = parts
  const idle = Array.from({ length: ENVIRONMENTS }, () => worker(parts))
  let asked = false

  const remove = (instance: Instance, done: readonly Received[]) =>
    call(instance, 'worker: acknowledge', () => {
      for (const { handle } of done) line.remove(handle)
    })

  const poll = async () => {
    asked = false
    const environment = idle.shift()
    if (environment === undefined) return
    const batch = line.receive(BATCH)
    if (batch.length === 0) return void idle.push(environment)
    const { instance, run } = environment
    let over = false
    const next = () => {
      if (over) return
      over = true
      idle.push(instance.alive ? environment : worker(parts))
      look()
    }
    instance.ended.push(next)
    // The poller belongs to Lambda: it outlives the function, and can end by itself.
    const poller = startInstance()
    poller.ended.push(next)
    try {
      if (eventSource.deletesFirst) await remove(poller, batch)
      const done = eventSource.done(batch, await run({ Records: batch.map(recordOf) }))
      if (!eventSource.deletesFirst && done.length > 0) await remove(poller, done)
    } catch {
      // Not deleted, so it comes again.
    }
    next()
  }

  const look = () => {
    if (asked) return
    asked = true
    clock.after(GATHERING, () => void poll())
  }
  line.onChange(look)
}
