import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { PARAMETERS, QUEUES } from '@order-relay/lib/platform/names.ts'
import { relayForTests } from '@order-relay/test-support/relay.ts'
import { startServer } from '@order-relay/test-support/server.ts'
import { checkOrder } from '../orders/check.ts'

const { stack, newContext } = await relayForTests()

const order = { source: 'api', external_id: 'unknown here' }

let answer: { status: number; body: string }
let service: Awaited<ReturnType<typeof startServer>>
beforeAll(async () => {
  service = await startServer(async () => answer)
})
afterAll(() => service.close())

/** Checks an order that the relay does not know; returns the error, or the events in the order queue. */
const check = async (status: number, body: object) => {
  answer = { status, body: JSON.stringify(body) }
  const context = newContext()
  await context.parameters.put(PARAMETERS.accountingKey, 'key')
  const found = { ...(await context.stack()), accountingUrl: service.url }
  const error = await checkOrder({ ...context, stack: async () => found }, order).then(
    () => undefined,
    ({ message }: Error) => message,
  )
  return [error, await stack.taken(stack.queueUrl(QUEUES.orders))]
}

test('refuses to check an order that neither the relay nor the service has', async () => {
  const refusal = { error: { code: 'not_found', message: 'The order does not exist' } }
  expect(await check(404, refusal)).toEqual([
    'Cannot check the order: neither the relay nor the accounting service has the order "unknown here" of "api" (404 The order does not exist); see relay orders list --local',
    [],
  ])
})

test('refuses to check an order that the relay does not know while the service is unavailable', async () => {
  expect(await check(503, {})).toEqual([
    expect.stringMatching(
      /^Cannot check the order: the relay has no order "unknown here" of "api", and the accounting service does not show it: .*503/,
    ),
    [],
  ])
})

test('checks an order that the relay does not know if the service has it', async () => {
  expect(await check(200, { ...order, status: 'invoiced' })).toEqual([
    undefined,
    [expect.objectContaining({ event: 'order.check', data: order })],
  ])
})
