import { dynamodbClient, sqsClient, ssmClient } from '../lib/platform/clients.ts'
import { readSettings, runtime } from '../lib/platform/environment.ts'
import { httpClient } from '../lib/platform/http-client.ts'
import { powertoolsTelemetry } from '../lib/platform/telemetry.ts'
import { createWorker } from '../lib/worker/handler.ts'
import stores from '../stores.yml'

export const handler = createWorker({
  dynamodb: dynamodbClient(),
  sqs: sqsClient(),
  ssm: ssmClient(),
  http: httpClient(),
  telemetry: powertoolsTelemetry(),
  stores,
  settings: readSettings(
    'ordersTable',
    'deliveriesTable',
    'historyTable',
    'ordersQueueUrl',
    'quarantineQueueUrl',
    'secretsPath',
    'accountingUrl',
    'refusedRetryDays',
    'deleteOrdersAfterDays',
    'feedVersionsFrom',
  ),
  ...runtime,
})
