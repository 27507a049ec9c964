import { randomUUID } from 'node:crypto'
import { beforeEach } from '@jest/globals'
import { type ApiDependencies, createApi } from '../../lib/api/handler.ts'
import { context, httpEvent } from '../support/lambda.ts'
import { drain } from '../support/parts.ts'
import { STORES, stackForTests } from '../support/stack.ts'

export const ORDERS = '/api/v1/orders/'

export type Body = object | string | Uint8Array
export type Options = { key?: string; headers?: Record<string, string>; time?: number }

type Queued = {
  event: string
  delivery: string
  data: { source: string; external_id: string; request: string }
}

/**
 * The stores' API for the tests of a file, on a stack that also has the store "api". Every test starts in an
 * environment of the function that has read the keys of the stores.
 */
export const apiForTests = async (dependencies: Pick<ApiDependencies, 'http' | 'now' | 'sleep'>) => {
  const { stack, recorded } = await stackForTests()
  const stores = [...STORES, { source: 'api', feed: 'sqs' } as const]
  const runtime = { random: () => 0.5, newId: randomUUID }
  const create = () =>
    createApi({ ...stack, stores, telemetry: recorded.telemetry, ...runtime, ...dependencies })
  let handler: ReturnType<typeof create>

  /** Asks as API Gateway does, with the key of "shop" unless another one is given. */
  const ask = async (method: string, path: string, body: Body = '', options: Options = {}) => {
    const { key = 'key-of-shop', headers = {}, time = 20_000 } = options
    const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
    const authorized = { ...(key !== '' && { authorization: `Bearer ${key}` }), ...headers }
    const response = await handler(
      httpEvent({ method, path, headers: authorized, body: text }),
      context(() => time),
    )
    const json = JSON.parse(response?.body ?? '')
    return { status: response?.statusCode, headers: response?.headers ?? {}, body: json }
  }

  beforeEach(async () => {
    handler = create()
    await ask('GET', `${ORDERS}1/?source=web`)
    stack.clear()
    recorded.clear()
  })
  return {
    stack,
    recorded,
    ask,
    /** The events in the order queue, and their message groups. */
    queued: async () =>
      (await drain(stack.sqs, stack.settings.ordersQueueUrl)).map(({ Body = '', Attributes }) => ({
        event: JSON.parse(Body) as Queued,
        group: Attributes?.MessageGroupId,
      })),
  }
}
