import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { verify } from '@order-relay/lib/protocol/signature.ts'
import { HEADERS } from '@order-relay/lib/protocol/webhook.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { CREDENTIALS, clientsAt } from '@order-relay/test-support/parts.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import { startServer } from '@order-relay/test-support/server.ts'
import { until } from '@order-relay/test-support/until.ts'
import Lambda from 'serverless-offline/lambda'
import type { Gateway } from '../gateway.ts'
import { assertFree, freePorts } from '../ports.ts'
import { type Relay, startRelay } from '../relay.ts'
import { readService } from '../service.ts'
import { type Ports, queueUrl, SANDBOX_SECRET_ID } from '../settings.ts'
import { startSqs } from '../sqs.ts'

const QUEUE = 'orders.fifo'
let ports: Ports
let relay: Relay
let lambda: Awaited<ReturnType<typeof startServer>>
let clients: ReturnType<typeof clientsAt>
const errors: unknown[] = []
/** The invocations that reached Lambda, and the batches that the worker has started. */
const arrived: string[] = []
const begun: string[] = []
const held = Promise.withResolvers<void>()

let outage: PromiseWithResolvers<void> | undefined

const runsOf = (wanted: string) => arrived.filter(name => name === wanted).length

/** Fake functions of serverless-offline; the worker is busy until it is released, and a check does not end during an outage. */
Lambda.prototype.get = name => {
  let batch = ''
  return {
    setEvent: event => {
      batch = String(event)
    },
    setClientContext: () => undefined,
    runHandler: async () => {
      if (name === 'check') await outage?.promise
      if (name !== 'worker' || batch === '') return
      begun.push(batch)
      await held.promise
    },
  }
}

/** The worker's ten further queues need more sockets than the SDK has by default. */
const serviceOf = () => {
  const sqs = { arn: { 'Fn::GetAtt': ['OrdersQueue', 'Arn'] }, batchSize: 1, maximumConcurrency: 2 }
  const functions = {
    worker: { name: 'worker', handler: 'x', events: [{ sqs }] },
    webhook: { name: 'webhook', handler: 'x', events: [{ httpApi: 'POST /webhook' }] },
    check: { name: 'check', handler: 'x', events: [] },
  }
  const service = readService({ provider: { environment: { SECRETS_PATH: '/x' } }, functions }, ROOT, ports)
  const further = { key: 'worker', functionName: 'worker', reportsFailures: false, batchSize: 10 }
  const others = Array.from({ length: 10 }, () => ({
    ...further,
    queue: 'orders-bulk.fifo',
    maximumConcurrency: undefined,
  }))
  return {
    ...service,
    eventSources: [...others, ...service.eventSources],
    schedules: [{ key: 'check', functionName: 'check', interval: 20 }],
  }
}

const gatewayThatAnswers = (statusCode: number) => ({
  ext: jest.fn<Gateway['ext']>(),
  inject: jest.fn<Gateway['inject']>(async () => ({ statusCode })),
  start: jest.fn(async () => undefined),
  stop: async () => undefined,
})

const send = (body: string) =>
  clients.sqs.sendMessage({
    QueueUrl: queueUrl(ports.sqs, QUEUE),
    MessageBody: body,
    MessageGroupId: body,
    MessageDeduplicationId: body,
  })

const folder = useFolder()
beforeAll(async () => {
  lambda = await startServer(async ({ url = '' }, body) => {
    const name = url.split('/').at(-2) ?? ''
    const { Records = [] } = JSON.parse(body.toString())
    const batch = Records.map((record: { body: string }) => record.body).join()
    arrived.push(name)
    const invocation = Lambda.prototype.get.call(Lambda.prototype, name)
    invocation.setEvent(batch)
    await invocation.runHandler()
    return { status: 200, body: '' }
  })
  ports = { ...(await freePorts()), lambda: lambda.port }
  clients = clientsAt(ports)

  const service = serviceOf()
  const earlier = await startSqs({ port: ports.sqs, path: join(folder(), 'queues'), queues: service.queues })
  await send('a')
  await clients.sqs.receiveMessage({ QueueUrl: queueUrl(ports.sqs, QUEUE) })
  await earlier.close()
  relay = await startRelay({
    service,
    settings: { ports, dataDir: folder(), watch: false },
    sources: [],
    webhookSecrets: [],
    credentials: CREDENTIALS,
    onError: error => errors.push(error),
  })
  await relay.ready
  await relay.useWebhookSecret('given')
})
afterAll(async () => {
  clients.destroy()
  await lambda.close()
})

/** Whether the webhook with which its function is loaded is signed with a secret. */
const isSignedWith = (secret: string, gateway: ReturnType<typeof gatewayThatAnswers>) => {
  const { payload = '', headers } = gateway.inject.mock.calls[0]?.[0] ?? {}
  const signed = { header: headers?.[HEADERS.signature], body: payload, secrets: [secret] }
  return verify({ ...signed, now: Date.now() / 1000 }).valid
}

test('the port opens once all functions are loaded, with the webhook secret in use', async () => {
  const broken = gatewayThatAnswers(500)
  await expect(relay.serve(broken)).rejects.toThrow('Cannot load the function of "POST /webhook": see above')
  expect(broken.start).not.toHaveBeenCalled()
  expect(isSignedWith('given', broken)).toBe(true)

  const [old, next] = [SANDBOX_SECRET_ID, 'next'].map(id => `/x/webhook/secrets/${id}`)
  await clients.ssm.putParameter({ Name: next, Value: 'replaced', Type: 'SecureString' })
  await clients.ssm.deleteParameter({ Name: old })
  await relay.useWebhookSecret()
  const gateway = gatewayThatAnswers(200)
  await relay.serve(gateway)
  expect(gateway.start).toHaveBeenCalledTimes(1)
  expect(isSignedWith('replaced', gateway)).toBe(true)
  const { Parameters = [] } = await clients.ssm.getParametersByPath({ Path: '/x/webhook/secrets' })
  expect(Parameters.map(({ Name }) => Name)).toEqual([next])
})

test('runs batches in parallel, including one left by the last process; a pause waits for them and delays new ones', async () => {
  await send('b')
  // Sooner than a long poll would release its socket.
  await until(() => begun.length === 2, 10_000)
  expect(begun.toSorted()).toEqual(['a', 'b'])
  const late = Promise.withResolvers<void>()
  const paused = relay.pause(late.resolve)
  await late.promise
  expect(await Promise.race([paused, sleep(100, 'still waiting')])).toBe('still waiting')
  held.resolve()
  await paused
  const earlier = runsOf('worker')
  await send('c')
  await until(() => runsOf('worker') > earlier)
  expect(begun).toHaveLength(2)
  relay.resume()
  await until(() => begun.length === 3)
})

test('runs functions at their intervals, stops without waiting for a run in progress, and then frees every port', async () => {
  const runs = () => runsOf('check')
  const loaded = runs()
  await until(() => runs() > loaded)
  outage = Promise.withResolvers()
  const ended = runs()
  await until(() => runs() > ended)
  expect(await Promise.race([relay.stop(), sleep(4000, 'waits for the run', { ref: false })])).toBeUndefined()
  outage.resolve()
  await sleep(50)
  const before = runs()
  await sleep(100)
  expect(runs()).toBe(before)
  expect(errors).toEqual([])
  await assertFree(ports, ['dynamodb', 'sqs', 'ssm'])
})
