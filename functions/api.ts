import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { createApi } from '../lib/api/handler.ts'
import { dynamodbClient, sqsClient, ssmClient } from '../lib/platform/clients.ts'
import { readSettings, runtime } from '../lib/platform/environment.ts'
import { httpClient } from '../lib/platform/http-client.ts'
import { powertoolsTelemetry } from '../lib/platform/telemetry.ts'
import stores from '../stores.yml'

export const handler = createApi({
  dynamodb: dynamodbClient(),
  sqs: sqsClient(),
  ssm: ssmClient(),
  http: httpClient(),
  telemetry: powertoolsTelemetry(),
  stores,
  settings: readSettings(
    'ordersTable',
    'deliveriesTable',
    'registrationsTable',
    'ordersQueueUrl',
    'secretsPath',
    'accountingUrl',
    'accountingTimeZone',
    'waitSeconds',
    'storeRequestsPerSecond',
    'feedAddresses',
  ),
  ...runtime,
  sleep: setTimeout,
  newId: randomUUID,
})
