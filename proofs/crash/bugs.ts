import { readFileSync } from 'node:fs'

/** A bug as a change of the source. */
export type Bug = {
  name: string
  file: string
  /** Must be there exactly once. */
  find: string
  replace: string
  /** The scenario that shows the bug when a fault strikes; most bugs show without one. */
  scenario?: string | undefined
}

type Change = readonly [find: string, replace: string, scenario?: string]

const bugsIn = (file: string, bugs: Readonly<Record<string, Change>>): Bug[] =>
  Object.entries(bugs).map(([name, [find, replace, scenario]]) => ({
    name,
    file: `lib/${file}`,
    find,
    replace,
    scenario,
  }))

const UNKNOWN_ORDER = 'webhooks of an order that the relay does not know'
const WHOLE_LIFE = 'an order created, paid, refunded and read'
const DOWN_FOR_AN_HOUR = 'the service is down for three orders for an hour'

const SAVE = 'await orders.save({ order: next, outbox, bulk }, revision++, time)'
const RECORD = `await recordChange?.(
      historyEntry(saved, next, { at, previous, ...cause, request, calls: made, messages }),
    )`
const PUBLISH = 'await publishAll(messages)'
const ENQUEUE = 'await enqueue({ source, external_id }, { id: delivery, json: reading.text })'
const ENQUEUE_EVENT = 'await enqueue(order, { id, json: JSON.stringify(event) })'

/** Does not wait for what the text waits for, nor fails with it. */
const unawaited = (text: string) => [text, `void ${text.slice(6)}.catch(() => undefined)`] as const

