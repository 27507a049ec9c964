import {
  assertArguments,
  assertOptions,
  either,
  FUNCTION,
  isRaw,
  isRequest,
  type Kind,
  OBJECT,
  optional,
  POSITIVE,
  SECRETS,
} from './arguments.ts'
import { handleOnce } from './handle-once.ts'
import { MessageError, readMessage } from './messages.ts'
import { type Handling, type Once, onceInMemory } from './once.ts'
import { bytesOf, type HeadersLike, SignatureError, verifySignature } from './signature.ts'

export type ReceiveOptions<Transaction> = Handling<Transaction> & {
  /** The secret of the feed, or a function that returns every valid one: two while it is being rotated. */
  secrets: string | readonly string[] | (() => Promise<string | readonly string[]>)
  /** Maximum size of a body in bytes; a larger one is answered 413. @default 1 MiB, the limit of SQS */
  maxBytes?: number
}

const ONE_MEBIBYTE = 1024 * 1024

/** Without a stack, with which forged messages would fill the log. */
const report = (error: unknown) =>
  console.error(error instanceof SignatureError || error instanceof MessageError ? error.message : error)

const RECEIVE: Kind = ['what createReceiver returns', FUNCTION[1]]

type Outcome = { status: 200 | 400 | 401 | 413 | 500; error?: string }

/** Takes one request, whose body must be raw bytes or text; returns the status to answer and an error for people. */
export type Receive = {
  (headers: HeadersLike, body: unknown): Promise<Outcome>
  /** Where the handlers stop reading a body, in bytes. @default 1 MiB */
  readonly maxBytes?: number
}

const tooLarge = (maxBytes: number): Outcome => ({
  status: 413,
  error: `The body is larger than ${maxBytes} bytes`,
})

/** The most common mistake: a framework has parsed the body, and the signed bytes are gone. */
const rawBody = (body: unknown): string | Uint8Array => {
  if (isRaw(body)) return typeof body === 'string' ? body : bytesOf(body)
  throw new TypeError(
    'Cannot verify a body that was parsed: receive the raw bytes, in Express by a route before express.json(), in ' +
      'Fastify with a content type parser that has parseAs "buffer", in Next.js with api.bodyParser false',
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
  return Object.assign(receive, { maxBytes })
}

/**
 * Reads a body from its stream, and stops after `maxBytes`: forged messages must not fill the memory, and
 * `Content-Length` is not proof of their size. Chunks are copied into one buffer, since a client that sends single bytes
 * would otherwise occupy hundreds of bytes for each.
 */
const receiveFrom = async (
  receive: Receive,
  headers: HeadersLike,
  body: AsyncIterator<Uint8Array> | undefined,
): Promise<Outcome> => {
  const { maxBytes = ONE_MEBIBYTE } = receive
  let buffer = new Uint8Array(4096)
  let length = 0
  try {
    for (let read = await body?.next(); read && !read.done; read = await body?.next()) {
      const chunk = bytesOf(read.value)
      const end = length + chunk.length
      if (end > maxBytes) return tooLarge(maxBytes)
      if (end > buffer.length) {
        const full = buffer
        buffer = new Uint8Array(Math.max(end, 2 * full.length))
        buffer.set(full)
      }
      buffer.set(chunk, length)
      length = end
    }
  } catch {
    // A client that disconnects while sending must not crash the process.
    return { status: 400, error: 'The body did not arrive' }
  }
  return receive(headers, buffer.subarray(0, length))
}

const assertReceive = (receive: Receive) =>
  assertArguments('create a handler', { receive: [receive, RECEIVE] })

const methodNotAllowed = 'Only POST is allowed'

/**
 * For frameworks with `Request` and `Response`: Next.js route handlers, Hono, Bun, Deno, Workers.
 *
 * @example
 * ```ts
 * import { createReceiver, fetchHandler } from 'order-relay-store'
 * import { orderUpdated, signedRequest } from 'order-relay-store/testing'
 *
 * const POST = fetchHandler(createReceiver({ secrets: 'secret', handle: () => undefined }))
 * const message = orderUpdated({ external_id: '1001' })
 * console.log((await POST(await signedRequest('https://shop.example/', message, 'secret'))).status) // 200
 * console.log((await POST(await signedRequest('https://shop.example/', message, 'forged'))).status) // 401
 * ```
 */
export const fetchHandler = (receive: Receive) => {
  assertReceive(receive)
  return async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') {
      return Response.json({ error: methodNotAllowed }, { status: 405, headers: { allow: 'POST' } })
    }
    const { headers, bodyUsed } = request
    const body = bodyUsed ? undefined : request.body?.[Symbol.asyncIterator]()
    const { status, error } = bodyUsed
      ? await receive(headers, undefined)
      : await receiveFrom(receive, headers, body)
    // Cancels the rest of a body that is too large. It fails if the connection is gone.
    await body?.return?.().catch(() => undefined)
    return Response.json({ error }, { status })
  }
}

