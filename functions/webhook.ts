import { dynamodbClient, sqsClient, ssmClient } from '../lib/platform/clients.ts'
import { readSettings, runtime } from '../lib/platform/environment.ts'
import { powertoolsTelemetry } from '../lib/platform/telemetry.ts'
import { createWebhook } from '../lib/webhook/handler.ts'
import stores from '../stores.yml'

export const handler = await createWebhook({
  dynamodb: dynamodbClient(),
  sqs: sqsClient(),
  ssm: ssmClient(),
  telemetry: powertoolsTelemetry(),
  stores,
  settings: readSettings('deliveriesTable', 'ordersQueueUrl', 'quarantineQueueUrl', 'secretsPath'),
  ...runtime,
})
