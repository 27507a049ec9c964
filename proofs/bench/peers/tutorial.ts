import { createHmac, timingSafeEqual } from 'node:crypto'
import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'

// Peer (c): a tutorial's handler without a framework: the secret is in the environment, and the delivery is claimed in
// DynamoDB first. A crash after the claim loses the event; this peer serves only as a speed reference.

const documents = DynamoDBDocumentClient.from(new DynamoDBClient())
const sqs = new SQSClient()
const sources = (process.env.SOURCES ?? '').split(',')

const respond = (statusCode: number, status: string) => ({ statusCode, body: JSON.stringify({ status }) })

export const handler = async (event: APIGatewayProxyEventV2) => {
  const body = event.body ?? ''
  const [, t = '', v1 = ''] = /^t=(\d+),v1=(\w{64})$/.exec(event.headers['x-service-signature'] ?? '') ?? []
  const expected = createHmac('sha256', process.env.WEBHOOK_SECRET ?? '')
    .update(`${t}.${body}`)
    .digest('hex')
  if (v1.length !== 64 || !timingSafeEqual(Buffer.from(expected), Buffer.from(v1))) {
    return respond(401, 'unauthorized')
  }
  if (Math.abs(Date.now() / 1000 - Number(t)) > 300) return respond(401, 'unauthorized')

  const webhook = JSON.parse(body)
  if (!sources.includes(webhook.data.source)) return respond(200, 'ignored')
  try {
    await documents.send(
      new PutCommand({
        TableName: process.env.DELIVERIES_TABLE,
        Item: { delivery: webhook.delivery, expires_at: Math.floor(Date.now() / 1000) + 30 * 24 * 60 * 60 },
        ConditionExpression: 'attribute_not_exists(delivery)',
      }),
    )
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return respond(200, 'duplicate')
    throw error
  }
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: process.env.ORDERS_QUEUE_URL,
      MessageBody: body,
      MessageGroupId: webhook.data.external_id,
      MessageDeduplicationId: webhook.delivery,
    }),
  )
  console.log('queued', webhook.delivery)
  return respond(200, 'queued')
}
