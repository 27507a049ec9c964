import * as v from 'valibot'
import type { OrderResult } from '../../lib/protocol/order.ts'
import type { Cloud } from './aws.ts'
import { virtualClock } from './clock.ts'
import { type Tampering as DoorTampering, doors, PARAMETERS, SOURCE } from './doors.ts'
import { callsWith, type Fault } from './faults.ts'
import type { Place } from './places.ts'
import { fifoQueue, type QueuedMessage } from './queue.ts'
import { type Pattern, webhookSender } from './sender.ts'
import { accountingService, type Treatment } from './service.ts'
import { store as newStore } from './store.ts'
import { dynamodbTables, type Tables } from './tables.ts'
import {
  type EventSource,
  feedWorker,
  reportsItemFailures,
  type Tampering as WorkerTampering,
} from './worker.ts'

const START = Date.UTC(2026, 0, 1)
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** After this everything must have come to rest; the sender's schedule takes a day and a half. */
const END = START + 10 * DAY

/** What the line of serverless.yml has. */
export const LINE_OPTIONS = { visibility: 180 * SECOND, maxReceives: 200 }

/** A bug that is planted; nothing is changed where nothing is said. */
export type Bug = {
  webhook?: DoorTampering
  worker?: WorkerTampering
  eventSource?: EventSource
  tables?: (tables: Tables) => Tables
}

export type Life = {
  name: string
  treatment?: (external_id: string) => Treatment
  /** How long the n-th webhook, from 1, is under way at first; `never` when it is lost for good. */
  underWay?: (count: number) => number | 'never'
  /** How far the sender's clock goes ahead after so many milliseconds, in milliseconds. */
  fast?: (elapsed: number) => number
  /** What answers with an error instead of doing what it is asked, so many milliseconds after the start. */
  trouble?: (place: Place, elapsed: number) => Error | undefined
  /** When the clock calls the reconciliation, in milliseconds from the start. */
  reconciles?: readonly number[]
  /** What is authentic and cannot be read must be found in quarantine, byte for byte. */
  quarantines?: string
  happens: (world: World) => void
  ends: Ending[]
}

/** How the life of an order must end. */
export type Ending = {
  external_id: string
  status: OrderResult['status'] | undefined
  documents: ('invoice' | 'receipt' | 'return')[]
  /** What was refused for good. */
  rejected?: 'create'
  /** Nothing is wrong with this order: its messages are handled once, and leave the line at once. */
  healthy?: true
}

export const keyOf = (external_id: string) => ({ source: SOURCE, external_id })

/** Everything around the relay, in memory, with the real code between. */
const assemble = (life: Life, pattern: Pattern, faults: readonly Fault[], bug: Bug) => {
  const { treatment = () => ({}), underWay = () => 0, fast = () => 0, trouble = () => undefined } = life
  const clock = virtualClock(START)
  const { call, visits, gaps } = callsWith(clock, faults, place => trouble(place, clock.now() - START))
  const onLine: QueuedMessage[] = []
  const line = fifoQueue(clock, { ...LINE_OPTIONS, taken: message => onLine.push(message) })
  const feed = fifoQueue(clock, {
    ...LINE_OPTIONS,
    taken: ({ body }) => store.hear(body),
  })
  const tables = (bug.tables ?? (same => same))(dynamodbTables())
  const cloud: Cloud = {
    tables,
    queues: { 'order-line.fifo': line, 'feed-shop.fifo': feed },
    quarantine: [],
    parameters: PARAMETERS,
  }
  const open = doors(clock, call, cloud, bug.webhook ?? (ports => ports))
  const store = newStore(clock, open, pattern)
  const sender = webhookSender(clock, open, pattern)

  let announced = 0
  const deliveryId = () => `11111111-1111-4111-8111-${String(++announced).padStart(12, '0')}`
  const skew = () => fast(clock.now() - START)
  const sendWebhook = (content: (delivery: string) => object | string) => {
    const delivery = deliveryId()
    const body = content(delivery)
    const way = underWay(announced)
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    if (way !== 'never') clock.after(way, () => sender.send(delivery, bytes, skew))
  }
  const service = accountingService(clock, treatment, data =>
    sendWebhook(delivery => ({ event: 'order.updated', delivery, data })),
  )
  feedWorker({
    clock,
    call,
    cloud,
    line,
    service,
    tampering: bug.worker ?? (ports => ports),
    eventSource: bug.eventSource ?? reportsItemFailures,
  })
  for (const at of life.reconciles ?? []) clock.after(at, open.reconcile)

  return { clock, visits, gaps, line, onLine, cloud, store, sender, service, sendWebhook, doors: open }
}

export type World = ReturnType<typeof assemble>

export type Ran = { world: World; visits: readonly Place[]; came: 'to rest' | 'to no end' }

/** Lets one life happen with the given faults, until everything has come to rest. */
export const live = async (
  life: Life,
  pattern: Pattern,
  faults: readonly Fault[],
  bug: Bug,
): Promise<Ran> => {
  const world = assemble(life, pattern, faults, bug)
  world.clock.after(0, () => life.happens(world))
  const rested = await world.clock.pass(END)
  return { world, visits: world.visits, came: rested ? 'to rest' : 'to no end' }
}

const deliveryOf = v.pipe(v.string(), v.parseJson(), v.looseObject({ delivery: v.string() }))

/** The delivery id that a line message carries, where it carries one. */
export const idOnLine = ({ body }: QueuedMessage): string | undefined => {
  const parsed = v.safeParse(deliveryOf, body)
  return parsed.success ? parsed.output.delivery : undefined
}
