import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SQSClient } from '@aws-sdk/client-sqs'
import { REGION, SANDBOX_KEY, urlOf } from '@order-relay/local/settings.ts'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, SQSEvent } from 'aws-lambda'
import { accountingClient } from '../../lib/accounting/client.ts'
import { createApi } from '../../lib/api/handler.ts'
import { createFeeder } from '../../lib/feeds/handler.ts'
import { dynamodbClient, sqsClient, ssmClient } from '../../lib/platform/clients.ts'
import { httpClient } from '../../lib/platform/http-client.ts'
import { PARAMETERS } from '../../lib/platform/names.ts'
import type { Telemetry } from '../../lib/platform/telemetry.ts'
import { createReconciler } from '../../lib/reconcile/handler.ts'
import { createWebhook } from '../../lib/webhook/handler.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { context as contextWith, httpEvent, scheduledEvent } from '../../test/support/lambda.ts'
import { CREDENTIALS } from '../../test/support/parts.ts'
import { startServer } from '../../test/support/server.ts'
import { settingsWith } from '../../test/support/settings.ts'
import type { FunctionName } from '../crash/places.ts'
import { type Backends, SECRETS_PATH, storesWith } from './backends.ts'
import type { Link } from './faults.ts'

/** Divisors of all waiting times; decisions stay the same. */
export type Pace = {
  /** Retry delays of messages and pauses of the breaker. */
  retries: number
  /** Timeouts of the functions and of their HTTP calls. */
  timeouts: number
}

type RelayOptions = {
  backends: Backends
  /** Puts a link's proxy in front of a port and returns its URL. */
  through: (link: Link, port: number) => Promise<string>
  /** Port of the HTTP store. */
  webStore: number
  telemetry: Telemetry
  /** Number of workers that read the order queue in parallel. @default 1 */
  workers?: number
  /** @default as on AWS */
  pace?: Pace
  /** Unix time in milliseconds, as a function reads it. @default Date.now */
  now?: (name: FunctionName) => number
}

const TIMEOUT_MS = { webhook: 9000, api: 9000, worker: 30_000, feeder: 120_000, reconcile: 300_000 }

const single = (headers: object) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

/** An endpoint behind HTTP, as API Gateway calls it. */
const startEndpoint = (
  serve: (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>,
) =>
  startServer(async ({ method = '', url = '', headers }, body) => {
    const event = httpEvent({ method, path: url, headers: single(headers), body: body.toString() })
    const { statusCode = 500, headers: sent = {}, body: text = '' } = await serve(event)
    return { status: statusCode, headers: single(sent), body: text }
  })

export const shortenDelays = (sqs: SQSClient, { retries }: Pace) =>
  sqs.middlewareStack.add(
    next => args => {
      const { input } = args
      const entries = 'Entries' in input ? (input.Entries ?? []) : []
      for (const entry of entries)
        if ('VisibilityTimeout' in entry && typeof entry.VisibilityTimeout === 'number')
          entry.VisibilityTimeout = Math.round(entry.VisibilityTimeout / retries)
      return next(args)
    },
    { step: 'initialize' },
  )

/**
 * The functions from their own factories, connected to the backends by one link per kind of call. The webhook is
 * registered with the service, and its secret is in Parameter Store.
 *
 * @param closing closes what is started
 */
export const startRelay = async (
  closing: AsyncDisposableStack,
  {
    backends,
    through,
    webStore,
    telemetry,
    workers = 1,
    pace = { retries: 1, timeouts: 1 },
    now = Date.now,
  }: RelayOptions,
) => {
  const { ports, queueUrl } = backends
  const settings = settingsWith(queueUrl, {
    secretsPath: SECRETS_PATH,
    accountingUrl: await through('worker to service', ports.sandbox),
    waitSeconds: '0',
  })
  const stores = storesWith(await through('feeder to store', webStore))
  const http = httpClient()

  /** The dependencies of a function, with separate connections. */
  const dependenciesOf = async (name: FunctionName) => {
    const config = async (port: number) => ({
      region: REGION,
      credentials: CREDENTIALS,
      endpoint: await through(`${name} to AWS`, port),
    })
    const aws = {
      dynamodb: dynamodbClient(await config(ports.dynamodb)),
      sqs: sqsClient(await config(ports.sqs)),
      ssm: ssmClient(await config(ports.ssm)),
    }
    for (const client of Object.values(aws)) closing.defer(() => client.destroy())
    if (pace.retries !== 1) shortenDelays(aws.sqs, pace)
    return {
      ...aws,
      stores,
      settings,
      telemetry,
      sleep,
      newId: randomUUID,
      now: () => now(name),
      random: Math.random,
      http: (request: Parameters<typeof http>[0]) =>
        http({ ...request, timeout: request.timeout / pace.timeouts }),
    }
  }
  /** The remaining time, scaled so that a call takes the same fraction as in the deployed function. */
  const context = (name: FunctionName) => {
    const end = performance.now() + TIMEOUT_MS[name] / pace.timeouts
    return contextWith(() => (end - performance.now()) * pace.timeouts)
  }

  const webhook = await startEndpoint(event => receive(event, context('webhook')))
  closing.defer(webhook.close)
  const webhookUrl = `${await through('service to relay', webhook.port)}/webhook`
  const accounting = accountingClient({ baseUrl: urlOf(ports.sandbox), apiKey: async () => SANDBOX_KEY })
  const { secret } = await accounting.registerWebhook(webhookUrl)
  await backends.putParameter(`${PARAMETERS.webhookSecrets}/chaos`, secret)
  const receive = await createWebhook(await dependenciesOf('webhook'))

  const serve = createApi(await dependenciesOf('api'))
  const api = await startEndpoint(event => serve(event, context('api')))
  closing.defer(api.close)

  const startWorker = async () => {
    const work = createWorker(await dependenciesOf('worker'))
    return (event: SQSEvent) => work(event, context('worker'))
  }
  const feeding = await dependenciesOf('feeder')
  const feed = createFeeder({ ...feeding, client: () => feeding.http })
  const reconcile = createReconciler(await dependenciesOf('reconcile'))
  return {
    webhook: { url: webhookUrl, secret },
    apiUrl: await through('store to relay', api.port),
    workers: await Promise.all(Array.from({ length: workers }, startWorker)),
    feeder: (event: SQSEvent) => feed(event, context('feeder')),
    reconcile: () => reconcile(scheduledEvent, context('reconcile')),
  }
}
