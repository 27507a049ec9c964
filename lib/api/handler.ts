import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { type AccountingDependencies, guarded, serviceClient } from '../accounting/service.ts'
import { announcementRepository } from '../orders/announcements.ts'
import { orderQueue } from '../orders/events.ts'
import { orderRepository } from '../orders/repository.ts'
import { aboutError } from '../platform/about.ts'
import { allowedAddresses } from '../platform/addresses.ts'
import type { DynamoDB, Sqs } from '../platform/clients.ts'
import { invocation, type Settings, type Sleep } from '../platform/environment.ts'
import { bodyOf, toApiGateway } from '../platform/http.ts'
import { exactStores, PARAMETERS } from '../platform/names.ts'
import { indexedParameters, parameterCache } from '../platform/parameters.ts'
import { registrationRepository } from '../platform/registrations.ts'
import type { Store } from '../platform/stores.ts'
import { keyUses, storeKeys } from './keys.ts'
import { storeRate } from './rate.ts'
import { notStored } from './refusals.ts'
import { type ServeDependencies, serve } from './serve.ts'
import { queueDepth, waiting } from './waiting.ts'

export type ApiDependencies = AccountingDependencies & {
  dynamodb: DynamoDB
  sqs: Sqs
  stores: readonly Store[]
  settings: Pick<
    Settings,
    | 'ordersTable'
    | 'deliveriesTable'
    | 'registrationsTable'
    | 'ordersQueueUrl'
    | 'accountingTimeZone'
    | 'waitSeconds'
    | 'storeRequestsPerSecond'
    | 'feedAddresses'
  >
  sleep: Sleep
  /** Creates the id of an accepted request: a UUID. */
  newId: () => string
}

/** Timeout of a read at the service, in milliseconds: the store is waiting for the response. */
const READ_TIMEOUT_MS = 3000

/** Timeout of a read at the service if the stored result is an answer as well, in milliseconds. */
const PRESENT_TIMEOUT_MS = 2000

/** The endpoints `/api/v1/orders/...`: the stores' API, with the spec's own paths and bodies (spec: Endpoints). */
export const createApi = (dependencies: ApiDependencies) => {
  const { dynamodb, sqs, ssm, telemetry, stores, settings, now, random, sleep, newId } = dependencies
  const { ordersTable, ordersQueueUrl, secretsPath, accountingTimeZone: timeZone } = settings
  const keys = indexedParameters(ssm, `${secretsPath}/${PARAMETERS.storeKeys}`)
  const onError: ServeDependencies['onError'] = (message, error, about) =>
    telemetry.error(message, error, about)
  let dateFormat: Intl.DateTimeFormat | undefined
  const service = serviceClient(dependencies, READ_TIMEOUT_MS)
  const serving: ServeDependencies = {
    accessOf: storeKeys(parameterCache(keys, { now, random }), stores, now),
    recordUse: keyUses(dynamodb, settings.deliveriesTable, {
      now,
      onError: error => onError('key use not recorded', error),
    }),
    rate: storeRate(dynamodb, settings.deliveriesTable, {
      limit: Number(settings.storeRequestsPerSecond),
      now,
      random,
      onError: error => onError('request not counted', error),
    }),
    orders: orderRepository(dynamodb, ordersTable, { random }),
    announcements: announcementRepository(dynamodb, settings.deliveriesTable),
    registrations: registrationRepository(dynamodb, settings.registrationsTable),
    stores,
    feedAddresses: allowedAddresses(settings),
    enqueue: orderQueue(sqs, ordersQueueUrl),
    readPresent: guarded({ ...service, read: order => service.read(order, PRESENT_TIMEOUT_MS) }, dependencies)
      .read,
    // Without a breaker: a read must not wait for the failures of others, and its timeout is short.
    readOrder: service.read,
    isExact: exactStores(stores),
    wait: waiting({
      depth: queueDepth(sqs, ordersQueueUrl, { now }),
      sleep,
      now,
      random,
      onError: (error, about) => onError('wait failed', error, about),
    }),
    waitSeconds: Number(settings.waitSeconds),
    today() {
      // The Swedish locale formats dates as YYYY-MM-DD. Creating the formatter costs as much as the rest of a request.
      dateFormat ??= new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })
      return dateFormat.format(now())
    },
    now,
    newId,
    onError,
  }

  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>(invocation)
    .onError(request => {
      telemetry.error('request failed', request.error, aboutError(request.error))
      telemetry.count('RequestFailed')
      telemetry.count('Requests', { status: String(notStored.status) })
      request.response = toApiGateway(notStored)
    })
    .handler(async (event, context) => {
      const { response, about, unknown } = await serve(
        {
          method: event.requestContext.http.method,
          path: event.rawPath,
          headers: event.headers,
          query: new URLSearchParams(event.rawQueryString),
          body: bodyOf(event),
          receivedAt: event.requestContext.timeEpoch,
          time: context.getRemainingTimeInMillis(),
        },
        serving,
      )
      // Logged with separate messages, so that an operator finds the stores whose key is refused without reading every
      // request.
      if (response.status === 401) telemetry.warn('request unauthorized', about)
      else if (response.status === 403) telemetry.warn('request forbidden', about)
      else telemetry.info('request answered', { status: response.status, ...about })
      if (!unknown) telemetry.count('Requests', { status: String(response.status) })
      return toApiGateway(response)
    })
}
