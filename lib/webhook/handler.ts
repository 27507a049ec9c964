import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { orderQueue } from '../orders/events.ts'
import { aboutError } from '../platform/about.ts'
import type { DynamoDB, Sqs, Ssm } from '../platform/clients.ts'
import { invocation, type Runtime, type Settings } from '../platform/environment.ts'
import { bodyOf, errorResponse, type HttpResponse, toApiGateway, unavailable } from '../platform/http.ts'
import { PARAMETERS } from '../platform/names.ts'
import { parameterCache, parametersBelow } from '../platform/parameters.ts'
import { quarantineQueue } from '../platform/quarantine.ts'
import type { Store } from '../platform/stores.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import { deliveryRepository } from './deliveries.ts'
import { type ReceiveDependencies, type Received, receive } from './receive.ts'
import { SecretRotationError, webhookSecrets } from './secrets.ts'

export type WebhookDependencies = Runtime & {
  dynamodb: DynamoDB
  sqs: Sqs
  ssm: Ssm
  telemetry: Telemetry
  stores: readonly Store[]
  settings: Pick<Settings, 'deliveriesTable' | 'ordersQueueUrl' | 'quarantineQueueUrl' | 'secretsPath'>
}

/** The response to the sender. Every 401 has the same body, so a forger learns nothing (P1). */
const responseTo = (received: Received): HttpResponse => {
  switch (received.outcome) {
    case 'ignored':
      if (received.why === 'probe' && !received.known) {
        return unavailable('The secret of the probed signature is not in use yet')
      }
      return { status: 200, body: { status: received.outcome } }
    case 'queued':
    case 'duplicate':
      return { status: 200, body: { status: received.outcome } }
    case 'forged':
      return errorResponse(401, 'unauthorized', 'The signature is missing or not valid')
    case 'contradictory':
      return errorResponse(400, 'contradictory', received.reason)
    case 'unreadable':
      return errorResponse(400, 'unreadable', received.reason)
    case 'too_large':
      return errorResponse(413, 'too_large', 'The body is larger than 256 KiB')
  }
}

const notStored = unavailable('The delivery could not be stored; send it again')

/**
 * The endpoint `POST /webhook`, which receives the accounting service's webhooks (spec: Events). Reads the secrets
 * before it returns, since Lambda gives a function a full CPU during initialization.
 */
export const createWebhook = async (dependencies: WebhookDependencies) => {
  const { dynamodb, sqs, ssm, telemetry, stores, settings, now, random } = dependencies
  const sources = new Set(stores.map(({ source }) => source))
  const parameters = parameterCache(parametersBelow(ssm, `${settings.secretsPath}/${PARAMETERS.webhook}`), {
    now,
    random,
  })
  const quarantine = quarantineQueue(sqs, settings.quarantineQueueUrl)
  const receiving: ReceiveDependencies = {
    secrets: webhookSecrets(parameters, now),
    isKnownSource: source => sources.has(source),
    deliveries: deliveryRepository(dynamodb, settings.deliveriesTable),
    enqueue: orderQueue(sqs, settings.ordersQueueUrl),
    async quarantine(unreadable) {
      await quarantine(unreadable)
      telemetry.count('Quarantined', { from: 'webhook' })
    },
    now,
  }
  // A failure is reported by the first delivery, which reads the secrets again.
  await parameters.get().catch(() => undefined)

  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>(invocation)
    .onError(request => {
      if (request.error instanceof SecretRotationError) telemetry.warn('delivery deferred')
      else {
        telemetry.error('delivery failed', request.error, aboutError(request.error))
        telemetry.count('DeliveryFailed')
      }
      request.response = toApiGateway(notStored)
    })
    .handler(async event => {
      const received = await receive({ headers: event.headers, body: bodyOf(event) }, receiving)
      // The reason quotes the body, which may contain personal data (P11); the quarantine keeps it.
      const { reason: _, ...about }: typeof received & { reason?: string } = received
      telemetry.info('delivery received', about)
      // The operators' own requests are not deliveries of the accounting service.
      const isProbe = received.outcome === 'ignored' && received.why === 'probe'
      if (!isProbe) telemetry.count('Deliveries', { outcome: received.outcome })
      return toApiGateway(responseTo(received))
    })
}
