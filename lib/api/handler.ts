import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { orderQueue } from '../orders/events.ts'
import { orderRepository } from '../orders/repository.ts'
import { aboutError } from '../platform/about.ts'
import type { DynamoDB, Sqs, Ssm } from '../platform/clients.ts'
import { invocation, type Runtime, type Settings } from '../platform/environment.ts'
import { bodyOf, toApiGateway } from '../platform/http.ts'
import { PARAMETERS } from '../platform/names.ts'
import { indexedParameters, parameterCache } from '../platform/parameters.ts'
import type { Store } from '../platform/stores.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import { storeKeys } from './keys.ts'
import { unavailable } from './refusals.ts'
import { type ServeDependencies, serve } from './serve.ts'

export type ApiDependencies = Runtime & {
  dynamodb: DynamoDB
  sqs: Sqs
  ssm: Ssm
  telemetry: Telemetry
  stores: readonly Store[]
  settings: Pick<Settings, 'ordersTable' | 'ordersQueueUrl' | 'secretsPath'>
  /** Creates the id of an accepted request: a UUID. */
  newId: () => string
}

/** The endpoints `/api/v1/orders/...`: the stores' API, with the spec's own paths and bodies (spec: Endpoints). */
export const createApi = ({
  dynamodb,
  sqs,
  ssm,
  telemetry,
  stores,
  settings,
  now,
  random,
  newId,
}: ApiDependencies) => {
  const keys = indexedParameters(ssm, `${settings.secretsPath}/${PARAMETERS.storeKeys}`)
  const dependencies: ServeDependencies = {
    sourceOf: storeKeys(parameterCache(keys, { now, random }), stores),
    orders: orderRepository(dynamodb, settings.ordersTable, { random }),
    enqueue: orderQueue(sqs, settings.ordersQueueUrl),
    newId,
  }

  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>(invocation)
    .onError(request => {
      telemetry.error('request failed', request.error, aboutError(request.error))
      telemetry.count('RequestFailed')
      telemetry.count('Requests', { status: String(unavailable.status) })
      request.response = toApiGateway(unavailable)
    })
    .handler(async event => {
      const { response, about } = await serve(
        {
          method: event.requestContext.http.method,
          path: event.rawPath,
          headers: event.headers,
          query: event.queryStringParameters ?? {},
          body: bodyOf(event),
        },
        dependencies,
      )
      telemetry.info('request answered', { status: response.status, ...about })
      telemetry.count('Requests', { status: String(response.status) })
      return toApiGateway(response)
    })
}
