import { createHash, createHmac, createSecretKey } from 'node:crypto'
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs'
import { SSMClient, type SSMClientConfig } from '@aws-sdk/client-ssm'
import { keptAgents } from './agents.ts'
import { traced } from './tracing.ts'

/** The AWS commands that the relay uses, sent by AWS's own clients. */
export type DynamoDB = Pick<DynamoDBClient, 'send'>
export type Sqs = Pick<SQSClient, 'send'>
export type Ssm = Pick<SSMClient, 'send'>

/**
 * SHA-256 for signatures, for the SDK's option `sha256`. The SDK's own class creates an HMAC from a buffer, which takes
 * 15 µs in Node 24 instead of 4 µs from a key object, and copies each hash before digesting it.
 */
class Sha256 {
  readonly #hash
  constructor(secret?: string | Uint8Array) {
    const key = typeof secret === 'object' ? createSecretKey(secret) : secret
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', key)
  }
  update(data: Uint8Array): void {
    this.#hash.update(data)
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
}

/**
 * The sender of a webhook waits ten seconds for a response, which needs up to three calls, and the function times out
 * after nine. A hanging attempt must leave time for a retry, and AWS must have time to respond under load.
 */
const options = {
  maxAttempts: 3,
  sha256: Sha256,
  // What requests of a command then share is the same for all requests of a client. docs/performance.md.
  cacheMiddleware: true,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 2500, throwOnRequestTimeout: true },
}

/**
 * The connections of one client. When one breaks, all idle ones are closed: a NAT gateway resets all connections with
 * the same idle time, and after a batch there are more of them than a call has attempts.
 */
const connections = () => {
  const { httpAgent, httpsAgent } = keptAgents()
  return {
    config: { ...options, requestHandler: { ...options.requestHandler, httpAgent, httpsAgent } },
    closeIdle:
      <Request, Response>(send: (request: Request) => Promise<Response>) =>
      async (request: Request): Promise<Response> => {
        try {
          return await send(request)
        } catch (error) {
          const idle = [httpAgent, httpsAgent].flatMap(({ freeSockets }) => Object.values(freeSockets).flat())
          for (const socket of idle) socket?.destroy()
          throw error
        }
      },
  }
}

/** The innermost middleware, where an attempt fails only if there is no response. */
const ATTEMPT = { step: 'deserialize', priority: 'low' } as const

/** Runs once around all attempts, after the request is built. */
const CALL = { step: 'build' } as const

/** DynamoDB and Systems Manager answer 400, SQS 403. */
const THROTTLED = /Throttl|ProvisionedThroughputExceeded|RequestLimitExceeded/

/** Whether AWS refused a call because of its rate, after the client's own retries. */
export const isThrottled = (error: unknown): boolean => THROTTLED.test(String(error))

type Answered = { $metadata?: { httpStatusCode?: number; requestId?: string; attempts?: number } }
type Input = { TableName?: string; QueueUrl?: string }

/** Records a command as a subsegment, with the names that AWS's X-Ray SDK gives it. */
const record =
  <Args extends { input: object; request?: unknown }, Output extends { output: object }>(
    next: (args: Args) => Promise<Output>,
    { clientName = '', commandName = '' }: { clientName?: string; commandName?: string },
  ) =>
  (args: Args): Promise<Output> =>
    traced(
      traceHeader => {
        const { headers }: { headers?: Record<string, string> } = { ...(args.request ?? {}) }
        if (traceHeader !== undefined && headers !== undefined) headers['X-Amzn-Trace-Id'] = traceHeader
        return next(args)
      },
      outcome => {
        const { $metadata }: Answered =
          'result' in outcome ? outcome.result.output : { ...Object(outcome.error) }
        const { TableName, QueueUrl }: Input = { ...args.input }
        return {
          name: clientName.replace(/Client$/, ''),
          namespace: 'aws',
          status: $metadata?.httpStatusCode,
          ...('error' in outcome && { throttle: isThrottled(outcome.error) }),
          aws: {
            operation: commandName.replace(/Command$/, ''),
            region: process.env.AWS_REGION,
            request_id: $metadata?.requestId,
            retries: ($metadata?.attempts ?? 1) - 1,
            table_name: TableName,
            queue_url: QueueUrl,
          },
        }
      },
    )

type Attachable = {
  middlewareStack: {
    add(middleware: ReturnType<typeof connections>['closeIdle'], options: typeof ATTEMPT): void
    add(middleware: typeof record, options: typeof CALL): void
  }
}

/** A client with its own connections, whose calls are traced. */
const connected = <Config extends object, Client extends Attachable>(
  Constructor: new (config: Config) => Client,
  config: Config,
): Client => {
  const { config: defaults, closeIdle } = connections()
  const client = new Constructor({ ...defaults, ...config })
  client.middlewareStack.add(closeIdle, ATTEMPT)
  client.middlewareStack.add(record, CALL)
  return client
}

/** @param config for test harnesses; a function takes everything from its environment */
export const dynamodbClient = (config: DynamoDBClientConfig = {}) => connected(DynamoDBClient, config)

export const sqsClient = (config: SQSClientConfig = {}) => connected(SQSClient, config)

export const ssmClient = (config: SSMClientConfig = {}) => connected(SSMClient, config)
