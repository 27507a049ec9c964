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
import type { Settings } from '../../lib/platform/environment.ts'
import type { HttpClient } from '../../lib/platform/http-client.ts'
import { httpStores } from '../../lib/platform/http-stores.ts'
import { feedQueueName, QUEUES, siblingQueueUrl } from '../../lib/platform/names.ts'
import type { Store } from '../../lib/platform/stores.ts'
import type { Telemetry } from '../../lib/platform/telemetry.ts'
import { createReconciler } from '../../lib/reconcile/handler.ts'
import { createWebhook } from '../../lib/webhook/handler.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { context, scheduledEvent, sqsEvent, sqsRecord } from '../../test/support/lambda.ts'
import { settingsWith } from '../../test/support/settings.ts'
import { awsClients, type Cloud, queueUrl, SECRETS_PATH } from './aws.ts'
import type { Clock } from './clock.ts'
import { end, type Instance, type MakeCall, startInstance } from './faults.ts'
import { APP, type FunctionName, SHOP, WEB } from './places.ts'

export const STORES: readonly Store[] = [
  {
    source: SHOP,
    feed: 'sqs',
    dead_letter_after: 5,
    consumers: ['arn:aws:iam::999999999999:role/shop', '888888888888'],
  },
  { source: WEB, feed: { http: 'https://web.example/feed?of=relay', disable_after: 24 * 60 * 60 } },
  { source: APP, feed: { disable_after: 24 * 60 * 60 } },
]
export const ACCOUNTING_ORIGIN = 'https://accounting.example'

export const SETTINGS = settingsWith(queueUrl, {
  secretsPath: SECRETS_PATH,
  accountingUrl: `${ACCOUNTING_ORIGIN}/base`,
  waitSeconds: '0.3',
})

/** The dependencies of all functions; each factory uses some of them. */
export type Dependencies = ReturnType<typeof awsClients> & {
  http: HttpClient
  telemetry: Telemetry
  stores: readonly Store[]
  settings: Settings
  now: () => number
  random: () => number
  sleep: (milliseconds: number) => Promise<unknown>
  newId: () => string
}

/** Replaces dependencies of a function. */
export type Adjust = (name: FunctionName, dependencies: Dependencies) => Dependencies

type Parts = {
  clock: Clock
  call: MakeCall
  cloud: Cloud
  http: (instance: Instance, name: FunctionName) => HttpClient
  telemetry: Telemetry
  /** The clock of the functions, which may be wrong. */
  now: () => number
  onTimeout: (instance: Instance) => void
  scenario: {
    adjust?: Adjust
    chance?: { random: () => number; isSqsDown: () => boolean }
    concurrency?: number
    warm?: boolean
  }
}

const limitsOf = (name: string, timeout: number) => {
  const queue = queuesOf({ prefix: '', stores: STORES }).find(each => each.name === name)
  return {
    visibility: Number(queue?.attributes.VisibilityTimeout) * 1000,
    maxReceives: Number(queue?.deadLetters?.maxReceiveCount),
    timeout,
  }
}

/** The queues that functions consume, and the timeouts of these functions, in milliseconds. */
export const LIMITS = {
  orders: limitsOf(QUEUES.orders, 30_000),
  webFeed: limitsOf(feedQueueName(WEB), 120_000),
}
const BATCH_SIZE = 10
/** The timeout of `reconcile`, in milliseconds. */
const RECONCILE_TIMEOUT = 80_000

type HttpHandler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>

/** Time during which an event source gathers messages for a batch. */
const GATHERING = 20

