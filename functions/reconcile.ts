import { setTimeout as sleep } from 'node:timers/promises'
import { dynamodbClient, sqsClient, ssmClient } from '../lib/platform/clients.ts'
import { readSettings, runtime } from '../lib/platform/environment.ts'
import { httpClient } from '../lib/platform/http-client.ts'
import { powertoolsTelemetry } from '../lib/platform/telemetry.ts'
import { createReconciler } from '../lib/reconcile/handler.ts'

export const handler = createReconciler({
  dynamodb: dynamodbClient(),
  sqs: sqsClient(),
  ssm: ssmClient(),
  http: httpClient(),
  telemetry: powertoolsTelemetry(),
  settings: readSettings('ordersTable', 'ordersQueueUrl', 'secretsPath', 'accountingUrl', 'checksPerSecond'),
  sleep,
  ...runtime,
})
