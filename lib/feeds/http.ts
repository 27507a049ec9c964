import { retryAfterSeconds } from '../accounting/errors.ts'
import { sign } from '../protocol/signature.ts'
import { HEADERS } from '../protocol/webhook.ts'

/** The service gives a receiver ten seconds; a store's receiver is used to that. */
const TIMEOUT_MS = 10_000

/** A store's endpoint did not take a message. */
export class FeedError extends Error {
  override readonly name = 'FeedError'
  /** How long the store wants to be left alone, in seconds. */
  readonly retryAfter: number | undefined

  constructor(
    message: string,
    { retryAfter, cause }: { retryAfter?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.retryAfter = retryAfter
  }
}

/** One message on its way to a store. */
type Posting = {
  url: string
  secret: string
  event: string
  delivery: string
  /** The message as it waited in the store's queue; exactly these bytes are signed and sent. */
  body: string
}

/** Resolves when the store has taken the message, with any 2xx. */
export type Post = (posting: Posting) => Promise<void>

/**
 * Sends a message as the accounting service sends a webhook (spec: Delivery, Signature), so that a store's
 * existing receiver works unchanged. Redirects are not followed: what is signed for one address is not
 * handed to another.
 *
 * The returned function throws a FeedError for everything but a 2xx within ten seconds.
 */
export const httpPost =
  (now: () => number = Date.now, timeout = TIMEOUT_MS): Post =>
  async ({ url, secret, event, delivery, body }) => {
    let response: Response
    try {
      response = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        signal: AbortSignal.timeout(timeout),
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'user-agent': 'order-relay/1.0',
          [HEADERS.event]: event,
          [HEADERS.delivery]: delivery,
          [HEADERS.signature]: sign({ secret, t: Math.floor(now() / 1000), body }),
        },
        body,
      })
    } catch (cause) {
      throw new FeedError(`Cannot reach the store: ${reasonOf(cause)}`, { cause })
    }
    // What the store says beside its status is of no use, and could be without end.
    await response.body?.cancel().catch(() => undefined)
    if (response.ok) return
    const retryAfter = retryAfterSeconds(response.headers.get('retry-after') ?? undefined, now())
    throw new FeedError(`Cannot tell the store: it answered ${response.status}`, { retryAfter })
  }

/** fetch says "fetch failed" and keeps the reason in the cause. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message
}
