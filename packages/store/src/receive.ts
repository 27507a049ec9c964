import { MessageError, readMessage } from './messages.ts'
import { type Handling, type Once, onceInMemory } from './once.ts'
import { bytesOf, type HeadersLike, SignatureError, verifySignature } from './signature.ts'

export type ReceiveOptions<Transaction> = Handling<Transaction> & {
  /** The secret of the feed, or a function that returns every valid one: two while it is being rotated. */
  secrets: string | readonly string[] | (() => Promise<string | readonly string[]>)
}

/** Without a stack, with which forged messages would fill the log. */
const report = (error: unknown) =>
  console.error(error instanceof SignatureError || error instanceof MessageError ? error.message : error)

/** Takes one request, whose body must be raw bytes or text; returns the status to answer and an error for people. */
export type Receive = (
  headers: HeadersLike,
  body: unknown,
) => Promise<{ status: 200 | 400 | 401 | 500; error?: string }>

/** The most common mistake: a framework has parsed the body, and the signed bytes are gone. */
const rawBody = (body: unknown): string | Uint8Array => {
  if (typeof body === 'string' || body instanceof Uint8Array) return body
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
  const { secrets, handle, onError = report } = options
  const once = options.once ?? (onceInMemory() as Once<Transaction>)
  return async (headers, body) => {
    try {
      const valid = typeof secrets === 'function' ? await secrets() : secrets
      const raw = rawBody(body)
      await verifySignature({ headers, body: raw, secrets: valid })
      const message = readMessage(new TextDecoder().decode(bytesOf(raw)))
      // `relay stores test` checks that the endpoint works.
      if ((message.event as string) === 'relay.test') return { status: 200 }
      await once(message, transaction => handle(message, transaction))
      return { status: 200 }
    } catch (error) {
      onError(error)
      if (error instanceof SignatureError) return { status: 401, error: 'The signature is not valid' }
      if (error instanceof MessageError) return { status: 400, error: error.message }
      return { status: 500, error: 'The message could not be handled; send it again' }
    }
  }
}

/** Reads the body of a request. A client that disconnects while sending must not crash the process. */
const receiveFrom = (receive: Receive, headers: HeadersLike, body: Promise<unknown>): ReturnType<Receive> =>
  body.then(
    bytes => receive(headers, bytes),
    () => ({ status: 400, error: 'The body did not arrive' }),
  )

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
export const fetchHandler =
  (receive: Receive) =>
  async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') {
      return Response.json({ error: methodNotAllowed }, { status: 405, headers: { allow: 'POST' } })
    }
    const body = request.arrayBuffer().then(bytes => new Uint8Array(bytes))
    const { status, error } = await receiveFrom(receive, request.headers, body)
    return Response.json({ error }, { status })
  }

type NodeRequest = AsyncIterable<Uint8Array> & {
  method?: string | undefined
  headers: { readonly [name: string]: string | string[] | undefined }
  body?: unknown
}
type NodeResponse = {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(text: string): unknown
}

/** The limit of SQS, which no real message exceeds; forged ones must not fill the memory. */
const MAX_BYTES = 1024 * 1024

/** The raw bytes: from a raw body parser, or from the stream itself. */
const read = async (request: NodeRequest): Promise<unknown> => {
  if (request.body !== undefined) return request.body
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  for await (const chunk of request) {
    chunks.push(bytesOf(chunk))
    length += chunk.length
    if (length > MAX_BYTES) throw new RangeError('The body is too large')
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
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
export const nodeHandler =
  (receive: Receive) =>
  async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    const answer = (status: number, error?: string, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify({ error }))
    }
    if (request.method !== 'POST') return answer(405, methodNotAllowed, { allow: 'POST' })
    const { status, error } = await receiveFrom(receive, request.headers, read(request))
    answer(status, error)
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
export const fastifyHandler =
  (receive: Receive) =>
  async ({ headers, body }: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { status, error } = await receive(headers, body)
    return reply.code(status).send({ error })
  }
