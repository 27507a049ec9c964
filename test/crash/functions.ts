import type {
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2,
  Context,
  SQSBatchResponse,
  SQSEvent,
} from 'aws-lambda'
import { queuesOf } from '../../deploy/queues.ts'
import { createApi } from '../../lib/api/handler.ts'
import { createFeeder } from '../../lib/feeds/handler.ts'
import type { HttpClient } from '../../lib/platform/http-client.ts'
import { feedQueueName, QUEUES, TABLES } from '../../lib/platform/names.ts'
import type { Store } from '../../lib/platform/stores.ts'
import type { Telemetry } from '../../lib/platform/telemetry.ts'
import { createReconciler } from '../../lib/reconcile/handler.ts'
import { createReceiver } from '../../lib/webhook/handler.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { context, sqsEvent, sqsRecord } from '../support/lambda.ts'
import { awsClients, type Cloud, queueUrl, SECRETS_PATH } from './aws.ts'
import type { Clock } from './clock.ts'
import { end, type Instance, type MakeCall, startInstance } from './faults.ts'
import { type FunctionName, SHOP, WEB } from './places.ts'

export const STORES: readonly Store[] = [
  { source: SHOP, feed: 'sqs' },
  { source: WEB, feed: { http: 'https://web.example/feed?of=relay', disable_after: 24 * 60 * 60 } },
]
export const ACCOUNTING_ORIGIN = 'https://accounting.example'

export const SETTINGS = {
  ordersTable: TABLES.orders,
  deliveriesTable: TABLES.deliveries,
  ordersQueueUrl: queueUrl(QUEUES.orders),
  quarantineQueueUrl: queueUrl(QUEUES.quarantine),
  feedsDeadQueueUrl: queueUrl(QUEUES.feedsDead),
  secretsPath: SECRETS_PATH,
  accountingUrl: `${ACCOUNTING_ORIGIN}/base`,
}

/** What every function depends on; each factory takes its part of it. */
export type Dependencies = ReturnType<typeof awsClients> & {
  http: HttpClient
  telemetry: Telemetry
  stores: readonly Store[]
  settings: typeof SETTINGS
  now: () => number
  random: () => number
  newId: () => string
}

/** Replaces dependencies of a function. */
export type Adjust = (name: FunctionName, dependencies: Dependencies) => Dependencies

export type Parts = {
  clock: Clock
  call: MakeCall
  cloud: Cloud
  http: (instance: Instance) => HttpClient
  telemetry: Telemetry
  adjust: Adjust
  /** Whether environments of webhook and api serve more than one request. */
  warm: boolean
}

const limitsOf = (name: string, timeout: number) => {
  const queue = queuesOf({ prefix: '', stores: STORES }).find(each => each.name === name)
  return {
    visibility: Number(queue?.attributes.VisibilityTimeout) * 1000,
    maxReceives: Number(queue?.deadLetters?.maxReceiveCount),
    timeout,
  }
}

/** The queues that functions read, and the timeouts of these functions, in milliseconds. */
export const LIMITS = {
  orders: limitsOf(QUEUES.orders, 30_000),
  webFeed: limitsOf(feedQueueName(WEB), 120_000),
}
export const BATCH_SIZE = 10

/** A response, or undefined when none came. */
export type OnAnswer = (response: APIGatewayProxyStructuredResultV2 | undefined) => void

type HttpHandler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>

/** Time during which an event source gathers messages for a batch. */
const GATHERING = 20
const ENVIRONMENTS = 2

