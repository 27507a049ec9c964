import type { Announcements } from '../orders/announcements.ts'
import type { Enqueue } from '../orders/events.ts'
import type { RequestKind } from '../orders/order.ts'
import { tooMany } from '../orders/requests.ts'
import { failAbout } from '../platform/about.ts'
import type { HttpResponse } from '../platform/http.ts'
import type { Refusal } from '../protocol/errors.ts'
import type { Body } from '../protocol/json.ts'
import type { OrderKey } from '../protocol/order.ts'
import { type Answered, accepted, answerOf, refused } from './answers.ts'
import { type Access, type AccessOfKey, bearerKey, type KeyKind } from './keys.ts'
import { type Preferences, readPreferences } from './prefer.ts'
import type { StoreRate } from './rate.ts'
import { answerRead, type ReadDependencies } from './read.ts'
import * as refusals from './refusals.ts'
import { answerRegistration, type RegistrationDependencies } from './registration.ts'
import { type HttpHeaders, type OrderAction, type RegistrationAction, readRequest, route } from './request.ts'
import type { Wait } from './waiting.ts'
import { withWarnings } from './warnings.ts'

export type HttpRequest = {
  method: string
  /** Percent-decoded. */
  path: string
  headers: HttpHeaders
  query: URLSearchParams
  body: Body
  /** When API Gateway received it: unix time in milliseconds. */
  receivedAt: number
  /** Milliseconds until the function's timeout. */
  time: number
}

export type ServeDependencies = ReadDependencies &
  RegistrationDependencies & {
    accessOf: AccessOfKey
    /** Records the use of a key by its id. */
    recordUse: (id: string) => Promise<void>
    /** The limit of each store's requests. */
    rate: StoreRate
    announcements: Announcements
    enqueue: Enqueue
    isExact: (source: string) => boolean
    wait: Wait
    /** The default of `Prefer: wait`, in seconds. */
    waitSeconds: number
    /** The calendar day in the time zone of the accounting service. */
    today: () => string
    now: () => number
    newId: () => string
  }

/** A request that its key does not allow. `claimed_source`: the other store that it names, if stores.yml has it. */
type Forbidden = {
  action: string
  source: string
  key: 'foreign' | Exclude<KeyKind, 'full'>
  key_id: string
  claimed_source?: string | undefined
}

/** The response, and the parts of the request that may be logged. */
export type Served = {
  response: HttpResponse
  about?:
    | ({ action: string; source: string; key?: 'expired'; expired_key?: string } & Partial<
        Record<'external_id' | 'delivery' | 'state', string>
      >)
    | Forbidden
    /** Without access: the store that the request claims to be of, if stores.yml has it. */
    | { action: string; key: 'missing' | 'unknown'; claimed_source?: string | undefined }
  /** Whether the API has no such path or method: a scan, or a test of whether the relay answers. */
  unknown?: true
}

/** The longest wait of a store, in seconds. */
export const MAX_WAIT = 10

/** How long after a wait the function needs to answer, in milliseconds. */
export const RESERVED_MS = 5000

/** A withdrawal that takes longer is blocked by an event that cannot be handled: it is announced to the worker. */
const ANNOUNCE_AFTER_MS = 500

/** Maximum length of an announced body, in characters. */
const ANNOUNCED_MAX = 500

type Change = Exclude<OrderAction, { to: 'read' }>

/**
 * Why the order accepts no more requests of this kind, before the request is queued. The worker decides on requests
 * that arrive at the same time, and on all requests while the order cannot be read.
 */
const excessOf = async (
  order: OrderKey,
  kind: RequestKind,
  { orders, onError }: ServeDependencies,
): Promise<Refusal | undefined> => {
  const stored = await orders
    .get(order, 'eventual')
    .catch(error => void onError('order not read', error, order))
  return stored && tooMany(stored.order, kind)
}

