import { randomUUID } from 'node:crypto'
import { createApi } from '../lib/api/handler.ts'
import { dynamodbClient, sqsClient, ssmClient } from '../lib/platform/clients.ts'
import { readSettings, runtime } from '../lib/platform/environment.ts'
import { powertoolsTelemetry } from '../lib/platform/telemetry.ts'
import stores from '../stores.yml'

export const handler = createApi({
  dynamodb: dynamodbClient(),
  sqs: sqsClient(),
  ssm: ssmClient(),
  telemetry: powertoolsTelemetry(),
  stores,
  settings: readSettings('ordersTable', 'ordersQueueUrl', 'secretsPath'),
  ...runtime,
  newId: randomUUID,
})
