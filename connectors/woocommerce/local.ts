import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { readEnvironment } from '@order-relay/local/credentials.ts'
import { createTables } from '@order-relay/local/dynamodb.ts'
import { startEventSource } from '@order-relay/local/event-source.ts'
import { type Settings, urlOf } from '@order-relay/local/settings.ts'
import { listen, stop } from '@order-relay/web/serve.ts'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { namesOf, TABLE_SCHEMA } from './lib/names.ts'

const eventOf = async (request: IncomingMessage): Promise<APIGatewayProxyEventV2> =>
  ({
    rawPath: request.url ?? '/',
    headers: request.headers as Record<string, string>,
    body: (await buffer(request)).toString('base64'),
    isBase64Encoded: true,
  }) as APIGatewayProxyEventV2

/**
 * Runs the connector on this machine: its table and queue are in the local stack (npm start), its endpoint on
 * 127.0.0.1.
 *
 * @throws Error when the local stack does not run, or the port is taken
 */
export const startConnector = async ({
  ports,
  dataDir,
  port,
  pollSeconds = 120,
}: Pick<Settings, 'ports' | 'dataDir'> & { port: number; pollSeconds?: number }) => {
  const { table, queue, path } = namesOf('local')
  const aws = await readEnvironment(dataDir).catch(cause => {
    throw new Error('Cannot start the connector: the local stack has never run; start it with npm start', {
      cause,
    })
  })
  Object.assign(process.env, aws, {
    AWS_ENDPOINT_URL_DYNAMODB: urlOf(ports.dynamodb),
    AWS_ENDPOINT_URL_SSM: urlOf(ports.ssm),
    TABLE: table,
    CONNECTIONS_PATH: path,
    POWERTOOLS_SERVICE_NAME: 'woocommerce',
  })
  const [dynamodb, sqs] = [new DynamoDBClient(), new SQSClient()]
  await createTables(dynamodb, [{ name: table, schema: TABLE_SCHEMA }])
  const Attributes = { FifoQueue: 'true', VisibilityTimeout: '30' }
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: queue, Attributes }))
  process.env.QUEUE_URL = QueueUrl
  // The functions read the environment when they are loaded, as on Lambda.
  const [{ handler: receive }, { handler: synchronize }, { handler: poll }] = await Promise.all([
    import('./functions/receiver.ts'),
    import('./functions/sync.ts'),
    import('./functions/poll.ts'),
  ])
  const report = (error: unknown) =>
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  const server = createServer(async (request, response) => {
    try {
      const answer = (await receive(await eventOf(request))) as APIGatewayProxyStructuredResultV2
      response.writeHead(answer.statusCode ?? 500, answer.headers as Record<string, string>).end(answer.body)
    } catch (error) {
      report(error)
      response.writeHead(500).end()
    }
  })
  const bound = await listen(server, port, 'WOO_PORT')
  const source = startEventSource({
    sqs,
    queueUrl: QueueUrl,
    invoke: synchronize as (event: unknown) => Promise<unknown>,
    onError: report,
  })
  const stopping = new AbortController()
  const polling = (async () => {
    while (!stopping.signal.aborted) {
      await poll().catch(() => undefined)
      await sleep(pollSeconds * 1000, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  })()
  return {
    url: urlOf(bound),
    close: async () => {
      stopping.abort()
      await Promise.all([stop(server), source.stop(), polling])
      dynamodb.destroy()
      sqs.destroy()
    },
  }
}
