import type { FeedError } from '@order-relay/lib/feeds/deliver.ts'
import { registersItself } from '@order-relay/lib/platform/http-stores.ts'
import type { Store } from '@order-relay/lib/platform/stores.ts'
import { SENDER_TIMEOUT_SECONDS } from '@order-relay/lib/protocol/webhook.ts'
import type { Context } from '../core/context.ts'
import { say } from '../core/findings.ts'
import { shellWord } from '../core/output.ts'

/** The status of a store that refuses the signature of a message. */
export const UNVERIFIED = 401

/** A store with an HTTP feed. */
type Endpoint = Pick<Store, 'source' | 'feed' | 'exact'>

/** What to do about a store that refuses the signatures of its messages. */
const verifyRemedy = ({ flags }: Pick<Context, 'flags'>, store: Endpoint) => {
  const explain = 'relay explain-signature'
  return registersItself(store)
    ? say('verify-registered', { explain })
    : say('verify', { explain, command: `relay stores secret ${shellWord(store.source)}${flags}` })
}

/** The URL to which a test message was sent, and the `Location` of the response. */
export type TestMessage = { url: string; location: string | undefined }

/** What to do about a redirect. Its target is known only from the `Location` of a test's response. */
const redirectRemedy = (
  { flags }: Pick<Context, 'flags'>,
  { source, exact }: Endpoint,
  url: ReturnType<typeof say>,
  sent: TestMessage | undefined,
) => {
  // An exact store receives no test event.
  if (sent === undefined && !exact)
    return say('redirects-unknown', { url, command: `relay stores test ${shellWord(source)}${flags}` })
  const to = sent?.location === undefined ? null : URL.parse(sent.location, sent.url)
  if (sent === undefined || to === null) return say('redirects', { url })
  // Redirects to https, to another host name, or to the same path with or without a trailing slash.
  const [from, path] = [new URL(sent.url), to].map(({ pathname }) => pathname.replace(/\/+$/, ''))
  return say(from === path ? 'redirects-to' : 'redirects-elsewhere', { url, location: { foreign: to.href } })
}

/** What to do about a store that gave no complete response. */
const silenceRemedy = (
  url: ReturnType<typeof say>,
  { code = '', message }: Pick<FeedError, 'code' | 'message'>,
) => {
  // Only the message of the HTTP client names a timeout.
  if (message.includes('no complete response')) return say('answer-late', { count: SENDER_TIMEOUT_SECONDS })
  if (code === 'ENOTFOUND') return say('check-name', { url })
  if (/CERT|SIGNATURE/.test(code)) return say('check-certificate', { url })
  return say('check-address', { url })
}

/** What to do about a store whose endpoint has not accepted a message. */
export const endpointRemedy = (
  context: Pick<Context, 'flags'>,
  store: Endpoint,
  error: Pick<FeedError, 'status' | 'code' | 'message'>,
  sent?: TestMessage,
) => {
  const url = say(registersItself(store) ? 'url-registered' : 'url-configured')
  const { status } = error
  if (status === undefined) return silenceRemedy(url, error)
  if (status >= 300 && status <= 399) return redirectRemedy(context, store, url, sent)
  switch (status) {
    case UNVERIFIED:
      return verifyRemedy(context, store)
    case 403:
      return say('forbidden')
    case 404:
    case 405:
    case 410:
      return say('check-path', { url })
    case 413:
      return say('size-limited')
    case 429:
      return say('rate-limited')
    case 502:
      return say('proxy-failed')
    case 503:
      return say('not-running')
    case 504:
      return say('proxy-late', { count: SENDER_TIMEOUT_SECONDS })
    default:
      return say('find-error')
  }
}
