import { entryKeyItem, entryOf } from '../../lib/orders/history.ts'
import { requestViews } from '../../lib/orders/order.ts'
import { messageGroupOf } from '../../lib/platform/fifo.ts'
import {
  claim,
  historyViolations,
  orderViolations,
  readFeedMessage,
  readStoredItem,
  webhookViolations,
} from '../../test/support/oracle.ts'
import { expectedOf, HOUR, MINUTE } from '../../test/support/scenarios.ts'
import { quarantinedBytes } from './aws.ts'
import type { Sent } from './sender.ts'
import { AFTER_ROTATION, type Run } from './world.ts'

const TOLERANCE_SECONDS = 300

const ordersViolations = ({ scenario, world, faults }: Run): string[] => {
  // Without its announcement, a withdrawal may arrive too late.
  const isAnnounced = !faults.some(({ at }) => world.calls[at] === 'api: announce')
  return Object.entries(scenario.orders).flatMap(([external_id, planned]) => {
    const { cloud, service, stores, keyOf, troubles } = world
    const key = keyOf(external_id)
    const item = cloud.tables.find('orders', { source: { S: key.source }, external_id: { S: external_id } })
    const stored = item && readStoredItem(item)
    const entryAt = (at: string) => {
      const entry = cloud.tables.find('history', entryKeyItem({ ...key, at }))
      return entry && entryOf(entry)
    }
    const surely = isAnnounced && planned.withdraws?.surely === true
    const withdraws = planned.withdraws && { withdraws: { ...planned.withdraws, surely } }
    const wasFaster =
      stored !== undefined &&
      requestViews(stored.order).some(
        ({ kind, state }) =>
          kind === planned.withdraws?.what && (state === 'registered' || state === 'duplicate'),
      )
    const violations = orderViolations(
      expectedOf({ ...planned, ...withdraws }, wasFaster),
      {
        service: service.find(key),
        stored,
        feed: stores.feedOf(external_id).map(readFeedMessage),
        accepted: stores.accepted.get(external_id) ?? [],
      },
      troubles.get(messageGroupOf(key)) ?? 0,
    )
    return [...violations, ...(item === undefined ? [] : historyViolations(item, entryAt))].map(
      violation => `${external_id}: ${violation}`,
    )
  })
}

/** Whether the run has no faults beyond the scenario. */
const isClean = ({ scenario, faults }: Run) => faults.length === 0 && scenario.chance === undefined

/** Only the order of a failing event waits, and no event is handled twice without a cause. */
const waitViolations = (run: Run): string[] =>
  Object.entries(run.scenario.chance === undefined ? run.scenario.orders : {})
    .filter(([, { mayRetry }]) => !mayRetry)
    .flatMap(([external_id]) => {
      const ours = messageGroupOf(run.world.keyOf(external_id))
      const events = run.world.queues.orders.history().filter(({ group }) => group === ours)
      return events.flatMap(({ receivedAt, sentAt, deletedAt = Number.POSITIVE_INFINITY }) => [
        ...claim(
          !isClean(run) || receivedAt.length <= 1,
          `${external_id}: an event was received ${receivedAt.length} times without a cause`,
        ),
        ...claim(deletedAt - sentAt <= 10 * MINUTE, `${external_id}: an event waited for another order`),
      ])
    })

const NO_TIMES = { receivedAt: [], releasedAt: [] }

/**
 * Retries happen when the extended visibility timeout ends, or earlier if the event is released.
 */
const retryViolations = ({ world, faults, scenario }: Run): string[] =>
  (scenario.chance === undefined ? world.retries : []).flatMap(({ queue, messageId, at, seconds }) => {
    const { orders, bulk, webFeed } = world.queues
    const messages = (queue === 'orders' ? [orders, bulk] : [webFeed]).flatMap(each => each.history())
    const { receivedAt, releasedAt } = messages.find(({ id }) => id === messageId) ?? NO_TIMES
    const next = receivedAt.find(time => time > at)
    if (faults.length > 0 || next === undefined) return []
    const waited = (next - at) / 1000
    const isReleased = releasedAt.some(time => time > at && time <= next)
    return claim(
      (isReleased || waited >= seconds) && waited < seconds + 60,
      `${queue}: ${messageId} was retried after ${waited} s, not after ${seconds} s`,
    )
  })

const isStale = ({ skew }: Sent['attempts'][number]) => skew > TOLERANCE_SECONDS

/** In a simulation: the clocks were wrong at all attempts that arrived, so the relay could not accept any. */
const hadNoChance = ({ scenario }: Run, { state, attempts }: Sent) =>
  scenario.chance !== undefined &&
  state === 'given up' &&
  attempts.some(isStale) &&
  attempts.every(each => isStale(each) || each.status === undefined)

