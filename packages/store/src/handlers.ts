import { assertArguments, FUNCTION, isRaw, type Kind } from './arguments.ts'
import { misuseOf, refuse } from './frameworks.ts'
import { ONE_MEBIBYTE, type Outcome, reported, tooLarge } from './outcome.ts'
import type { Receive } from './receive.ts'
import { bytesOf, type HeadersLike } from './signature.ts'

const RECEIVE: Kind = ['what createReceiver returns', FUNCTION[1]]

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

/** The most common mistake: something has read the body, and the signed bytes are gone. */
const UNREAD = {
  fetchHandler:
    'Cannot verify a body that was already read: pass the Request to fetchHandler before anything reads its body, such as request.json()',
  nodeHandler:
    'receive the raw bytes with nodeHandler: in Express, register its route before express.json(); in Next.js, export const config = { api: { bodyParser: false } }',
  fastifyHandler:
    'Cannot verify a body that was parsed: for fastifyHandler, add a content type parser with parseAs "buffer"',
}

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
export const fetchHandler = (receive: Receive): ((request: Request) => Promise<Response>) => {
  assertReceive(receive)
  return async (request, response?: unknown) => {
    const misuse = misuseOf('fetchHandler', request, response)
    if (misuse !== undefined) {
      const { status, error } = refuse(misuse, response, receive.onError)
      return Response.json({ error }, { status })
    }
    if (request.method !== 'POST') {
      return Response.json({ error: methodNotAllowed }, { status: 405, headers: { allow: 'POST' } })
    }
    const { headers, bodyUsed } = request
    const body = bodyUsed ? undefined : request.body?.[Symbol.asyncIterator]()
    const { status, error } = bodyUsed
      ? reported(UNREAD.fetchHandler, receive.onError)
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
  /** Whether anything has read the body. */
  readableDidRead?: boolean
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
    const misuse = misuseOf('nodeHandler', request, response)
    if (misuse !== undefined) return void refuse(misuse, response, receive.onError)
    const answer = (status: number, error?: string, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify({ error }))
    }
    if (request.method !== 'POST') return answer(405, methodNotAllowed, { allow: 'POST' })
    const { body: given, readableDidRead: wasRead } = request
    if (given === undefined ? wasRead : !isRaw(given)) {
      const how = given === undefined ? 'already read' : 'parsed'
      const { status, error } = reported(
        `Cannot verify a body that was ${how}: ${UNREAD.nodeHandler}`,
        receive.onError,
      )
      return answer(status, error)
    }
    if (given !== undefined) {
      // From a raw body parser.
      const { status, error } = await receive(request.headers, given)
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
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const misuse = misuseOf('fastifyHandler', request, reply)
    if (misuse !== undefined) return void refuse(misuse, reply, receive.onError)
    // Fastify has no body if a request has none.
    const { headers, body = '' } = request
    const { status, error } = isRaw(body)
      ? await receive(headers, body)
      : reported(UNREAD.fastifyHandler, receive.onError)
    return reply.code(status).send({ error })
  }
}
