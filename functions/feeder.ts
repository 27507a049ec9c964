import { createFeeder } from '../lib/feeds/handler.ts'
import { dynamodbClient, sqsClient, ssmClient } from '../lib/platform/clients.ts'
import { readSettings, runtime } from '../lib/platform/environment.ts'
import { httpClient } from '../lib/platform/http-client.ts'
import { powertoolsTelemetry } from '../lib/platform/telemetry.ts'
import stores from '../stores.yml'

export const handler = createFeeder({
  dynamodb: dynamodbClient(),
  sqs: sqsClient(),
  ssm: ssmClient(),
  client: httpClient,
  telemetry: powertoolsTelemetry(),
  stores,
  settings: readSettings(
    'ordersQueueUrl',
    'feedsDeadQueueUrl',
    'registrationsTable',
    'historyTable',
    'secretsPath',
    'feedAddresses',
    'feedAttempts',
  ),
  ...runtime,
})
