import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { orderOf, type StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { messageGroupOf } from '@order-relay/lib/platform/fifo.ts'
import { feedQueueName, QUEUES } from '@order-relay/lib/platform/names.ts'
import { type OrderKey, orderName } from '@order-relay/lib/protocol/order.ts'
import { logFile } from '@order-relay/local/log.ts'
import { local } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'
import * as v from 'valibot'
import { REST } from '../../console/live.ts'
import type { Routes } from '../../console/routes.ts'

type Data<Path extends Routes['path']> = Awaited<ReturnType<Extract<Routes, { path: Path }>['handle']>>

/** Maximum delay of the pages behind the queues, in milliseconds, apart from the pause after a slow reading. */
const LAG_MS = 4000

/** Maximum delay of the service's state and of the alarms, in milliseconds. */
const STATE_MS = 60_000

/** Maximum duration of a comparison, in milliseconds. */
const SAMPLE_MS = 15_000

/** Tolerance between reading the clock and hiding a message, in milliseconds. */
const CLOCK_MS = 2000

const message = v.object({
  body: v.pipe(v.string(), v.parseJson(), v.looseObject({ delivery: v.string() })),
  messageGroupId: v.string(),
  approximateReceiveCount: v.number(),
})
const inspection = v.object({
  messages: v.object({
    ready: v.array(message),
    delayed: v.array(message),
    inflight: v.array(v.object({ message, visibilityDeadline: v.number() })),
  }),
})

/** The messages of a queue, read without receiving them. */
const messagesOf = async (queue: string) => {
  const answer = await fetch(`${local.stack().urls.sqs}/_fauxqs/queues/${queue}`)
  const { ready, delayed, inflight } = v.parse(inspection, await answer.json()).messages
  const held = (each: v.InferOutput<typeof message>, hiddenUntil?: number) => ({
    group: each.messageGroupId,
    delivery: each.body.delivery,
    receives: each.approximateReceiveCount,
    hiddenUntil,
  })
  return [
    ...[...ready, ...delayed].map(each => held(each)),
    ...inflight.map(({ message: each, visibilityDeadline }) => held(each, visibilityDeadline)),
  ]
}

type Held = Awaited<ReturnType<typeof messagesOf>>[number]

export type World = {
  /** The orders whose pages are read. */
  orders: OrderKey[]
  /** The store with an HTTP feed. */
  source: string
  /** The deliveries that its endpoint has accepted. */
  accepted: ReadonlySet<string>
  /** The service's state, and since when. */
  service: { state: 'serving' | 'unavailable' | 'unauthorized'; since: number }
}

/** The alarms of failing orders: their names on the pages, and the metrics of those that count every failure. */
const ALARMS = {
  'breaker-open': ['Accounting service unavailable', 'ServiceUnavailable'],
  'service-unauthorized': ['API key refused', 'ServiceUnauthorized'],
  'order-stuck': ['An order keeps failing', undefined],
} as const

/** A failure within this time of an earlier one continues its alarm, in milliseconds; the pages may count up to 60 s. */
const CONTINUES_MS = 50_000

/** The times at which the functions counted a failure, according to their log. */
const countedAt = async (metric: string): Promise<number[]> => {
  const log = await readFile(logFile(local.stack().dataDir), 'utf8')
  return [...log.matchAll(new RegExp(`"Timestamp":(\\d+).*"Name":"${metric}"`, 'g'))].map(([, at]) =>
    Number(at),
  )
}

/** Whether an alarm may have begun at the stated time: in that minute, or at that instant. */
const mayBegin = (since: string, counted: readonly number[]) => {
  const stated = Date.parse(since)
  const most = /T\d\d:\d\dZ$/.test(since) ? 59_999 : 0
  return counted.some(
    at =>
      at >= stated &&
      at <= stated + most &&
      !counted.some(earlier => earlier < at && earlier > at - CONTINUES_MS && earlier < stated),
  )
}

/** The queues, the table and the service, without the code of the pages. */
const readTruth = async ({ source }: World) => {
  const [[queued, bulk, dead, feed, feedsDead], orders, service] = await Promise.all([
    Promise.all([
      messagesOf(QUEUES.orders),
      messagesOf(QUEUES.bulk),
      messagesOf(QUEUES.ordersDead),
      messagesOf(feedQueueName(source)),
      messagesOf(QUEUES.feedsDead),
    ]),
    local.stack().dynamodb.scan({ TableName: 'orders', ConsistentRead: true }),
    local.sandbox('GET', '/panel/orders?limit=200'),
  ])
  const stored = (orders.Items ?? []).map(orderOf)
  return {
    queued: [...queued, ...bulk],
    dead,
    feed,
    feedsDead,
    stored: new Map(stored.map(each => [orderName(each.order), each])),
    statuses: new Map<string, string>(
      service.body.orders.map((each: OrderKey & { status: string }) => [orderName(each), each.status]),
    ),
  }
}

type Truth = Awaited<ReturnType<typeof readTruth>>

type Read = <Path extends Routes['path']>(path: Path, query?: Record<string, string>) => Promise<Data<Path>>

const readPages = async (read: Read, { orders }: World) => {
  const [overview, all, failing, unsettled, dead, stores, ...pages] = await Promise.all([
    read('overview'),
    read('orders'),
    read('orders', { show: 'failing' }),
    read('orders', { show: 'unsettled' }),
    read('messages', { command: 'dead' }),
    read('stores'),
    ...orders.map(order => read('order', { ...order })),
  ])
  return { overview, all, failing, unsettled, dead, stores, pages }
}

type Pages = Awaited<ReturnType<typeof readPages>>
type OrderPage = Pages['pages'][number]

const isDead = ({ reason }: OrderPage['why']['links'][number]) =>
  typeof reason !== 'string' && reason.code.startsWith('waits/dead')

/** Whether a message is being tried, or is tried no later than the page says. */
const isTried = (held: Held, receives: number | undefined, next: string | undefined) =>
  held.receives !== receives || next === undefined || (held.hiddenUntil ?? 0) <= Date.parse(next) + CLOCK_MS

/** Whether an event has failed before, whatever its order says. */
const hasFailed = ({ receives }: Held) => receives > 1

/** The false statements on an order's page. */
const ofOrder = (
  page: OrderPage,
  { queued, dead, feed, feedsDead, stored, statuses }: Truth,
  world: World,
) => {
  const { links } = page.why
  const group = messageGroupOf(page)
  const found: string[] = []
  const says = (claim: string, isTrue: boolean) => {
    if (!isTrue) found.push(`${orderName(page)}: ${claim}`)
  }
  const letters = dead.filter(each => each.group === group)
  const undelivered = feedsDead.filter(each => each.group === group)
  const waiting = queued.filter(each => each.group === group)
  const failing: StoredOrder['failing'] = stored.get(orderName(page))?.failing
  for (const link of links) {
    const { what, id, next } = link
    if (isDead(link)) {
      says(
        `"${what}" is a dead letter`,
        [...letters, ...undelivered].some(each => each.delivery === id),
      )
    } else if (what.startsWith('order.')) {
      const held = waiting.find(each => each.delivery === id)
      says(`"${what}" waits in the queue`, held !== undefined)
      if (held && failing?.delivery === id)
        says(`"${what}" is tried by ${next}`, isTried(held, failing?.receives, next))
    }
    if (link.for === 'earlier event' || link.for === 'later event')
      says(`"${what}" waits for another event`, waiting.length > 0)
    const isService = link.for === 'service' || link.for === 'service key'
    says('it waits for the service', !(isService && isServing(world)))
  }
  if (links.length === 0) says('nothing waits', waiting.length === 0)
  says('no event fails', page.failing !== undefined || !waiting.some(hasFailed))
  for (const { action, effect } of page.why.actions)
    if (action === 'retry' || effect.code === 'check/blocked') says(effect.text, waiting.length > 0)
  for (const { delivery } of letters)
    says(`no dead letter ${delivery}`, links.some(({ id }) => id === delivery) || isDone(page, statuses))
  for (const { delivery } of undelivered)
    says(
      `no dead message ${delivery}`,
      links.some(({ id }) => id === delivery),
    )
  for (const { kind, state } of page.requests) {
    const status = statuses.get(orderName(page))
    if (state === 'registered' && kind === 'create') says('it is created', status !== undefined)
    if (state === 'registered' && kind === 'payment')
      says('it is paid', status === 'paid' || status === 'refunded')
  }
  if (page.source === world.source)
    for (const each of page.feed.messages) {
      const held = feed.find(({ delivery }) => delivery === each.delivery)
      const claim = `message ${each.version} is ${each.state}`
      if (each.state === 'accepted') says(claim, world.accepted.has(each.delivery))
      if (each.state === 'queued') says(claim, held !== undefined)
      if (each.state === 'failing' || each.state === 'unsent')
        says(claim, held !== undefined && isTried(held, each.last.receives, each.last.next_at))
      else says(`${claim} and is tried again`, !('last' in each) || each.last?.next_at === undefined)
      if (each.state === 'dead')
        says(
          claim,
          undelivered.some(({ delivery }) => delivery === each.delivery),
        )
      if (each.state === 'deleted')
        says(
          claim,
          ![...feed, ...feedsDead].some(({ delivery }) => delivery === each.delivery) &&
            !world.accepted.has(each.delivery),
        )
    }
  return found
}

const isDone = (page: OrderPage, statuses: Truth['statuses']) => statuses.get(orderName(page)) === 'paid'

/** Whether the service has been available for so long that no page may say that orders wait for it. */
const isServing = ({ service: { state, since } }: World) =>
  state === 'serving' && Date.now() - since > STATE_MS

/** The false statements on the lists and the overview. */
const ofLists = (pages: Pages, truth: Truth, world: World): string[] => {
  const { overview, all, failing, unsettled, dead, stores } = pages
  const found: string[] = []
  const says = (claim: string, isTrue: boolean) => {
    if (!isTrue) found.push(claim)
  }
  const names = (orders: readonly OrderKey[]) => orders.map(orderName).toSorted().join()
  const failingIn = (queue: readonly Held[]) =>
    [...truth.stored.values()].filter(({ failing: event }) =>
      queue.some(({ delivery }) => delivery === event?.delivery),
    )
  const failed = new Set(truth.queued.filter(hasFailed).map(({ group }) => group))
  const marked = new Set(failingIn(truth.queued))
  const ofFailing = [...truth.stored.values()]
    .filter(each => marked.has(each) || failed.has(messageGroupOf(each.order)))
    .map(({ order }) => order)
  says(`failing are ${names(failing.orders)}`, names(failing.orders) === names(ofFailing))
  says(`${overview.failing?.count} orders fail`, overview.failing?.count === ofFailing.length)
  const ended = [...truth.stored.values()].flatMap(({ order }) => order.ended.flatMap(({ ids }) => ids))
  const undone = truth.dead.filter(({ delivery }) => !ended.includes(delivery))
  const died = new Set(undone.map(({ group }) => group)).size
  says(`${overview.failing?.dead} orders have dead letters`, overview.failing?.dead === died)
  const { text, unavailable_at } = overview.failing ?? {}
  const latest = failingIn(truth.queued)
    .flatMap(({ failing: event }) => (event?.code === 'unavailable' ? [event.at] : []))
    .toSorted()
    .at(-1)
  says(
    `the service was last unavailable at ${unavailable_at}`,
    unavailable_at === undefined || latest === undefined || unavailable_at >= latest,
  )
  says(`the overview says "${text?.text}"`, (text === undefined) === (ofFailing.length === 0))
  says('an alarm starts unless a call succeeds', !(text?.text.includes('unless') && isServing(world)))
  for (const row of [...all.orders, ...failing.orders, ...unsettled.orders]) {
    const page = pages.pages.find(each => orderName(each) === orderName(row))
    const [first] = page?.why.links ?? []
    const isSame = row.waiting?.what === first?.what && row.waiting?.for === first?.for
    says(`in lists, ${orderName(row)} waits for ${row.waiting?.for}`, page === undefined || isSame)
  }
  for (const [name, held] of [
    ['ordersDead', truth.dead],
    ['feedsDead', truth.feedsDead],
  ] as const) {
    const depth = overview.queues?.[name]
    const sum = depth && depth.waiting + depth.inFlight
    says(`${name} has ${sum} messages`, sum === held.length)
  }
  const queue = overview.queues
  const queued =
    queue && [queue.orders, queue.bulk].reduce((sum, each) => sum + each.waiting + each.inFlight, 0)
  says(`${queued} events are queued`, queued === truth.queued.length)
  const { waiting, dead_letters } = stores.stores.find(({ source }) => source === world.source) ?? {}
  says(`${waiting} messages wait for the store`, waiting === truth.feed.length)
  says(`${dead_letters} messages to the store are dead letters`, dead_letters === truth.feedsDead.length)
  const isReported = overview.notices.some(
    ({ check }) =>
      typeof check !== 'string' && check.code === 'feed-dead' && check.values.source === world.source,
  )
  says(`the store has ${isReported ? '' : 'no '}dead letters`, isReported === truth.feedsDead.length > 0)
  const letters = dead.messages.map(each => each.delivery ?? '').toSorted()
  const inQueues = [...truth.dead, ...truth.feedsDead].map(({ delivery }) => delivery).toSorted()
  says(`the dead letters are ${letters}`, letters.join() === inQueues.join())

  const isActive = (code: string) =>
    overview.alarms.some(each => each.code === code && each.state === 'alarm')
  says('there are no dead letters', isActive('dead-letters') || truth.dead.length === 0)
  says('there are dead letters', !isActive('dead-letters') || truth.dead.length > 0)
  const { state, since } = world.service
  for (const [code, of] of [
    ['breaker-open', 'unavailable'],
    ['service-unauthorized', 'unauthorized'],
  ] as const) {
    says(`${code} is active`, !(isActive(code) && isServing(world)))
    // An outage is unknown until a call fails.
    const isKnown = state === of && ofFailing.length > 0 && Date.now() - since > STATE_MS
    says(`${code} is not active`, isActive(code) || !isKnown)
  }
  return found
}

const falseOf = (pages: Pages, truth: Truth, world: World) => [
  ...ofLists(pages, truth, world),
  ...pages.pages.flatMap(page => ofOrder(page, truth, world)),
]

/**
 * The false statements about when alarms begin and when the service was last unavailable.
 *
 * @param before the overview of the previous comparison
 */
const ofTimes = async (
  before: Pages['overview'] | undefined,
  { alarms, failing }: Pages['overview'],
): Promise<string[]> => {
  const found: string[] = []
  const last = failing?.unavailable_at
  const earlier = before?.failing?.unavailable_at
  if (last !== undefined && earlier !== undefined && last < earlier)
    found.push(`the service was last unavailable at ${last}, after ${earlier} was shown`)
  const isActive = (overview: Pick<Pages['overview'], 'alarms'>, code: string) =>
    overview.alarms.some(each => each.code === code && each.state === 'alarm')
  const said = before?.failing?.text?.text
  for (const [code, [name, metric]] of Object.entries(ALARMS)) {
    const alarm = alarms.find(each => each.code === code && each.state === 'alarm')
    if (alarm === undefined) continue
    if (before !== undefined && said !== undefined && !isActive(before, code) && !said.includes(`"${name}"`))
      found.push(`the overview says "${said}" before ${code} begins`)
    if (metric && alarm.since !== undefined && !mayBegin(alarm.since, await countedAt(metric)))
      found.push(`${code} is active since ${alarm.since}`)
  }
  return found
}

/**
 * Compares the pages with the queues, the table and the service every second until it is stopped. A statement that is
 * false both before and after the reading, for longer than the pages may lag, is a violation.
 */
export const watchPages = (read: Read, world: World) => {
  const since = new Map<string, number>()
  const sentences = new Set<string>()
  const stop = new AbortController()
  let samples = 0
  let last: Pages['overview'] | undefined
  const compare = async () => {
    const before = await readTruth(world)
    const started = Date.now()
    const pages = await readPages(read, world)
    const lag = LAG_MS + REST * (Date.now() - started)
    const after = await readTruth(world)
    for (const claim of await ofTimes(last, pages.overview)) sentences.add(claim)
    last = pages.overview
    const now = Date.now()
    const later = falseOf(pages, after, world)
    const found = falseOf(pages, before, world).filter(claim => later.includes(claim))
    for (const claim of since.keys()) if (!found.includes(claim)) since.delete(claim)
    for (const claim of found) {
      const first = since.get(claim) ?? now
      since.set(claim, first)
      if (now - first > lag) sentences.add(claim)
    }
    samples++
  }
  const watching = (async () => {
    while (!stop.signal.aborted) {
      const next = sleep(1000)
      await compare()
      await next
    }
  })()
  return {
    /** Resolves after this number of comparisons. */
    compared: (count: number) => {
      const enough = samples + count
      return Promise.race([watching, until(() => samples >= enough, count * SAMPLE_MS)])
    },
    sentences: () => [...sentences],
    /** Stops the comparisons; rejects if one of them failed. */
    stop: () => {
      stop.abort()
      return watching
    },
  }
}
