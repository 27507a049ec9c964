import { randomUUID } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import type { Telemetry } from '../../lib/platform/telemetry.ts'
import { sign } from '../../lib/protocol/signature.ts'
import { createReceiver } from '../../lib/webhook/handler.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { SETTINGS, STORES } from '../crash/functions.ts'
import { context, httpEvent, sqsEvent, sqsRecord } from '../support/lambda.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const nothing = () => undefined
const telemetry: Telemetry = {
  info: nothing,
  warn: nothing,
  error: nothing,
  count: nothing,
  seconds: nothing,
}
const SECRET = 'whsec_memory'
const Parameters = [{ Name: `${SETTINGS.secretsPath}/webhook/secrets/one`, Value: SECRET }]
const dependencies = {
  // AWS that takes everything and keeps nothing.
  ...{ dynamodb: { send: async () => ({}) as never }, sqs: { send: async () => ({}) as never } },
  ssm: { send: async () => ({ Parameters }) as never },
  ...{ telemetry, stores: STORES, settings: SETTINGS, now: Date.now, random: Math.random },
  http: () => Promise.reject(new Error('no call expected')),
}

const webhook = () => {
  const [delivery, external_id] = [randomUUID(), randomUUID()]
  const data = { source: 'shop', external_id, status: 'paid', total: '1'.repeat(1000) }
  return JSON.stringify({ event: 'order.updated', delivery, data })
}

const FUNCTIONS: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  async webhook() {
    const handler = await createReceiver(dependencies)
    return async () => {
      const body = webhook()
      const t = Math.floor(Date.now() / 1000)
      const headers = { 'x-service-signature': sign({ secret: SECRET, t, body }) }
      expect(await handler(httpEvent({ headers, body }), context())).toMatchObject({ statusCode: 200 })
    }
  },
  async worker() {
    const handler = createWorker(dependencies)
    return async () => {
      const record = sqsRecord('1', { body: webhook(), attributes: { MessageGroupId: 'group' } })
      expect(await handler(sqsEvent(record), context())).toEqual({ batchItemFailures: [] })
    }
  },
}

test.each(Object.keys(FUNCTIONS))('the %s keeps nothing of what it has processed', async name => {
  const handleOne = await FUNCTIONS[name]?.()
  const heapAfter = async (events: number) => {
    for (let count = 0; count < events; count++) await handleOne?.()
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  await heapAfter(1000)
  const before = await heapAfter(1000)
  const after = await heapAfter(2000)
  // Kept, an id alone would take more.
  expect((after - before) / 2000).toBeLessThan(50)
})
