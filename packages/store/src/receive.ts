import {
  assertArguments,
  assertOptions,
  either,
  FUNCTION,
  isRaw,
  isRequest,
  OBJECT,
  optional,
  POSITIVE,
  SECRETS,
} from './arguments.ts'
import { misuseOf, refuse } from './frameworks.ts'
import { handleOnce } from './handle-once.ts'
import { MessageError, readMessage } from './messages.ts'
import { type Handling, type Once, onceInMemory } from './once.ts'
import { ONE_MEBIBYTE, type Outcome, tooLarge } from './outcome.ts'
import { bytesOf, type HeadersLike, SignatureError, verifySignature } from './signature.ts'

export type ReceiveOptions<Transaction> = Handling<Transaction> & {
  /** The secret of the feed, or a function that returns every valid one: two while it is being rotated. */
  secrets: string | readonly string[] | (() => Promise<string | readonly string[]>)
  /** Maximum size of a body in bytes; a larger one is answered 413. @default 1 MiB, the limit of SQS */
  maxBytes?: number
}

/** Without a stack, with which forged messages would fill the log. */
const report = (error: unknown) =>
  console.error(error instanceof SignatureError || error instanceof MessageError ? error.message : error)

/** Takes one request, whose body must be raw bytes or text; returns the status to answer and an error for people. */
export type Receive = {
  (headers: HeadersLike, body: unknown): Promise<Outcome>
  /** Where the handlers stop reading a body, in bytes. @default 1 MiB */
  readonly maxBytes?: number
  /** Called by the handlers if they cannot receive a request. @default no report */
  readonly onError?: (error: unknown) => void
}

const rawBody = (body: unknown): string | Uint8Array => {
  if (isRaw(body)) return typeof body === 'string' ? body : bytesOf(body)
  throw new TypeError(
    'Cannot verify a body that was parsed: pass the raw bytes of the request, or their text',
  )
}

/**
 * The receiver of an HTTP feed, independent of any framework: verifies the signature, drops messages that were already
 * handled, and calls `handle`. Pass it to `fetchHandler`, `nodeHandler` or `fastifyHandler`.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'order-relay-store'
 * import { orderUpdated, signedRequest } from 'order-relay-store/testing'
 *
 * const receive = createReceiver({
 *   secrets: 'secret',
 *   handle: ({ event, data }) => console.log(event, data.external_id), // order.updated 1001
 * })
 * const request = await signedRequest('https://shop.example/', orderUpdated({ external_id: '1001' }), 'secret')
 * console.log((await receive(request.headers, await request.text())).status) // 200
 * ```
 */
export const createReceiver = <Transaction = undefined>(options: ReceiveOptions<Transaction>): Receive => {
  assertArguments('create a receiver', { options: [options, OBJECT] })
  const { secrets, handle, onError = report, maxBytes = ONE_MEBIBYTE } = options
  assertOptions('create a receiver', options, {
    secrets: [secrets, either(SECRETS, FUNCTION)],
    handle: [handle, FUNCTION],
    once: [options.once, optional(FUNCTION)],
    onError: [onError, FUNCTION],
    maxBytes: [maxBytes, POSITIVE],
  })
  const once = options.once ?? (onceInMemory() as Once<Transaction>)
  const receive = async (headers: HeadersLike, body: unknown): Promise<Outcome> => {
    const misuse = misuseOf('receive', headers, body)
    if (misuse !== undefined) return refuse(misuse, body, onError)
    try {
      if (isRequest(headers) || isRequest(body)) {
        throw new TypeError(
          'Cannot receive a Request: pass it to a handler, as in fetchHandler(receive)(request)',
        )
      }
      const raw = rawBody(body)
      // A text has at least as many bytes as characters.
      if (raw.length > maxBytes) return tooLarge(maxBytes)
      const bytes = bytesOf(raw)
      if (bytes.length > maxBytes) return tooLarge(maxBytes)
      const valid = typeof secrets === 'function' ? await secrets() : secrets
      await verifySignature({ headers, body: bytes, secrets: valid })
      const message = readMessage(new TextDecoder().decode(bytes))
      // `relay stores test` checks that the endpoint works.
      if ((message.event as string) === 'relay.test') return { status: 200 }
      await handleOnce(once, message, handle)
      return { status: 200 }
    } catch (error) {
      onError(error)
      if (error instanceof SignatureError) return { status: 401, error: 'The signature is not valid' }
      if (error instanceof MessageError) return { status: 400, error: error.message }
      return { status: 500, error: 'The message could not be handled; send it again' }
    }
  }
  return Object.assign(receive, { maxBytes, onError })
}
