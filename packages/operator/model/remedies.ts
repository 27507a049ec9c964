import type { FeedError } from '@order-relay/lib/feeds/deliver.ts'
import { registersItself } from '@order-relay/lib/platform/http-stores.ts'
import type { Store } from '@order-relay/lib/platform/stores.ts'
import { SENDER_TIMEOUT_SECONDS } from '@order-relay/lib/protocol/webhook.ts'
import type { Context } from '../core/context.ts'
import { say } from '../core/findings.ts'
import { shellWord } from '../core/output.ts'

/** The status of a store that refuses the signature of a message. */
export const UNVERIFIED = 401

/** What to do about a store that refuses the signatures of its messages. */
export const verifyRemedy = ({ flags }: Pick<Context, 'flags'>, store: Pick<Store, 'source' | 'feed'>) => {
  const explain = 'relay explain-signature'
  return registersItself(store)
    ? say('verify-registered', { explain })
    : say('verify', { explain, command: `relay stores secret ${shellWord(store.source)}${flags}` })
}

/** What to do about a redirect. Its target is known only from the `Location` of a test's response. */
const redirectRemedy = (url: ReturnType<typeof say>, sent: string, location: string | undefined) => {
  const to = location === undefined ? null : URL.parse(location, sent)
  if (to === null) return say('redirects', { url })
  // Redirects to https, to another host name, or to the same path with or without a trailing slash.
  const [from, path] = [new URL(sent), to].map(({ pathname }) => pathname.replace(/\/+$/, ''))
  return say(from === path ? 'redirects-to' : 'redirects-elsewhere', { url, location: { foreign: to.href } })
}

/**
 * What to do about a store whose endpoint has not accepted a test message.
 *
 * @param sent the URL to which the message was sent, and the `Location` of the response
 */
export const endpointRemedy = (
  context: Pick<Context, 'flags'>,
  store: Pick<Store, 'source' | 'feed'>,
  { status, message }: Pick<FeedError, 'status' | 'message'>,
  sent?: { url: string; location: string | undefined },
) => {
  const url = say(registersItself(store) ? 'url-registered' : 'url-configured')
  if (status === UNVERIFIED) return verifyRemedy(context, store)
  if (status === 404 || status === 405) return say('check-path', { url })
  if (status !== undefined && status >= 300 && status <= 399)
    return redirectRemedy(url, sent?.url ?? '', sent?.location)
  if (status === 429) return say('rate-limited')
  if (status === 502) return say('proxy-failed')
  if (status === 504) return say('proxy-late', { count: SENDER_TIMEOUT_SECONDS })
  if (status !== undefined) return say('find-error')
  // Only the message of the HTTP client names a timeout.
  if (message.includes('no complete response')) return say('answer-late', { count: SENDER_TIMEOUT_SECONDS })
  return say('check-address', { url })
}
