import { QUEUES } from '../../lib/platform/names.ts'
import {
  type EndState,
  feedViolations,
  orderViolations,
  queueViolations,
  type SentWebhook,
  webhookViolations,
} from '../oracle.ts'
import { expectedOf } from '../scenarios.ts'
import type { Backends } from './backends.ts'
import type { Link } from './faults.ts'
import type { Journal } from './journal.ts'
import type { ChaosOrder } from './orders.ts'
import type { Service } from './service.ts'
import type { Inbox } from './stores.ts'

/** The queues that must be empty in the end although nothing reads them. */
export const NOT_CONSUMED = [QUEUES.ordersDead, QUEUES.feedsDead, QUEUES.quarantine]

export type Observed = { backends: Backends; inbox: Inbox; service: Service; journal: Journal }

/** The service's attempts; a webhook hit by as many faults may be given up, and is for the reconciliation. */
const ATTEMPTS = 8
const WEBHOOK_LINKS: readonly Link[] = ['service to relay', 'webhook to AWS']

/** What is wrong with an order, and the part of it that a slow machine excuses. */
export const violationsOf = async (
  { backends, inbox, service, journal }: Observed,
  { id, source, lifecycle }: Pick<ChaosOrder, 'id' | 'source' | 'lifecycle'>,
) => {
  const hits = journal.faults.filter(({ name }) => name.includes(id))
  const end: EndState = {
    service: await service.record(source, id),
    stored: await backends.stored({ source, external_id: id }),
    feed: inbox.of(id),
  }
  const webhooks = await service.webhooks(id)
  const sent = webhooks.map(({ delivery, state }): SentWebhook => {
    const isExcused = hits.filter(({ link }) => WEBHOOK_LINKS.includes(link)).length >= ATTEMPTS
    if (journal.swallowed.has(delivery) || (state === 'failed' && isExcused))
      return { delivery, state: 'pending' }
    return { delivery, state: state === 'delivered' ? 'accepted' : state === 'failed' ? 'given up' : state }
  })
  const expected = expectedOf(lifecycle)
  const isAsked = Object.keys(expected.intents).length > 0
  // An order of which nobody told the relay expects nothing of it, so a lost webhook stays lost.
  const mayBeUnknown = !isAsked && sent.every(({ state }) => state === 'pending')
  const about = end.stored === undefined && mayBeUnknown ? [] : orderViolations(expected, end, hits.length)
  const isMissed = webhooks.some(
    ({ delivery }) => journal.swallowed.has(delivery) && !journal.queued.has(delivery),
  )
  return {
    violations: [
      ...about,
      ...(end.stored?.order.doubt ? ['the order is in doubt'] : []),
      ...webhookViolations(sent, journal.queued),
    ],
    excused: journal.tooSlow.has(id)
      ? [...feedViolations(end.feed, hits.length), 'the store differs from the service']
      : [],
    isFound: isMissed && end.feed.length > 0,
  }
}

/** What is wrong with what passed between the parts. */
export const passingViolations = (journal: Journal): string[] => {
  const { processed, failed, deleted, unanswered, events } = journal
  return [
    ...[...journal.recordedEarly].map(
      ([delivery, order]) => `webhook ${delivery} of ${order} was recorded before it was queued`,
    ),
    ...[...journal.revisions]
      .filter(([, times]) => times > 1)
      .map(([revision, times]) => `revision ${revision} was saved ${times} times`),
    ...[...journal.forged]
      .filter(delivery => journal.queued.has(delivery))
      .map(delivery => `the forged webhook ${delivery} was queued`),
    ...[...processed]
      .filter(([handle]) => !deleted.has(handle) && !unanswered.has(handle))
      .map(([, order]) => `a message of ${order} was processed and comes again without a cause`),
    ...[...failed]
      .filter(([handle]) => deleted.has(handle))
      .map(([, order]) => `a message of ${order} failed and was deleted`),
    ...queueViolations(
      [...events].flatMap(([delivery, sent]) => [...sent.values()].map(sentAt => ({ delivery, sentAt }))),
    ),
  ]
}
