import * as v from 'valibot'
import { quarantineEntry } from '../../lib/platform/quarantine.ts'
import { orderViolations, queueViolations, readStoredItem, webhookViolations } from '../oracle.ts'
import { expectedOf } from '../scenarios.ts'
import type { QueuedMessage } from './queue.ts'
import { AFTER_EXCHANGE, STRANGERS } from './scenarios.ts'
import type { Run, World } from './world.ts'

const event = v.pipe(v.string(), v.parseJson(), v.looseObject({ delivery: v.string() }))

/** The delivery of an event in the order queue; undefined when the message is not an event. */
const deliveryOf = ({ body }: Pick<QueuedMessage, 'body'>): string | undefined => {
  const parsed = v.safeParse(event, body)
  return parsed.success ? parsed.output.delivery : undefined
}

const MINUTE = 60 * 1000
const TOLERANCE_SECONDS = 300

const ordersViolations = ({ scenario, world, faults }: Run): string[] =>
  Object.entries(scenario.orders).flatMap(([external_id, planned]) => {
    const { cloud, service, stores, keyOf } = world
    const item = cloud.tables.items('orders').find(each => each.external_id?.S === external_id)
    return orderViolations(
      expectedOf(planned),
      {
        service: service.find(keyOf(external_id)),
        stored: item && readStoredItem(item),
        feed: stores.feed.filter(({ data }) => data.external_id === external_id),
      },
      faults.length,
    ).map(violation => `${external_id}: ${violation}`)
  })

/** Only the order of a failing event waits; no event is handled again without a cause. */
const waitViolations = ({ scenario, world, faults }: Run): string[] =>
  Object.entries(scenario.orders)
    .filter(([, { mayRetry }]) => !mayRetry)
    .flatMap(([external_id]) => {
      const events = world.events.filter(({ body }) => body.includes(`"external_id":"${external_id}"`))
      return events.flatMap(({ receivedAt, sentAt, deletedAt = Number.POSITIVE_INFINITY }) => [
        ...(faults.length === 0 && receivedAt.length > 1
          ? [`${external_id}: an event was received ${receivedAt.length} times without a cause`]
          : []),
        ...(deletedAt - sentAt > 10 * MINUTE ? [`${external_id}: an event waited for another order`] : []),
      ])
    })

/** A retry comes when it was announced: visibility was extended, by as much as the other side asked for. */
const retryViolations = ({ world, faults }: Run): string[] =>
  world.retries.flatMap(({ queue, messageId, at, seconds }) => {
    const messages = queue === 'orders' ? world.events : world.feedMessages
    const { receivedAt } = messages.find(({ id }) => id === messageId) ?? { receivedAt: [] }
    const next = receivedAt.find(time => time > at)
    if (faults.length > 0 || next === undefined) return []
    const waited = (next - at) / 1000
    return waited >= seconds && waited < seconds + 60
      ? []
      : [`${queue}: ${messageId} was retried after ${waited} s, not after ${seconds} s`]
  })

const senderViolations = ({ world: { sender, events }, scenario, faults }: Run): string[] => {
  const queued = new Set(events.map(deliveryOf).filter(id => id !== undefined))
  // A webhook that cannot be read is answered 400 until it is given up; quarantine keeps it.
  const unreadable = new Set(scenario.quarantined)
  const sent = sender.sent.filter(({ body }) => !unreadable.has(Buffer.from(body).toString()))
  return [
    ...webhookViolations(sent, queued),
    ...sender.sent.flatMap(({ delivery, attempts }) =>
      attempts.flatMap(({ skew, status }) => {
        const isStale = skew > TOLERANCE_SECONDS
        if (isStale && status === 200) return [`webhook ${delivery} was accepted ${skew} s off its time`]
        // Without Parameter Store, a receiver cannot know a secret that is new.
        return !isStale && status === 401 && faults.length === 0
          ? [`webhook ${delivery} is authentic and was answered 401`]
          : []
      }),
    ),
  ]
}

/** What must not be queued is not, and is answered as it should be where nothing fails. */
const strangerViolations = ({ world: { sender, stores, events }, faults }: Run): string[] => [
  ...[...sender.strangers, ...stores.strangers].flatMap(({ name, expected, statuses }) =>
    statuses
      .filter(status => faults.length === 0 && status !== expected)
      .map(status => `${name}: answered ${status}, not ${expected}`),
  ),
  ...events
    .filter(
      ({ body }) =>
        body.includes(`"delivery":"${STRANGERS}`) ||
        /"source":"(?!shop"|web")/.test(body) ||
        (faults.length === 0 && body.includes(`"delivery":"${AFTER_EXCHANGE}`)),
    )
    .map(({ body }) => `queued although it must not be: ${body.slice(0, 60)}`),
]

const listViolations = (
  what: string,
  expected: readonly string[] = [],
  found: readonly string[],
): string[] => [
  ...expected.filter(text => !found.includes(text)).map(text => `not ${what}: ${text.slice(0, 60)}`),
  ...found.filter(text => !expected.includes(text)).map(text => `${what}: ${text.slice(0, 60)}`),
]

const quarantined = ({ cloud }: World, except: readonly string[] = []) =>
  cloud.quarantine
    .map(body =>
      Buffer.from(
        v.parse(v.pipe(v.string(), v.parseJson(), quarantineEntry), body).body_base64,
        'base64',
      ).toString(),
    )
    .filter(body => !except.includes(body))

/** What a run has violated; nothing, if all is well. */
export const violationsOf = (run: Run): string[] => {
  const { scenario, world, isOver } = run
  const { queues, events, feedsDead, stores, gaps } = world
  const queued = new Set(events.map(deliveryOf))
  return [
    ...new Set(gaps),
    ...(isOver ? [] : ['something never comes to an end']),
    ...Object.entries({ orders: queues.orders, 'feed of web': queues.webFeed }).flatMap(([name, queue]) => [
      ...queue.waiting().map(({ body }) => `stuck in ${name}: ${body.slice(0, 60)}`),
      ...queue.dead().map(({ body }) => `moved to the dead letters of ${name}: ${body.slice(0, 60)}`),
    ]),
    ...stores.acceptedIds
      .filter(id => !queued.has(id))
      .map(id => `request ${id} was answered 202 and never queued`),
    ...stores.problems,
    ...(run.faults.length === 0 ? stores.impatience : []),
    ...queueViolations(
      events.flatMap(({ body, sentAt }) => {
        const delivery = deliveryOf({ body })
        return delivery === undefined ? [] : [{ delivery, sentAt }]
      }),
    ),
    ...senderViolations(run),
    ...strangerViolations(run),
    ...listViolations('quarantined', scenario.quarantined, quarantined(world, scenario.perhapsQuarantined)),
    ...listViolations(
      'dead-lettered',
      scenario.deadLettered,
      feedsDead.map(({ body }) => body),
    ),
    ...ordersViolations(run),
    ...waitViolations(run),
    ...retryViolations(run),
  ]
}
