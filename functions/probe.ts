import { randomUUID } from 'node:crypto'
import { sqsClient, ssmClient } from '../lib/platform/clients.ts'
import { readSettings, runtime } from '../lib/platform/environment.ts'
import { httpClient } from '../lib/platform/http-client.ts'
import { powertoolsTelemetry } from '../lib/platform/telemetry.ts'
import { createProbe } from '../lib/probe/handler.ts'

export const handler = createProbe({
  sqs: sqsClient(),
  ssm: ssmClient(),
  http: httpClient(),
  telemetry: powertoolsTelemetry(),
  settings: readSettings('secretsPath', 'probeQueueUrl', 'webhookUrl'),
  ...runtime,
  newId: randomUUID,
})
