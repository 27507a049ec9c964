import { QUEUES } from '../../lib/platform/names.ts'
import {
  claim,
  type EndState,
  orderViolations,
  type SentWebhook,
  webhookViolations,
} from '../../test/support/oracle.ts'
import { expectedOf } from '../../test/support/scenarios.ts'
import type { Source } from './backends.ts'
import type { Link } from './faults.ts'
import type { ChaosOrder } from './orders.ts'
import type { World } from './world.ts'

/** Queues without a consumer that must be empty at the end. */
export const NOT_CONSUMED = [QUEUES.ordersDead, QUEUES.feedsDead, QUEUES.quarantine]

/** The service's number of attempts. A webhook hit by as many faults may be lost, and a check must recover it. */
const ATTEMPTS = 8
const WEBHOOK_LINKS: readonly Link[] = ['service to relay', 'webhook to AWS']

/** The known state of an order at the end. */
export const endOf = async (world: World, { source, id }: { source: Source; id: string }) => ({
  service: await world.service.record(source, id),
  stored: await world.stored({ source, external_id: id }),
  feed: world.inbox.of(id),
  // Takes accepted requests from the table; the crash tests compare them with the responses to the store.
  accepted: [],
})

/** The violations of an order at the end. */
export const violationsOf = async (world: World, order: ChaosOrder): Promise<string[]> => {
  const { journal, service, struck } = world
  const { id, lifecycle } = order
  const end: EndState = await endOf(world, order)
  journal.results.push(end.service?.result)
  const hits = journal.faults.filter(({ name, link }) => name.includes(id) && WEBHOOK_LINKS.includes(link))
  const webhooks = await service.webhooks(id)
  const sent = webhooks.map(({ delivery, state }): SentWebhook => {
    if (journal.swallowed.has(delivery) || (state === 'failed' && hits.length >= ATTEMPTS))
      return { delivery, state: 'pending' }
    return { delivery, state: state === 'delivered' ? 'accepted' : state === 'failed' ? 'given up' : state }
  })
  const expected = expectedOf(lifecycle)
  // The relay cannot recover a lost webhook of an order that it does not know.
  const isAsked = Object.keys(expected.requests).length > 0
  const mayBeUnknown = !isAsked && sent.every(({ state }) => state === 'pending')
  const isMissed = webhooks.some(
    ({ delivery }) => journal.swallowed.has(delivery) && !journal.queued.has(delivery),
  )
  if (isMissed && end.feed.length > 0) journal.found.add(id)
  return [
    ...(end.stored === undefined && mayBeUnknown ? [] : orderViolations(expected, end, struck(id))),
    ...claim(end.stored?.order.doubt !== 'now', 'the order is in doubt'),
    // Without proxies, queued messages cannot be observed.
    ...webhookViolations(
      sent,
      journal.queued.size > 0 ? journal.queued : new Set(webhooks.map(w => w.delivery)),
    ),
  ]
}

const NUMBERS = ['invoice_number', 'receipt_number', 'return_number'] as const

/** Document numbers are unique. */
export const numberViolations = (results: readonly unknown[]): string[] =>
  NUMBERS.flatMap(name => {
    const numbers = results.flatMap(result => {
      const value = (result as Record<string, unknown> | undefined)?.[name]
      return value === null || value === undefined ? [] : [value]
    })
    return claim(new Set(numbers).size === numbers.length, `two orders have the same ${name}`)
  })
