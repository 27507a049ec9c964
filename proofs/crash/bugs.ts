/** A bug, as a change of the source. */
export type Bug = {
  name: string
  file: string
  /** Must occur exactly once in the source. */
  find: string
  replace: string
  /** The scenario that reveals the bug, with or without a fault. */
  scenario: string
}

const SAVE = 'await orders.save({ order: next, outbox, bulk, entry_at, ...kept }, revision++, time)'
const PUBLISH = 'await publishSaved(next, outbox)'
const ENQUEUE = 'await enqueue({ source, external_id }, { id: delivery, json: reading.text })'
const ENQUEUE_CHECK = 'await enqueue(order, { id, json: JSON.stringify(event) })'

const UNKNOWN_ORDER = 'webhooks of an order that the relay does not know'
const SLOW_TO_HOLD = 'a payment is withdrawn while the service is slow to hold it'

/** Bugs that concern crashes, concurrency or a slow service. The crash matrix must find each of them. */
export const BUGS: readonly Bug[] = [
  {
    name: 'the webhook function records a delivery before it is queued',
    file: 'lib/webhook/receive.ts',
    find: ENQUEUE,
    replace: `await deliveries.record({ delivery, source, external_id, status }, seconds)\n  ${ENQUEUE}`,
    scenario: UNKNOWN_ORDER,
  },
  {
    name: 'a request that does not wait counts as a failed wait',
    file: 'lib/api/waiting.ts',
    find: `if (time < SHORTEST_PAUSE) return undefined
    const admission = admit(order)`,
    replace: `const admission = admit(order)
    if (time < SHORTEST_PAUSE) return void ('end' in admission && admission.end('failure'))`,
    scenario: 'a store waits for as long as it prefers, although the default is not to wait',
  },
  {
    name: "one store's failing orders open the breaker for all stores",
    file: 'lib/platform/breaker.ts',
    find: 'fail(everybody, order, 2)',
    replace: 'fail(everybody, order, 1)',
    scenario: 'the service is down for three orders for an hour',
  },
  {
    name: 'an order is published before it is saved',
    file: 'lib/orders/order-writer.ts',
    find: `${SAVE}
    ${PUBLISH}`,
    replace: `${PUBLISH}
    ${SAVE}`,
    scenario: 'a payment of an order that nobody created is withdrawn while the service is slow',
  },
  {
    name: 'what a worker that died has saved is not published',
    file: 'lib/orders/handle-event.ts',
    find: 'stored?.outbox !== undefined && mayBeUnpublished',
    replace: 'stored === null',
    scenario: UNKNOWN_ORDER,
  },
  {
    name: 'a payment that may have been sent counts as unsent',
    file: 'lib/orders/handle-event.ts',
    find: 'if (redelivered || isFailing) step =',
    replace: 'if (step === null) step =',
    scenario: SLOW_TO_HOLD,
  },
  {
    name: 'an order is saved without its revision',
    file: 'lib/orders/repository.ts',
    find: `ConditionExpression: revision === 0 ? 'attribute_not_exists(revision)' : 'revision = :read',
      ...(revision !== 0 && { ExpressionAttributeValues: { ':read': { N: String(revision) } } }),`,
    replace: '',
    scenario: 'an invoice edited again and again without a change of status',
  },
  {
    name: 'a duplicate counts as registered',
    file: 'lib/orders/apply.ts',
    find: ": doubted(withRequest(step, { ...fieldsOf(request), kind: 'create', stage: 'known' }))",
    replace: ": end(applyResult(step, result), request, 'registered')",
    scenario: 'a create of orders that the service has, while it is down',
  },
  {
    name: 'a payment is sent behind a refused create',
    file: 'lib/orders/settle.ts',
    find: "create?.stage !== 'refused' || !isToBeSent(request)",
    replace: 'create !== null',
    scenario: 'a payment behind a create that is refused for a day',
  },
  {
    name: 'a payment that may be held is withdrawn',
    file: 'lib/orders/settle.ts',
    find: "return ['unanswered', 'perhaps sent', 'unclear', 'crossed'].includes(stage)",
    replace: 'return stage === null',
    scenario: SLOW_TO_HOLD,
  },
  {
    name: 'a withdrawal takes back what is requested after it',
    file: 'lib/orders/requests.ts',
    find: 'withdrawal === undefined || withdrawal.accepted_at < accepted_at',
    replace: 'withdrawal === undefined',
    scenario: 'a payment is withdrawn, and requested again an hour later',
  },
  {
    name: 'a request too many counts as a duplicate',
    file: 'lib/orders/requests.ts',
    find: "addEnded(step, { ids: [id], kind, state: 'rejected', reason })",
    replace: "addEnded(step, { ids: [id], kind, state: 'duplicate' })",
    scenario: 'more refunds in review than the relay keeps',
  },
  {
    name: 'a repeated message has another id',
    file: 'lib/orders/feed.ts',
    find: 'contentId(source, external_id, version, content)',
    replace: 'contentId(Math.random(), content)',
    scenario: 'an order created, paid, refunded and read',
  },
  {
    name: 'a check is postponed before it is queued',
    file: 'lib/reconcile/handler.ts',
    find: ENQUEUE_CHECK,
    replace: `await orders.postpone(order, unixSeconds(now()) + checkInterval(order.checks + 1, random()))
        ${ENQUEUE_CHECK}`,
    scenario: 'the only webhook never arrives',
  },
]

/** Throws if the text of a bug does not occur exactly once in the source. */
export const patch = ({ name, file, find, replace }: Bug, source: string): string => {
  const count = source.split(find).length - 1
  if (count !== 1)
    throw new Error(`Cannot plant "${name}" in ${file}: "${find}" is there ${count} times, not once`)
  return source.replace(find, () => replace)
}
