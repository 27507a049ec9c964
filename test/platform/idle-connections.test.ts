import type { Agent } from 'node:https'
import { Socket } from 'node:net'
import { DeleteMessageBatchCommand, GetQueueUrlCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { expect, test } from '@jest/globals'
import { recordOf } from '@order-relay/local/event-source.ts'
import { REGION, urlOf } from '@order-relay/local/settings.ts'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { sqsClient } from '../../lib/platform/clients.ts'
import { feedQueueName, QUEUES } from '../../lib/platform/names.ts'
import { startBackends } from '../../proofs/chaos/backends.ts'
import { startRelay } from '../../proofs/chaos/relay.ts'
import { createRequest, serviceClient } from '../../proofs/chaos/service.ts'
import { newInbox, startWebStore, storeRequester } from '../../proofs/chaos/stores.ts'
import { startNat } from '../support/nat.ts'
import { CREDENTIALS } from '../support/parts.ts'
import { startServer } from '../support/server.ts'
import { recordingTelemetry } from '../support/telemetry.ts'
import { until } from '../support/until.ts'

/** Longer than parameters are cached, so that each round reads them again. */
const ROUND_MS = 61_000

test('idle connections reset by a NAT gateway cause no delay', async () => {
  await using closing = new AsyncDisposableStack()
  const backends = await startBackends(closing)
  const inbox = newInbox()
  const web = await startWebStore(inbox)
  closing.defer(web.close)
  const names = Object.fromEntries(
    Object.entries({ ...backends.ports, store: web.port }).map(([name, port]) => [port, name]),
  )
  const gateways = new Map<string, Awaited<ReturnType<typeof startNat>>>()
  const { telemetry, counted, lines } = recordingTelemetry()
  let rounds = 0
  const relay = await startRelay(closing, {
    backends,
    webStore: web.port,
    telemetry,
    now: () => Date.now() + rounds * ROUND_MS,
    async through(link, port) {
      if (names[port] === undefined) return urlOf(port)
      const gateway = await startNat(port)
      closing.defer(gateway.close)
      gateways.set(`${link}: ${names[port]}`, gateway)
      return urlOf(gateway.port)
    },
  })
  const service = serviceClient(urlOf(backends.ports.sandbox))
  const request = storeRequester(relay.apiUrl)

  const receives: string[] = []
  /** Makes a function process its whole queue, as Lambda's event source does. */
  const consume = async (queue: string, run: (event: SQSEvent) => Promise<SQSBatchResponse>) => {
    const QueueUrl = backends.queueUrl(queue)
    const receiving = { QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All' as const] }
    for (;;) {
      const { Messages = [] } = await backends.sqs.send(new ReceiveMessageCommand(receiving))
      if (Messages.length === 0) return
      const Records = Messages.map(each => recordOf(each, queue))
      receives.push(...Records.map(({ attributes }) => attributes.ApproximateReceiveCount))
      expect(await run({ Records })).toEqual({ batchItemFailures: [] })
      const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }))
      await backends.sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))
    }
  }
  const work = async () => {
    for (const worker of relay.workers) await consume(QUEUES.orders, worker)
    await consume(feedQueueName('demo-shop'), relay.feeder)
  }
  /** Orders that are created, reviewed and finalized concurrently. */
  const round = async (...ids: string[]) => {
    for (const id of ids) {
      await service.stock(id, 0)
      expect(await request('POST', 'demo-shop', '', createRequest('demo-shop', id))).toMatchObject({
        isAccepted: true,
      })
    }
    await work()
    for (const id of ids) {
      expect(await service.fix('demo-shop', id)).toBe(true)
      await until(async () => (await service.webhooks(id)).every(({ state }) => state === 'delivered'))
    }
    await work()
    for (const id of ids) expect(inbox.of(id).at(-1)).toMatchObject({ data: { status: 'invoiced' } })
    rounds++
    for (const gateway of gateways.values()) gateway.forget()
  }

  // The first round leaves the idle connections of a whole batch; the next ones leave few.
  await round(...Array.from({ length: 10 }, (_, index) => `o0000${index}`))
  await round('o00010')
  await round('o00011', 'o00012')

  expect(lines.filter(({ level }) => level !== 'info')).toEqual([])
  expect(counted().filter(name => !['Deliveries', 'Requests', 'EventsProcessed'].includes(name))).toEqual([])
  expect(new Set(receives)).toEqual(new Set(['1']))
  const untouched = [...gateways].filter(([, { resets }]) => resets() === 0).map(([name]) => name)
  expect(untouched.sort()).toEqual([
    'feeder to AWS: sqs',
    'reconcile to AWS: dynamodb',
    'reconcile to AWS: sqs',
    'reconcile to AWS: ssm',
  ])
})

test("an attempt without a response from AWS ends before the sender's timeout, and closes all idle connections", async () => {
  const done = Promise.resolve({ status: 200 })
  const answers = [done, new Promise<undefined>(() => undefined), done]
  const server = await startServer(async () => answers.shift())
  const sqs = sqsClient({ endpoint: urlOf(server.port), region: REGION, credentials: CREDENTIALS })
  const call = () => sqs.send(new GetQueueUrlCommand({ QueueName: 'orders.fifo' }))
  await call()
  type Configs = { httpsAgent: Agent; connectionTimeout: number }
  const handler = sqs.config.requestHandler as unknown as { httpHandlerConfigs: () => Configs }
  const { httpsAgent, connectionTimeout } = handler.httpHandlerConfigs()
  const idle = new Socket()
  Object.assign(httpsAgent.freeSockets, { aws: [idle] })
  const began = performance.now()
  await call()
  // Half of the time remains for other calls.
  const seen = { isInTime: performance.now() - began < 5000, isClosed: idle.destroyed, connectionTimeout }
  sqs.destroy()
  await server.close()
  expect(seen).toEqual({ isInTime: true, isClosed: true, connectionTimeout: 1000 })
})
