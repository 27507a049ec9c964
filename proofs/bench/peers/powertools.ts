import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { IdempotencyConfig } from '@aws-lambda-powertools/idempotency'
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'
import { makeHandlerIdempotent } from '@aws-lambda-powertools/idempotency/middleware'
import { Logger } from '@aws-lambda-powertools/logger'
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
import { getParameter } from '@aws-lambda-powertools/parameters/ssm'
import { ApiGatewayV2Envelope } from '@aws-lambda-powertools/parser/envelopes/api-gatewayv2'
import { JSONStringified } from '@aws-lambda-powertools/parser/helpers'
import { parser } from '@aws-lambda-powertools/parser/middleware'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import middy from '@middy/core'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { z } from 'zod'

// Peer (b): middy with Powertools for AWS Lambda, each used as documented, as an experienced AWS engineer would build
// it.

const sqs = new SQSClient()
const logger = new Logger({ serviceName: 'webhook' })

const webhook = z.looseObject({
  event: z.string().min(1),
  delivery: z.uuid(),
  data: z.looseObject({
    source: z.string().min(1),
    external_id: z.string().min(1),
    status: z.string().min(1),
  }),
})
type Webhook = z.infer<typeof webhook>

const persistenceStore = new DynamoDBPersistenceLayer({
  tableName: process.env.IDEMPOTENCY_TABLE ?? '',
  awsSdkV3Client: new DynamoDBClient(),
})
const config = new IdempotencyConfig({
  eventKeyJmesPath: 'delivery',
  throwOnNoIdempotencyKey: true,
  expiresAfterSeconds: 30 * 24 * 60 * 60,
})

const sources = new Set((process.env.SOURCES ?? '').split(','))

const unauthorized = { statusCode: 401, body: JSON.stringify({ message: 'Unauthorized' }) }

const webhookSecret = async (): Promise<string> =>
  (await getParameter(`${process.env.SECRETS_PATH}/webhook/secrets/one`, { decrypt: true, maxAge: 300 })) ??
  ''

/** Powertools has nothing for signatures, so this is a custom middleware. */
const verifySignature = {
  before: async ({ event }: { event: APIGatewayProxyEventV2 }) => {
    const { headers, body = '', isBase64Encoded } = event
    const [, t = '', v1 = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['x-service-signature'] ?? '') ?? []
    if (v1 === '' || Math.abs(Date.now() / 1000 - Number(t)) > 300) return unauthorized
    const raw = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
    const expected = createHmac('sha256', await webhookSecret())
      .update(`${t}.`)
      .update(raw)
      .digest()
    return timingSafeEqual(expected, Buffer.from(v1, 'hex')) ? undefined : unauthorized
  },
}

/** Runs before idempotency, so that webhooks of other stores cost no write. */
const ignoreForeign = {
  before: async ({ event }: { event: Webhook }) =>
    sources.has(event.data.source)
      ? undefined
      : { statusCode: 200, body: JSON.stringify({ status: 'ignored' }) },
}

const enqueue = async (event: Webhook) => {
  const { source, external_id } = event.data
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: process.env.ORDERS_QUEUE_URL,
      MessageBody: JSON.stringify(event),
      MessageGroupId: createHash('sha256').update(`${source}/${external_id}`).digest('hex'),
      MessageDeduplicationId: event.delivery,
    }),
  )
  logger.info('delivery queued', { delivery: event.delivery, source, external_id })
  return { statusCode: 200, body: JSON.stringify({ status: 'queued' }) }
}

export const handler = middy()
  .use(injectLambdaContext(logger))
  .use(verifySignature)
  .use(parser({ schema: JSONStringified(webhook), envelope: ApiGatewayV2Envelope }))
  .use(ignoreForeign)
  .use(makeHandlerIdempotent({ persistenceStore, config }))
  .handler(enqueue)