/** Lambda with the relay's functions, as API Gateway, SQS and the scheduler invoke them. */
export const lambda = ({ clock, call, cloud, http, telemetry, adjust, warm }: Parts) => {
  let ids = 0
  const newId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`

  const dependenciesOf = (name: FunctionName, instance: Instance): Dependencies =>
    adjust(name, {
      ...awsClients(name, instance, call, cloud),
      http: http(instance),
      telemetry,
      stores: STORES,
      settings: SETTINGS,
      now: clock.now,
      random: () => 0.5,
      newId,
    })

  /** Unless they are warm, each request starts an environment, so that it passes every call there is. */
  const endpoint = (
    name: 'webhook' | 'api',
    create: (dependencies: Dependencies) => HttpHandler | Promise<HttpHandler>,
  ) => {
    const idle: { instance: Instance; handler: HttpHandler | Promise<HttpHandler> }[] = []
    const serve = async (instance: Instance, event: APIGatewayProxyEventV2, answer: OnAnswer) => {
      const environment = idle.pop() ?? { instance, handler: create(dependenciesOf(name, instance)) }
      if (environment.instance !== instance) environment.instance.onEnd.push(() => end(instance))
      const response = await (await environment.handler)(event, context())
      await call(environment.instance, `${name}: answer`, () => answer(response))
      if (warm) idle.push(environment)
      else end(instance)
    }
    return (event: APIGatewayProxyEventV2, onAnswer: OnAnswer) => {
      let isAnswered = false
      const answer: OnAnswer = response => {
        if (!isAnswered) onAnswer(response)
        isAnswered = true
      }
      const instance = startInstance()
      instance.onEnd.push(() => answer(undefined))
      serve(instance, event, answer).catch(() => answer(undefined))
    }
  }

  const eventSource = (
    name: 'worker' | 'feeder',
    queueName: string,
    timeout: number,
    create: (dependencies: Dependencies) => (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>,
  ) => {
    const queue = cloud.queues[queueName]
    if (queue === undefined) throw new Error(`Cannot read "${queueName}": there is no such queue`)
    const start = () => {
      const instance = startInstance()
      return { instance, handler: create(dependenciesOf(name, instance)) }
    }
    const idle = Array.from({ length: ENVIRONMENTS }, start)
    let isGathering = false

    const poll = async () => {
      isGathering = false
      const environment = idle.shift()
      if (environment === undefined) return
      const batch = queue.receive(BATCH_SIZE)
      if (batch.length === 0) return void idle.push(environment)
      const { instance, handler } = environment
      let state: 'running' | 'returned' | 'over' = 'running'
      const next = () => {
        if (state === 'over') return
        state = 'over'
        idle.push(instance.alive ? environment : start())
        gather()
      }
      const began = clock.now()
      clock.after(timeout, () => {
        if (state === 'running') end(instance)
      })
      instance.onEnd.push(next)
      // The poller belongs to Lambda: it outlives the function, and can fail by itself.
      const poller = startInstance()
      poller.onEnd.push(next)
      const records = batch.map(({ id, handle, body, group, receivedAt, sentAt }) =>
        sqsRecord(id, {
          receiptHandle: handle,
          body,
          eventSourceARN: `arn:aws:sqs:eu-central-1:1:${queueName}`,
          attributes: {
            MessageGroupId: group,
            ApproximateReceiveCount: String(receivedAt.length),
            SentTimestamp: String(sentAt),
            ApproximateFirstReceiveTimestamp: String(receivedAt[0] ?? 0),
          },
        }),
      )
      try {
        const { batchItemFailures } = await handler(
          sqsEvent(...records),
          context(() => began + timeout - clock.now()),
        )
        state = 'returned'
        const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
        const done = batch.filter(({ id }) => !failed.has(id))
        if (done.length > 0) {
          await call(poller, `${name}: delete messages`, () => {
            for (const { handle } of done) queue.delete(handle)
          })
        }
      } catch {
        // Nothing is deleted, so the batch returns.
      }
      next()
    }

    const gather = () => {
      if (isGathering) return
      isGathering = true
      clock.after(GATHERING, () => void poll())
    }
    queue.onChange(gather)
  }

  eventSource('worker', QUEUES.orders, LIMITS.orders.timeout, createWorker)
  eventSource('feeder', feedQueueName(WEB), LIMITS.webFeed.timeout, createFeeder)

  return {
    webhook: endpoint('webhook', createReceiver),
    api: endpoint('api', createApi),
    reconcile() {
      const instance = startInstance()
      const event = {
        ...{
          version: '0',
          id: '',
          account: '',
          time: '',
          region: '',
          resources: [],
          source: 'aws.scheduler',
        },
        ...{ 'detail-type': 'Scheduled Event' as const, detail: {} },
      }
      createReconciler(dependenciesOf('reconcile', instance))(event, context())
        .catch(() => undefined)
        .finally(() => end(instance))
    },
  }
}

export type Lambda = ReturnType<typeof lambda>