type NodeRequest = AsyncIterable<Uint8Array> & {
  method?: string | undefined
  headers: { readonly [name: string]: string | string[] | undefined }
  body?: unknown
}
type NodeResponse = {
  writeHead(status: number, headers: Record<string, string | number>): unknown
  write(text: string): unknown
  end(text?: string): unknown
}

/** How much of a body that is too large is discarded, and for how long, before its connection is closed. */
const DISCARDED = { bytes: 16 * ONE_MEBIBYTE, ms: 5000 }

/** @param close ends the body as well */
const discard = async (body: AsyncIterator<Uint8Array>, close: () => unknown) => {
  const timer = setTimeout(close, DISCARDED.ms)
  try {
    for (let left = DISCARDED.bytes; left > 0; ) {
      const { done, value } = await body.next()
      if (done) break
      left -= bytesOf(value).length
    }
  } catch {
    // The client has received the response, or the time is up.
  }
  clearTimeout(timer)
  close()
}

/**
 * For Node's `http` and for Express: `app.post('/webhook', nodeHandler(receive))`, before `express.json()`.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { createReceiver, nodeHandler } from 'order-relay-store'
 *
 * const receive = createReceiver({ secrets: 'secret', handle: () => undefined })
 * const server = createServer(nodeHandler(receive))
 * server.listen(0, '127.0.0.1', () => server.close())
 * ```
 */
export const nodeHandler = (receive: Receive) => {
  assertReceive(receive)
  return async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    const answer = (status: number, error?: string, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify({ error }))
    }
    if (request.method !== 'POST') return answer(405, methodNotAllowed, { allow: 'POST' })
    if (request.body !== undefined) {
      // From a raw body parser.
      const { status, error } = await receive(request.headers, request.body)
      return answer(status, error)
    }
    const body = request[Symbol.asyncIterator]()
    const { status, error } = await receiveFrom(receive, request.headers, body)
    if (status !== 413) return answer(status, error)
    // Closing a connection resets it if bytes are unread, and the sender may lose the response (RFC 9112, section 9.6).
    const text = JSON.stringify({ error })
    const headers = { 'content-type': 'application/json', 'content-length': text.length, connection: 'close' }
    response.writeHead(status, headers)
    response.write(text)
    await discard(body, () => response.end())
  }
}

type FastifyRequest = { headers: NodeRequest['headers']; body: unknown }
type FastifyReply = { code(status: number): { send(body: unknown): unknown } }

/**
 * For Fastify, in a separate plugin with the raw body:
 * `addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body))`.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { createReceiver, fastifyHandler } from 'order-relay-store'
 *
 * const receive = createReceiver({ secrets: 'secret', handle: () => undefined })
 * const app = fastify()
 * app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
 * app.post('/webhook', fastifyHandler(receive))
 * console.log((await app.inject({ method: 'POST', url: '/webhook', payload: {} })).statusCode) // 401
 * ```
 */
export const fastifyHandler = (receive: Receive) => {
  assertReceive(receive)
  return async ({ headers, body }: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { status, error } = await receive(headers, body)
    return reply.code(status).send({ error })
  }
}
