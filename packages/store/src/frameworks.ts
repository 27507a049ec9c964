import { isObject, isRequest } from './arguments.ts'
import { type Outcome, reported } from './outcome.ts'

const fieldOf = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)
const hasMethods = (value: unknown, ...names: readonly string[]) =>
  names.every(name => typeof fieldOf(value, name) === 'function')

type NodeResponse = {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(text: string): unknown
}
const isNodeResponse = (value: unknown): value is NodeResponse => hasMethods(value, 'writeHead', 'end')

type FastifyReply = { code(status: number): { send(body: unknown): unknown } }
const isFastifyReply = (value: unknown): value is FastifyReply => hasMethods(value, 'code', 'send')

type Framework = {
  /** What it passes to a handler. */
  passes: string
  /** What receives it. */
  use: string
  is: (first: unknown, second: unknown) => boolean
}

const FRAMEWORKS = {
  fetchHandler: {
    passes: 'a Request',
    use: 'use fetchHandler(receive)',
    // Not recognized by its tag, which a framework's own class may lack.
    is: first => hasMethods(fieldOf(first, 'headers'), 'get'),
  },
  nodeHandler: {
    passes: 'the request and response of node:http or Express',
    use: 'use nodeHandler(receive)',
    is: (_, second) => isNodeResponse(second),
  },
  fastifyHandler: {
    passes: 'the request and reply of Fastify',
    use: 'use fastifyHandler(receive)',
    is: (_, second) => isFastifyReply(second),
  },
  hono: {
    passes: 'the context of Hono',
    use: 'use c => fetchHandler(receive)(c.req.raw)',
    is: first => isRequest(fieldOf(fieldOf(first, 'req'), 'raw')),
  },
  lambda: {
    passes: 'an event of AWS Lambda',
    use: 'call receive(event.headers, body), where body is event.body, decoded if event.isBase64Encoded, and return its status as statusCode',
    is: first => isObject(fieldOf(first, 'requestContext')),
  },
} satisfies Record<string, Framework>

type Handler = 'fetchHandler' | 'nodeHandler' | 'fastifyHandler'

/**
 * Why a handler, or the receiver itself, cannot use its arguments, such as those of another framework; undefined if it
 * can.
 */
export const misuseOf = (
  called: Handler | 'receive',
  first: unknown,
  second?: unknown,
): string | undefined => {
  if (called !== 'receive' && FRAMEWORKS[called].is(first, second)) return undefined
  // The receiver takes headers, which may have `get`, and has a separate error for a Request.
  const { fetchHandler: _, ...others } = FRAMEWORKS
  const known: readonly Framework[] = Object.values(called === 'receive' ? others : FRAMEWORKS)
  const found = known.find(({ is }) => is(first, second))
  const action = `Cannot receive the message: ${called}`
  if (found !== undefined) return `${action} was called with ${found.passes}; ${found.use}`
  if (called === 'receive') return undefined
  return `${action} was called without ${FRAMEWORKS[called].passes}; if your framework passes something else, call receive(headers, body) with the raw body, and answer with the status that it returns`
}

/**
 * Refuses a request that {@link misuseOf} describes, through the response that was passed to the handler: a framework
 * that ignores what its handlers return would wait forever, or return 200.
 *
 * @throws TypeError if no response was passed; the framework answers 500
 */
export const refuse = (misuse: string, response: unknown, onError?: (error: unknown) => void): Outcome => {
  if (isNodeResponse(response)) {
    response.writeHead(500, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: misuse }))
  } else if (isFastifyReply(response)) response.code(500).send({ error: misuse })
  else throw new TypeError(misuse)
  return reported(misuse, onError)
}