const senderViolations = (run: Run): string[] => {
  const { sender, queued } = run.world
  // An unreadable webhook gets 400 at every attempt, and is in quarantine.
  const unreadable = new Set(run.scenario.quarantined)
  const sent = sender.sent.filter(
    webhook => !unreadable.has(Buffer.from(webhook.body).toString()) && !hadNoChance(run, webhook),
  )
  return [
    ...webhookViolations(sent, new Set(queued.keys())),
    ...sender.sent.flatMap(({ delivery, attempts }) =>
      attempts.flatMap(attempt => [
        ...claim(
          !isStale(attempt) || attempt.status !== 200,
          `webhook ${delivery} was accepted ${attempt.skew} s off its time`,
        ),
        // Without Parameter Store, the webhook function cannot know a new secret.
        ...claim(
          isStale(attempt) || attempt.status !== 401 || !isClean(run),
          `webhook ${delivery} is authentic and was answered 401`,
        ),
      ]),
    ),
  ]
}

/** Invalid requests are not queued, and get the expected response if nothing fails. */
const strangerViolations = (run: Run): string[] => {
  // The last secrets read remain in use while a fault prevents the webhook function from reading them.
  const isExcused = (text: string) => run.faults.length > 0 && text.includes(`"delivery":"${AFTER_ROTATION}`)
  return [
    ...run.world.strangers
      .filter(({ status, expected, body }) => status !== expected && !isExcused(body))
      .filter(({ status }) => isClean(run) || status === 200 || status === 202)
      .map(({ name, status, expected }) => `${name}: answered ${status}, not ${expected}`),
    ...run.world.foreign
      .filter(body => !isExcused(body))
      .map(body => `queued although it must not be: ${body.slice(0, 60)}`),
  ]
}

const listViolations = (what: string, expected: readonly string[], found: readonly string[]): string[] => [
  ...expected.filter(text => !found.includes(text)).map(text => `not ${what}: ${text.slice(0, 60)}`),
  ...found.filter(text => !expected.includes(text)).map(text => `${what}: ${text.slice(0, 60)}`),
]

/** Quarantine contains exactly the expected bodies. A foreign request is sent only once, so a fault may lose it. */
const quarantineViolations = ({ scenario, world }: Run): string[] => {
  const expected = new Set(scenario.quarantined)
  const perhaps = new Set<string>()
  for (const { body, ...stranger } of world.strangers) {
    if (stranger.expected !== 400 || body === '') continue
    perhaps.add(body)
    if (stranger.status === 400) expected.add(body)
  }
  const found = world.cloud.quarantine
    .map(message => quarantinedBytes(message).toString())
    .filter(body => expected.has(body) || !perhaps.has(body))
  return listViolations('quarantined', [...expected], found)
}

/** The violations of a run. */
export const violationsOf = (run: Run): string[] => {
  const { scenario, world, isOver } = run
  const { queues, queued, stores, gaps, leaks } = world
  return [
    ...new Set(gaps),
    ...[...leaks].map(line => `personal data in the log: ${line.slice(0, 200)}`),
    ...claim(isOver, 'something never comes to an end'),
    ...claim(!isClean(run) || world.timeouts() === 0, 'a function ran out of time'),
    ...Object.entries(queues).flatMap(([name, queue]) => [
      ...(name === 'feedsDead' ? [] : queue.waiting()).map(
        ({ body }) => `stuck in ${name}: ${body.slice(0, 60)}`,
      ),
      ...(queue.longestWait() >
      (scenario.chance?.patience[name === 'orders' || name === 'bulk' ? 'orders' : 'feeds'] ?? Infinity)
        ? [`a message of ${name} waited ${Math.round(queue.longestWait() / HOUR)} hours`]
        : []),
      ...queue.dead().map(({ body }) => `moved to the dead letters of ${name}: ${body.slice(0, 60)}`),
    ]),
    ...[...stores.accepted.values()]
      .flat()
      .filter(id => !queued.has(id))
      .map(id => `request ${id} was answered 202 and never queued`),
    ...stores.problems,
    ...(isClean(run) ? stores.impatience : []),
    // SQS drops duplicates for five minutes (promise P3).
    ...[...queued]
      .filter(([, times]) => times.some((at, index) => at - (times[index - 1] ?? -Infinity) < 5 * MINUTE))
      .map(([delivery]) => `${delivery} was queued twice within five minutes`),
    ...senderViolations(run),
    ...strangerViolations(run),
    ...quarantineViolations(run),
    ...listViolations(
      'dead-lettered',
      scenario.deadLettered ?? [],
      queues.feedsDead.waiting().map(({ body }) => body),
    ),
    ...ordersViolations(run),
    ...waitViolations(run),
    ...retryViolations(run),
  ]
}
