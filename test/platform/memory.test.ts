import { randomUUID } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import { sign } from '../../lib/protocol/signature.ts'
import { createWebhook } from '../../lib/webhook/handler.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { SETTINGS, STORES } from '../../proofs/crash/functions.ts'
import { context, httpEvent, sqsEvent, sqsRecord } from '../support/lambda.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const nothing = () => undefined
const SECRET = 'whsec_memory'
const Parameters = [{ Name: `${SETTINGS.secretsPath}/webhook/secrets/one`, Value: SECRET }]
const dependencies = {
  // A fake AWS that accepts everything and stores nothing.
  dynamodb: { send: async () => ({}) as never },
  sqs: { send: async () => ({}) as never },
  ssm: { send: async () => ({ Parameters }) as never },
  telemetry: { info: nothing, warn: nothing, error: nothing, count: nothing, seconds: nothing },
  stores: STORES,
  settings: SETTINGS,
  now: Date.now,
  random: Math.random,
  http: () => Promise.reject(new Error('no call expected')),
}
const receiver = await createWebhook(dependencies)
const worker = createWorker(dependencies)

const FUNCTIONS: [name: string, handle: (body: string) => Promise<unknown>, expected: object][] = [
  [
    'receiver',
    body => {
      const t = Math.floor(Date.now() / 1000)
      const headers = { 'x-service-signature': sign({ secret: SECRET, t, body }) }
      return receiver(httpEvent({ headers, body }), context())
    },
    { statusCode: 200 },
  ],
  [
    'worker',
    async body =>
      worker(sqsEvent(sqsRecord('1', { body, attributes: { MessageGroupId: 'group' } })), context()),
    { batchItemFailures: [] },
  ],
]

test.each(FUNCTIONS)('the %s does not leak memory', async (_name, handle, expected) => {
  const heapAfter = async (events: number) => {
    for (let count = 0; count < events; count++) {
      const data = { source: 'shop', external_id: randomUUID(), status: 'paid', total: '1'.repeat(1000) }
      const webhook = { event: 'order.updated', delivery: randomUUID(), data }
      expect(await handle(JSON.stringify(webhook))).toMatchObject(expected)
    }
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  await heapAfter(1000)
  const before = await heapAfter(1000)
  const after = await heapAfter(2000)
  // A leak of only one id per event would exceed this.
  expect((after - before) / 2000).toBeLessThan(50)
})
