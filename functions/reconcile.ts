import { setTimeout as sleep } from 'node:timers/promises'
import { dynamodbClient, sqsClient } from '../lib/platform/clients.ts'
import { readSettings, runtime } from '../lib/platform/environment.ts'
import { powertoolsTelemetry } from '../lib/platform/telemetry.ts'
import { createReconciler } from '../lib/reconcile/handler.ts'

export const handler = createReconciler({
  dynamodb: dynamodbClient(),
  sqs: sqsClient(),
  telemetry: powertoolsTelemetry(),
  settings: readSettings('ordersTable', 'ordersQueueUrl', 'checksPerSecond'),
  sleep,
  ...runtime,
})