/** Enqueues a change, waits for the worker to decide on it, and answers as the service did. */
const change = async (
  { action, order, text }: { action: Change; order: OrderKey; text: string },
  preferred: Preferences,
  { receivedAt, time }: HttpRequest,
  { orders, announcements, enqueue, isExact, wait, waitSeconds, now, newId, onError }: ServeDependencies,
): Promise<Answered & { id: string }> => {
  const id = newId()
  const about = { ...order, delivery: id }
  const of = action.to === 'withdraw' ? action.of : undefined
  const data = { ...order, ...(of === undefined ? { body: text } : { kind: of }), accepted_at: receivedAt }
  const event = { event: `order.${action.to}`, delivery: id, data }
  await enqueue(order, { id, json: JSON.stringify(event) }).catch(failAbout(about))
  /** The request is queued: a later failure is only logged, unless its store is exact. */
  const attempt = (message: string, step: Promise<unknown>) =>
    step.catch(error => onError(message, error, about))
  let isAnnounced = false
  const announceWithdrawal = async () => {
    if (of === undefined || isAnnounced) return
    isAnnounced = true
    const announced = announcements.announceWithdrawal(order, { id, of, accepted_at: receivedAt })
    await attempt('withdrawal not announced', announced)
  }

  const began = now()
  const seconds = Math.min(preferred.wait ?? (preferred.respondAsync ? 0 : waitSeconds), MAX_WAIT)
  const outcome = await wait(
    async () => {
      const stored = await orders.get(order, 'eventual')
      // Behind an import, which takes longer than any wait.
      if (stored?.bulk !== undefined) return 'bulk'
      const answer = stored === undefined ? undefined : answerOf(stored, id)
      if (answer === undefined && now() - began >= ANNOUNCE_AFTER_MS) await announceWithdrawal()
      return answer
    },
    // The time already spent counts towards the wait.
    Math.min(seconds * 1000 - Math.max(0, now() - receivedAt), time - RESERVED_MS),
    about,
  )
  let decided = outcome === 'bulk' ? undefined : outcome
  if (decided === undefined) await announceWithdrawal()
  if (decided === undefined && of === undefined && isExact(order.source)) {
    await announcements.announceAccepted(order, { id, accepted_at: receivedAt }).catch(failAbout(about))
    const stored = await orders.get(order).catch(failAbout(about))
    decided = stored && answerOf(stored, id)
  }
  const { to } = action
  if (decided === undefined && to !== 'withdraw') {
    await attempt(
      'request not announced',
      announcements.announceRequest(
        order,
        to,
        { id, accepted_at: receivedAt },
        // Never for a create, which contains personal data. A short body usually keeps the announcement at one write
        // unit.
        to === 'create' || text.length > ANNOUNCED_MAX ? '' : text,
      ),
    )
  }
  const { response, state } = decided ?? accepted(order, id, of)
  const applied = [
    ...(preferred.respondAsync && response.status === 202 ? ['respond-async'] : []),
    ...(preferred.wait === undefined ? [] : [`wait=${seconds}`]),
    ...(preferred.strict ? ['handling=strict'] : []),
  ]
  const headers = {
    'relay-request-id': id,
    'relay-request-state': state,
    ...(applied.length > 0 && { 'preference-applied': applied.join(', ') }),
    ...response.headers,
  }
  return { id, state, response: { ...response, headers } }
}

/** Larger bodies are not searched for a source. */
const SEARCHED = 10_000

/** The store that a request without access to it names. Only a known one is logged: any other may be anything. */
const claimedSource = ({ query, body }: HttpRequest, stores: ServeDependencies['stores']) => {
  const text = typeof body === 'string' && body.length <= SEARCHED ? body : ''
  const claimed = query.get('source') ?? /"source"\s*:\s*"([^"\\]{1,100})"/.exec(text)?.[1]
  return stores.find(({ source }) => source === claimed)?.source
}

