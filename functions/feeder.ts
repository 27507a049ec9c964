import { createFeeder } from '../lib/feeds/handler.ts'
import { assertAllowed } from '../lib/platform/addresses.ts'
import { sqsClient, ssmClient } from '../lib/platform/clients.ts'
import { readSettings, runtime } from '../lib/platform/environment.ts'
import { httpClient } from '../lib/platform/http-client.ts'
import { powertoolsTelemetry } from '../lib/platform/telemetry.ts'
import stores from '../stores.yml'

const { feedAddresses } = readSettings('feedAddresses')

export const handler = createFeeder({
  sqs: sqsClient(),
  ssm: ssmClient(),
  http: httpClient(address => assertAllowed(address, feedAddresses === 'loopback' ? 'loopback' : 'public')),
  telemetry: powertoolsTelemetry(),
  stores,
  settings: readSettings('ordersQueueUrl', 'feedsDeadQueueUrl', 'secretsPath'),
  ...runtime,
})
