import { randomUUID } from 'node:crypto'
import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { STORE_KEYS, storeKeys } from '../lib/api/keys.ts'
import { unavailable } from '../lib/api/refusals.ts'
import { type Ports, serve } from '../lib/api/serve.ts'
import { dynamodbClient, sqsClient, ssmClient } from '../lib/aws.ts'
import { setting } from '../lib/config.ts'
import { bodyOf, reply } from '../lib/http.ts'
import { lineProducer } from '../lib/line/producer.ts'
import { ordersTable } from '../lib/orders/table.ts'
import { parametersBelow } from '../lib/secrets.ts'
import { telemetry } from '../lib/telemetry.ts'
import stores from '../stores.yml'

const sources = new Set(stores.map(store => store.source))

const ports: Ports = {
  sourceOf: storeKeys(parametersBelow(ssmClient(), `${setting('SECRETS_PATH')}/${STORE_KEYS}`)),
  isOurs: source => sources.has(source),
  orders: ordersTable(dynamodbClient(), setting('ORDERS_TABLE')),
  enqueue: lineProducer(sqsClient(), setting('LINE_URL')),
  newId: randomUUID,
}

/** `/api/v1/orders/...`: the stores' API, with the spec's own paths and bodies (spec: Endpoints). */
export const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
  .onError(request => {
    telemetry.error('request not taken', request.error)
    telemetry.count('RequestFailed')
    request.response = reply(unavailable)
  })
  .handler(async event => {
    const { answer, about } = await serve(
      {
        method: event.requestContext.http.method,
        location: event,
        headers: event.headers,
        query: event.queryStringParameters ?? {},
        body: bodyOf(event),
      },
      ports,
    )
    telemetry.info('request answered', { status: answer.status, ...about })
    telemetry.count('Requests', { status: String(answer.status) })
    return reply(answer)
  })
