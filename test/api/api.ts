import { randomUUID } from 'node:crypto'
import { beforeEach } from '@jest/globals'
import { createApi } from '../../lib/api/handler.ts'
import type { IncomingResponse, OutgoingRequest } from '../../lib/platform/http-client.ts'
import { context, httpEvent } from '../support/lambda.ts'
import { STORES, stackForTests } from '../support/stack.ts'

export const ORDERS = '/api/v1/orders/'

export type Body = object | string | Uint8Array
/** `since`: milliseconds since API Gateway received the request. */
export type Options = { key?: string; headers?: Record<string, string>; time?: number; since?: number }

/** An answer of the accounting service. */
export const answering = (status: number, body: object | string, headers = {}): IncomingResponse => ({
  status,
  headers,
  text: typeof body === 'string' ? body : JSON.stringify(body),
})

/** What a test sets: the time, the accounting service, and what happens while the function sleeps. */
const initially = () => ({
  // In Tehran it is the second of March.
  now: Date.parse('2026-03-01T21:00:00.000Z'),
  service: (_request: OutgoingRequest): IncomingResponse => answering(500, {}),
  meanwhile: async (): Promise<unknown> => undefined,
  pauses: [] as number[],
  random: 0.5,
})

/**
 * The stores' API for the tests of a file, on a stack that also has the store "api". Every test starts in an
 * environment of the function that has read the keys of the stores, and has recorded that those of "shop" are in use.
 */
export const apiForTests = async () => {
  const { stack, recorded } = await stackForTests()
  const world = initially()
  const dependencies = {
    ...stack,
    stores: [...STORES, { source: 'api', feed: 'sqs' } as const],
    telemetry: recorded.telemetry,
    now: () => world.now,
    random: () => world.random,
    newId: randomUUID,
    http: async (request: OutgoingRequest) => world.service(request),
    async sleep(milliseconds: number) {
      world.pauses.push(milliseconds)
      world.now += milliseconds
      await world.meanwhile()
    },
  }
  let handler: ReturnType<typeof createApi>
  /** Starts an environment of the function. */
  const start = (waitSeconds = '4', storeRequestsPerSecond = '0') => {
    const settings = { ...stack.settings, waitSeconds, storeRequestsPerSecond }
    handler = createApi({ ...dependencies, settings })
  }

  /** Asks as API Gateway does, with the key of "shop" unless another one is given. */
  const ask = async (method: string, path: string, body: Body = '', options: Options = {}) => {
    const { key = 'key-of-shop', headers = {}, time = 20_000, since = 0 } = options
    const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
    const authorized = { ...(key !== '' && { authorization: `Bearer ${key}` }), ...headers }
    const event = httpEvent({ method, path, headers: authorized, body: text })
    event.requestContext.timeEpoch = world.now - since
    const {
      statusCode,
      headers: answered = {},
      body: json = '',
    } = await handler(
      event,
      context(() => time),
    )
    return { status: statusCode, headers: answered, body: JSON.parse(json || 'null') }
  }

  beforeEach(async () => {
    Object.assign(world, initially())
    start()
    for (const key of ['key-of-shop', 'read-only', 'create-only'])
      await ask('GET', `${ORDERS}1/?source=web`, '', { key })
    stack.clear()
    recorded.clear()
  })
  return { stack, recorded, world, dependencies, start, ask }
}
