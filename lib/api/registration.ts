import * as v from 'valibot'
import { type AllowedAddresses, FEED_URL, isFeedUrl } from '../platform/addresses.ts'
import type { HttpResponse } from '../platform/http.ts'
import { registersItself } from '../platform/http-stores.ts'
import { newFeedSecret, type Registrations } from '../platform/registrations.ts'
import type { Store } from '../platform/stores.ts'
import type { Body } from '../protocol/json.ts'
import { text } from '../protocol/order.ts'
import { object } from '../protocol/requests.ts'
import * as refusals from './refusals.ts'
import { type HttpHeaders, type RegistrationAction, readBody } from './request.ts'
import { warningsOf, withWarnings } from './warnings.ts'

export type RegistrationDependencies = {
  registrations: Pick<Registrations, 'put' | 'remove'>
  stores: readonly Store[]
  /** The addresses that a registered URL may have. */
  feedAddresses: AllowedAddresses
}

/** Longer than any real URL, and short in tables and log lines. */
export const URL_MAX = 2000

const url = v.pipe(text, v.maxLength(URL_MAX, `must have at most ${URL_MAX} characters`))

/** The URL to remove may have been registered under other rules. */
const removal = object({ url })

/** The body of a removal, whose URL may be in the query instead. */
export const webhookRemoval = object({ url: v.nullish(url) })

/**
 * Registers or removes the URL of a store's HTTP feed (spec: PUT and DELETE webhook; promise P13), for stores without a
 * URL in stores.yml. A store has one URL: registering another one replaces it, and registering the same one again creates
 * a new secret.
 */
export const answerRegistration = async (
  { to }: RegistrationAction,
  source: string,
  {
    query,
    body,
    headers,
    receivedAt,
  }: { query: URLSearchParams; body: Body; headers: HttpHeaders; receivedAt: number },
  { registrations, stores, feedAddresses }: RegistrationDependencies,
): Promise<HttpResponse> => {
  const store = stores.find(each => each.source === source)
  if (store === undefined || !registersItself(store))
    return refusals.feedConfigured(source, store?.feed === 'sqs')
  const registered_at = new Date(receivedAt).toISOString()
  const reading = readBody(body, headers)
  if ('refused' in reading) return reading.refused

  const warned = (schema: v.GenericSchema, response: HttpResponse) =>
    withWarnings(response, warningsOf(schema, reading.json, reading.text))
  if (to === 'register') {
    const registration = object({
      url: v.pipe(
        url,
        v.check(address => isFeedUrl(address, feedAddresses), `must be ${FEED_URL}`),
      ),
    })
    const valid = v.safeParse(registration, reading.json, { abortEarly: true })
    if (!valid.success) return refusals.invalid(valid.issues)
    const registered = { url: valid.output.url, secret: newFeedSecret() }
    const isLast = await registrations.put(source, { ...registered, registered_at })
    return isLast ? warned(registration, { status: 200, body: registered }) : refusals.registrationReplaced
  }

  const given = v.safeParse(webhookRemoval, reading.json, { abortEarly: true })
  if (!given.success) return refusals.invalid(given.issues)
  const urls = new Set([...query.getAll('url'), ...(given.output.url == null ? [] : [given.output.url])])
  if (urls.size > 1) return refusals.contradictory('url', [...urls])
  const valid = v.safeParse(removal, { url: [...urls][0] }, { abortEarly: true })
  if (!valid.success) return refusals.invalid(valid.issues)
  await registrations.remove(source, valid.output.url, registered_at)
  return warned(webhookRemoval, { status: 204, body: '' })
}