/** Well-known ways to build the relay wrongly, over all factories and rules. The crash matrix must find each. */
export const BUGS: readonly Bug[] = [
  ...bugsIn('webhook/receive.ts', {
    'the receiver records a delivery before it is queued': [
      ENQUEUE,
      `await deliveries.record({ delivery, source, external_id, status }, seconds)\n  ${ENQUEUE}`,
      UNKNOWN_ORDER,
    ],
    'the receiver answers before the queue has the event': [...unawaited(ENQUEUE), UNKNOWN_ORDER],
    'the receiver does not deduplicate': ['id: delivery, json', 'id: String(Math.random()), json'],
    'the receiver does not quarantine': ['await quarantine({', 'void ({'],
    'the receiver trusts unsigned headers': ['?? value) !== value', '?? value) === null'],
  }),
  ...bugsIn('webhook/handler.ts', {
    'the receiver answers 200 when it failed': [
      "unavailable('The delivery could not be stored; send it again')",
      "{ ...unavailable(''), status: 200 }",
    ],
    'the receiver takes every source': ['sources.has(source)', 'source !== null'],
    'the receiver logs what it cannot read': ['{ reason: _, ...about }', 'about'],
  }),
  ...bugsIn('webhook/secrets.ts', {
    'the receiver takes every parameter for a secret': [
      'name.startsWith(SECRETS_PREFIX) ? [secret]',
      'name !== SECRETS_PREFIX ? [secret]',
    ],
    'the receiver refuses signatures during a rotation of the secret': ["=== 'switching') {", '=== null) {'],
  }),
  ...bugsIn('protocol/signature.ts', {
    'a time ahead of the clock is tolerated': ['Math.abs(now - Number(parsed.t))', 'now - Number(parsed.t)'],
    'a time behind the clock is tolerated': ['Math.abs(now - Number(parsed.t))', 'Number(parsed.t) - now'],
  }),
  ...bugsIn('platform/parameters.ts', {
    'deleted parameters stay in use': ['current !== undefined && age < TTL_MS', 'current !== undefined'],
    'a failed read of parameters is never repeated': ['      reading = undefined\n', ''],
  }),
  ...bugsIn('api/keys.ts', {
    "the stores' API takes every source": ['sources.get(name.split', 'String(name.split'],
  }),
  ...bugsIn('api/refusals.ts', {
    "the stores' API answers 202 when it failed": [
      "unavailable('The request could not be stored; send it again')",
      "{ ...unavailable(''), status: 202 }",
      WHOLE_LIFE,
    ],
  }),
  ...bugsIn('api/request.ts', {
    'a store may act for another': ['order.source !== keySource', 'keySource === undefined'],
  }),
  ...bugsIn('api/handler.ts', {
    "the stores' API logs a path": [
      '{ status: response.status, ...about }',
      '{ path: event.rawPath, ...about }',
    ],
  }),
  ...bugsIn('api/waiting.ts', {
    'a request that does not wait counts as a failed wait': [
      `if (time < SHORTEST_PAUSE) return undefined
    const admission = admit(order)`,
      `const admission = admit(order)
    if (time < SHORTEST_PAUSE) return void ('end' in admission && admission.end('failure'))`,
    ],
  }),
  ...bugsIn('api/serve.ts', {
    "the stores' API answers before the queue has the event": [...unawaited(ENQUEUE_EVENT), WHOLE_LIFE],
  }),
  ...bugsIn('worker/handler.ts', {
    'the worker does not extend visibility': [
      'extendVisibility([record, ...behind], seconds).finally(() => noted)',
      'noted',
    ],
    'the worker drops what it cannot read': ['await quarantine({', 'void ({'],
    'the worker logs what it cannot read': ['aboutMessage(body), messageId }', 'aboutMessage(body), body }'],
  }),
  ...bugsIn('worker/calls.ts', {
    'the worker has no deadline': ['remaining() < TIMEOUT_MS + RESERVED_MS', 'remaining() < 0'],
    'an unavailable service is taken for a refusal': [
      "if (code !== 'unknown_order' || reason === undefined)",
      "if (reason === undefined) return { to, outcome: 'refused', reason: { status: 503, message: '' } }\n      if (code !== 'unknown_order')",
    ],
  }),
  ...bugsIn('accounting/errors.ts', {
    'a refusal is logged in the words of the service': [
      'super(message)',
      'super(reason?.message ?? message)',
    ],
  }),
  ...bugsIn('platform/breaker.ts', {
    'the breaker never closes': [
      'for (const circuit of probed) circuit.isProbing = false',
      '',
      DOWN_FOR_AN_HOUR,
    ],
    "one store's failing orders open the breaker for all stores": [
      'fail(everybody, order, 2)',
      'fail(everybody, order, 1)',
      DOWN_FOR_AN_HOUR,
    ],
  }),
  ...bugsIn('orders/handle-event.ts', {
    'an order is published before it is saved': [
      `${SAVE}
    ${PUBLISH}`,
      `${PUBLISH}
    ${SAVE}`,
      'a payment of an order that nobody created is withdrawn while the service is slow',
    ],
    'what a worker that died has saved is not published': [
      'stored?.outbox !== undefined && mayBeUnpublished',
      'stored === null',
      UNKNOWN_ORDER,
    ],
    'the history is written after the order': [
      `${RECORD}
    ${SAVE}`,
      `${SAVE}
    ${RECORD}`,
      UNKNOWN_ORDER,
    ],
    'an event that has succeeded counts as failing': ['!(isFailing && succeeds)', 'true', UNKNOWN_ORDER],
    'the version does not count up': ['version: order.version + 1', 'version: order.version'],
    'the history does not find a request': [
      'isRequest(event) && !isApplied ? event.delivery : undefined',
      'isRequest(event) && isApplied ? event.delivery : undefined',
    ],
    'the worker makes one call an event': ['const MAX_CALLS = 12', 'const MAX_CALLS = 1'],
    'a withdrawal waits for the events before it': [
      "next.to !== 'read' && !areWithdrawalsKnown",
      'next === null',
    ],
    'a payment that may have been sent counts as unsent': [
      'if (redelivered || isFailing) step =',
      'if (step === null) step =',
      'a payment is withdrawn while the service is slow to hold it',
    ],
  }),
  ...bugsIn('orders/repository.ts', {
    'an order is saved without its revision': [
      `ConditionExpression: revision === 0 ? 'attribute_not_exists(revision)' : 'revision = :read',
      ...(revision !== 0 && { ExpressionAttributeValues: { ':read': { N: String(revision) } } }),`,
      '',
      'an invoice edited again and again without a change of status',
    ],
    'unsettled orders are not indexed': ['...((isBulk || !isSettled(order)) && {', '...(revision < 0 && {'],
  }),
  ...bugsIn('protocol/status.ts', {
    'every status follows every other': ['STATUSES.indexOf(to) > STATUSES.indexOf(from)', 'to !== undefined'],
    'a refund is sent in review': ["refund: { needs_review: 'refused'", "refund: { needs_review: 'refunded'"],
    'a payment in review is not held': ["payment: { needs_review: 'held'", "payment: { needs_review: 'paid'"],
  }),
  ...bugsIn('orders/apply.ts', {
    'a resend leaves out what a store has asked for': [
      'openRequests(order)\n    .filter(isNotified)',
      'openRequests(order)\n    .filter(() => false)',
    ],
    'a webhook is believed whenever it differs': [
      'known !== undefined && (movedBack ||',
      'known === null && (movedBack ||',
    ],
    'a refusal that may be fixed is final': ['status === 400 && !INVALID', 'status === 0 && !INVALID'],
    'what was refused is never tried again': ['return retryRefused(doubted(step))', 'return doubted(step)'],
    'what was refused is tried for ever': ['now - since >= retryRefused', 'now < since'],
    'the original result of a repeated create is believed': [
      "if (duplicate !== true) return end(applyResult(step, result), request, 'registered')",
      "if (duplicate !== null) return end(applyResult(step, result), request, duplicate ? 'duplicate' : 'registered')",
    ],
    'a duplicate counts as registered': [
      ": doubted(withRequest(step, { ...fieldsOf(request), kind: 'create', stage: 'known' }))",
      ": end(applyResult(step, result), request, 'registered')",
      'a create of orders that the service has, while it is down',
    ],
    'a payment is sent behind a refused create': [
      "create?.stage !== 'refused' || !isToBeSent(request)",
      'create !== null',
    ],
    'a payment that may be held is withdrawn': [
      "return ['unanswered', 'perhaps sent', 'unclear', 'crossed'].includes(stage)",
      'return stage === null',
      'a payment is withdrawn while the service is slow to hold it',
    ],
    'the refunds that wait are not published': ['return isNotified(request) ? next', 'return true ? next'],
  }),
  ...bugsIn('orders/requests.ts', {
    'a result does not name its requests': ['{ ...last, requests }', 'last'],
    'the payments that are held are not published': [
      "notify(withRequest(step, held), 'held', idsOf(held))",
      'withRequest(step, held)',
    ],
    'a second request is never answered': ["group(others, 'duplicate')", "group([], 'duplicate')"],
    'a withdrawal does not ask whether it comes too late': [
      'return doubted(withRequest(step, { ...request, withdrawals: [...request.withdrawals, withdrawal] }))',
      'return withRequest(step, { ...request, withdrawals: [...request.withdrawals, withdrawal] })',
      'a payment is withdrawn at once',
    ],
    'a withdrawal takes back what is requested after it': [
      'withdrawal === undefined || withdrawal.accepted_at < accepted_at',
      'withdrawal === undefined',
      'a payment is withdrawn, and requested again an hour later',
    ],
    'a request too many counts as a duplicate': [
      "addEnded(step, { ids: [id], kind, state: 'rejected', reason })",
      "addEnded(step, { ids: [id], kind, state: 'duplicate' })",
    ],
  }),
  ...bugsIn('orders/feed.ts', {
    'a repeated message has another id': [
      'contentId(source, external_id, version, content)',
      'contentId(Math.random(), content)',
      WHOLE_LIFE,
    ],
  }),
  ...bugsIn('platform/batch.ts', {
    'a batch is acknowledged before it is processed': unawaited('await handle(record)'),
    'one failure fails the whole batch': [
      'failed.flat().map(',
      '(failed.flat().length > 0 ? records : []).map(',
    ],
    'one success acknowledges the whole batch': [
      'failed.flat().map(',
      '(failed.flat().length === records.length ? records : []).map(',
    ],
    'a group goes on behind its failure': ['return group.slice(index)', 'continue'],
  }),
  ...bugsIn('platform/retry.ts', {
    'entries that SQS failed to change are ignored': ['return Failed\n', 'return Failed.slice(0, 0)\n'],
    'a retry does not wait as long as it was asked to': ['retryAfter * (1 + random / 10)', '0'],
  }),
  ...bugsIn('feeds/feeder.ts', {
    'the feeder drops what it gives up': ['await deadLetter(record)', 'void deadLetter'],
  }),
  ...bugsIn('feeds/deliver.ts', {
    'an unreachable store is logged with the request': ['code: error?.code', 'code: error?.request'],
    'every answer of a store is taken for acceptance': ['isOk(status)', 'status > 0'],
    'a feed message is signed in milliseconds': ['const t = unixSeconds(now())', 'const t = now()'],
  }),
  ...bugsIn('feeds/handler.ts', {
    'the feeder does not extend visibility': ['await extendVisibility([record', 'void ([record'],
    'the feeder looks for its queue by another name': ['`:${queueUrl.slice', '`/${queueUrl.slice'],
  }),
  ...bugsIn('reconcile/handler.ts', {
    'due orders are not checked': [ENQUEUE_EVENT, 'void enqueue'],
    'a check is postponed before it is queued': [
      ENQUEUE_EVENT,
      `await orders.postpone(order, time + checkInterval(order.checks + 1, random()))
      ${ENQUEUE_EVENT}`,
      'the only webhook never arrives',
    ],
  }),
]

/** Throws when a bug has no place: its text must be in the source exactly once. */
export const patch = ({ name, file, find, replace }: Bug, source: string): string => {
  const count = source.split(find).length - 1
  if (count !== 1)
    throw new Error(`Cannot plant "${name}" in ${file}: "${find}" is there ${count} times, not once`)
  return source.replace(find, () => replace)
}

/** Throws at the first bug that has no place any more, before any of them is planted. */
export const assertPlantable = (bugs: readonly Bug[]): void => {
  for (const bug of bugs) patch(bug, readFileSync(new URL(`../../${bug.file}`, import.meta.url), 'utf8'))
}
