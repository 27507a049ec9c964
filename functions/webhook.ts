import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { dynamodbClient, sqsClient, ssmClient } from '../lib/aws.ts'
import { setting } from '../lib/config.ts'
import { bodyOf, reply } from '../lib/http.ts'
import { lineProducer } from '../lib/line/producer.ts'
import { quarantineQueue } from '../lib/quarantine.ts'
import { parametersBelow, webhookSecrets } from '../lib/secrets.ts'
import { telemetry } from '../lib/telemetry.ts'
import { answer, unavailable } from '../lib/webhook/answer.ts'
import { deliveriesTable } from '../lib/webhook/deliveries.ts'
import { type Ports, receive } from '../lib/webhook/receive.ts'
import stores from '../stores.yml'

const sqs = sqsClient()
const sources = new Set(stores.map(store => store.source))

const secrets = webhookSecrets(
  parametersBelow(ssmClient(), `${setting('SECRETS_PATH')}/webhook-secrets`),
  (process.env.RELAY_WEBHOOK_SECRETS ?? '').split(',').filter(secret => secret !== ''),
)

const ports: Ports = {
  secrets,
  isOurs: source => sources.has(source),
  deliveries: deliveriesTable(dynamodbClient(), setting('DELIVERIES_TABLE')),
  enqueue: lineProducer(sqs, setting('LINE_URL')),
  quarantine: quarantineQueue(sqs, setting('QUARANTINE_URL')),
  now: () => Math.floor(Date.now() / 1000),
}

// Before the first event comes, and while Lambda gives a function that starts a whole processor.
await secrets.prepare()

/** `POST /webhook`: the accounting service tells of a change (spec: Events). */
export const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
  .onError(request => {
    telemetry.error('delivery not kept', request.error)
    telemetry.count('ReceiveFailed')
    request.response = reply(unavailable)
  })
  .handler(async event => {
    const received = await receive({ headers: event.headers, body: bodyOf(event) }, ports)
    telemetry.info('delivery received', received)
    telemetry.count('Received', { outcome: received.outcome })
    return reply(answer(received))
  })