/**
 * The stores' API (spec: Endpoints; promises P11, P13): routes, authenticates, validates and checks the source; then a
 * change is added to the order queue and answered as the service answers the worker, or with 202 when that takes too
 * long, and a read is answered from the orders table, or by the service if the order is unknown or the service may
 * change it next.
 *
 * Every change has its own id, even when it repeats an earlier one: sent again after the cause of a rejection
 * was fixed, it must not be dropped as a duplicate. The worker is idempotent by state, so nothing happens
 * twice.
 *
 * Rejects when SQS, DynamoDB or Parameter Store fail before anything is promised.
 */
export const serve = async (request: HttpRequest, dependencies: ServeDependencies): Promise<Served> => {
  const { accessOf, recordUse, rate } = dependencies
  // Before the key, so that a scan of unknown paths costs no look-up.
  const routed = route(request.method, request.path)
  if ('refused' in routed) return { response: routed.refused, unknown: true }
  const { action } = routed

  const key = bearerKey(request.headers.authorization)
  const access = key === undefined ? undefined : await accessOf(key)
  if (access === undefined) {
    const claimed_source = claimedSource(request, dependencies.stores)
    const about = {
      action: action.to,
      key: key === undefined ? 'missing' : 'unknown',
      claimed_source,
    } as const
    return { response: refusals.unauthorized, about }
  }
  const { source, id, kind, only, expired } = access
  const about = { action: action.to, source }
  if (expired)
    return { response: refusals.unauthorized, about: { ...about, key: 'expired', expired_key: id } }
  const retryAfter = rate.retryAfter(source)
  if (retryAfter !== undefined) return { response: refusals.tooFast(retryAfter), about }
  const isRestricted = only !== undefined && only !== action.to
  const answering = isRestricted
    ? { response: refusals.restricted(kind), about }
    : answer(request, action, access, dependencies)
  // Before the response, since Lambda freezes the environment after it.
  const [answered] = await Promise.all([answering, recordUse(id), rate.count(source)])
  if (answered.response.status !== 403) return answered
  const forbidden = { ...about, key_id: id }
  if (kind !== 'full' && (isRestricted || answered.response === refusals.unpayable))
    return { ...answered, about: { ...forbidden, key: kind } }
  const claimed_source = claimedSource(request, dependencies.stores)
  return { ...answered, about: { ...forbidden, key: 'foreign', claimed_source } }
}

const answer = async (
  request: HttpRequest,
  action: OrderAction | RegistrationAction,
  { source, only }: Pick<Access, 'source' | 'only'>,
  dependencies: ServeDependencies,
): Promise<Served> => {
  const { orders, today } = dependencies
  const refuse = (response: HttpResponse) => ({ response, about: { action: action.to, source } })

  if (action.to === 'register' || action.to === 'unregister') {
    const registering = answerRegistration(action, source, request, dependencies)
    return { response: await registering.catch(failAbout({ source })), about: { action: action.to, source } }
  }

  const query = request.query.getAll('source')
  const { body, headers: given } = request
  const preferred = readPreferences(given.prefer)
  const reading = readRequest(
    {
      action,
      query,
      body,
      headers: given,
      strict: preferred.strict,
      isCreateOnly: only === 'create',
    },
    source,
    today,
  )
  if ('refused' in reading) return refuse(reading.refused)
  const { order, text, invalid, warnings } = reading
  const about = { action: action.to, ...order }

  if (action.to === 'read') return { response: await answerRead(order, dependencies), about }
  if (invalid !== undefined) {
    const stored = await orders.get(order).catch(failAbout(order))
    if (stored?.order.result === undefined) return refuse(invalid)
  }
  const excess = action.to === 'withdraw' ? undefined : await excessOf(order, action.to, dependencies)
  if (excess !== undefined) return refuse(refused(excess))

  const { response, id, state } = await change({ action, order, text }, preferred, request, dependencies)
  return { response: withWarnings(response, warnings), about: { ...about, delivery: id, state } }
}
