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

/** What to do about a store whose endpoint has not accepted a test message. */
export const endpointRemedy = (
  context: Pick<Context, 'flags'>,
  store: Pick<Store, 'source' | 'feed'>,
  { status, message }: Pick<FeedError, 'status' | 'message'>,
) => {
  const url = say(registersItself(store) ? 'url-registered' : 'url-configured')
  if (status === UNVERIFIED) return verifyRemedy(context, store)
  if (status === 404 || status === 405) return say('check-path', { url })
  if (status !== undefined && status >= 300 && status <= 399) return say('redirects', { url })
  if (status !== undefined) return say('find-error')
  // Only the message of the HTTP client names a timeout.
  if (message.includes('no complete response')) return say('answer-late', { count: SENDER_TIMEOUT_SECONDS })
  return say('check-address', { url })
}