/** Lambda with the relay's functions, as API Gateway, SQS and the scheduler invoke them. */
export const lambda = ({ clock, call, cloud, http, telemetry, now, onTimeout, scenario }: Parts) => {
  const { adjust = (_name, dependencies) => dependencies, chance } = scenario
  const { warm = chance !== undefined, concurrency = chance === undefined ? 2 : 10 } = scenario
  let ids = 0
  const newId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`

  const dependenciesOf = (name: FunctionName, instance: Instance): Dependencies =>
    adjust(name, {
      ...awsClients(name, instance, call, cloud),
      http: http(instance, name),
      telemetry,
      stores: STORES,
      settings: SETTINGS,
      now,
      random: chance?.random ?? (() => 0.5),
      sleep: milliseconds =>
        new Promise<void>(resolve => clock.after(milliseconds, () => instance.alive && resolve())),
      newId,
    })

  let deployment = 0
  type Environment<Handler> = {
    instance: Instance
    handler: Handler
    deployment: number
    settings: Settings
  }
  /** A warm environment, or a new one. */
  const take = <Handler>(
    name: FunctionName,
    used: Environment<Handler> | undefined,
    create: (dependencies: Dependencies) => Handler,
    onEnd?: () => void,
  ): Environment<Handler> => {
    const instance = used?.instance.alive && used.deployment === deployment ? used.instance : startInstance()
    instance.onEnd = onEnd
    if (instance === used?.instance) return used
    const dependencies = dependenciesOf(name, instance)
    return { instance, handler: create(dependencies), deployment, settings: dependencies.settings }
  }

  /** Each request starts a new environment unless they are kept warm, so that it makes every possible call. */
  const endpoint = (
    name: 'webhook' | 'api',
    create: (dependencies: Dependencies) => HttpHandler | Promise<HttpHandler>,
  ) => {
    const idle: Environment<HttpHandler | Promise<HttpHandler>>[] = []
    /** The response; undefined if none arrived. */
    return (event: APIGatewayProxyEventV2) =>
      new Promise<APIGatewayProxyStructuredResultV2 | undefined>(answer => {
        const environment = take(name, idle.pop(), create, () => answer(undefined))
        const { instance, handler } = environment
        const serve = async () => {
          const response = await (await handler)(event, context())
          await call(instance, `${name}: answer`, () => answer(response))
          if (warm) idle.push(environment)
          else end(instance)
        }
        serve().catch(() => end(instance))
      })
  }

  const eventSource = (
    name: 'worker' | 'feeder',
    queueName: string,
    timeout: number,
    create: (dependencies: Dependencies) => (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>,
  ) => {
    const queue = cloud.fifoQueue(queueName)
    if (queue === undefined) throw new Error(`Cannot read "${queueName}": there is no such queue`)
    const length = queueName === QUEUES.bulk ? 2 : concurrency
    const idle: (Environment<ReturnType<typeof create>> | undefined)[] = Array.from({ length })
    let isGathering = false

    const poll = async () => {
      isGathering = false
      if (chance?.isSqsDown() || idle.length === 0) return
      const environment = take(name, idle.shift(), create)
      const batch = queue.receive(BATCH_SIZE)
      if (batch.length === 0) return void idle.push(environment)
      // The next environment continues after an incomplete batch.
      if (batch.length === BATCH_SIZE) gather()
      const { instance, handler, settings } = environment
      const queueUrl = siblingQueueUrl(settings.ordersQueueUrl, queueName)
      instance.groups = batch.map(({ group }) => group)
      const began = clock.now()
      let isOver = false
      const next = () => {
        if (isOver) return
        isOver = true
        idle.push(environment)
        gather()
      }
      instance.onEnd = next
      // The poller belongs to Lambda: it outlives the function and can fail independently.
      const poller = startInstance(next)
      let hasReturned = false
      clock.after(timeout, () => {
        if (hasReturned || isOver) return
        onTimeout(instance)
        end(instance)
      })
      const records = batch.map(({ id, handle, body, group, receivedAt, sentAt }) =>
        sqsRecord(id, {
          receiptHandle: handle,
          body,
          eventSourceARN: `arn:aws:sqs:eu-central-1:1:${queueUrl.slice(queueUrl.lastIndexOf('/') + 1)}`,
          attributes: {
            MessageGroupId: group,
            ApproximateReceiveCount: String(receivedAt.length),
            SentTimestamp: String(sentAt),
            ApproximateFirstReceiveTimestamp: String(receivedAt[0] ?? 0),
          },
        }),
      )
      try {
        const remaining = () => began + timeout - clock.now()
        const { batchItemFailures } = await handler(sqsEvent(...records), context(remaining))
        hasReturned = true
        const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
        const done = batch.filter(({ id }) => !failed.has(id))
        if (done.length > 0)
          await call(poller, `${name}: delete messages`, () => {
            for (const { handle } of done) queue.delete(handle)
          })
      } catch {
        // Nothing is deleted, so the batch is redelivered.
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

  for (const name of [QUEUES.orders, QUEUES.bulk])
    eventSource('worker', name, LIMITS.orders.timeout, createWorker)
  for (const { source } of httpStores(STORES))
    eventSource('feeder', feedQueueName(source), LIMITS.webFeed.timeout, dependencies =>
      createFeeder({ ...dependencies, client: () => dependencies.http }),
    )

  return {
    /** Replaces all environments; busy ones end after their current work. */
    deploy: () => void deployment++,
    webhook: endpoint('webhook', createWebhook),
    api: endpoint('api', createApi),
    reconcile() {
      const instance = startInstance()
      const ends = clock.now() + RECONCILE_TIMEOUT
      clock.after(RECONCILE_TIMEOUT, () => end(instance))
      const remaining = context(() => ends - clock.now())
      createReconciler(dependenciesOf('reconcile', instance))(scheduledEvent, remaining)
        .catch(() => undefined)
        .finally(() => end(instance))
    },
  }
}

export type Lambda = ReturnType<typeof lambda>
