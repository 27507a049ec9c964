import { feedQueueName, PARAMETERS, QUEUES, TABLES } from '../../lib/platform/names.ts'

/** Every call of the functions: each is a place to be killed. In the order in which they are made. */
export const PLACES = [
  'webhook: read the secrets',
  'webhook: read the delivery',
  'webhook: send to the order queue',
  'webhook: record the delivery',
  'webhook: send to quarantine',
  'webhook: answer',
  'api: read the store keys',
  'api: send to the order queue',
  'api: read the order',
  'api: answer',
  'reconcile: query due orders',
  'reconcile: send to the order queue',
  'reconcile: postpone the check',
  'worker: read the order',
  'worker: read the accounting key',
  'worker: call read',
  'worker: call create',
  'worker: call payment',
  'worker: call refund',
  'worker: publish to the feed',
  'worker: save the order',
  'worker: send to quarantine',
  'worker: extend visibility',
  'worker: delete messages',
  'feeder: read the feed secrets',
  'feeder: deliver to the store',
  'feeder: send to dead letters',
  'feeder: extend visibility',
  'feeder: delete messages',
] as const

export type Place = (typeof PLACES)[number]
export type FunctionName = 'webhook' | 'api' | 'reconcile' | 'worker' | 'feeder'

/** The stores of the harness: `shop` with an SQS feed, `web` with an HTTP feed. */
export const SHOP = 'shop'
export const WEB = 'web'

const TARGETS: Readonly<Record<string, string>> = {
  [`GetParametersByPath ${PARAMETERS.webhook}`]: 'read the secrets',
  [`GetParametersByPath ${PARAMETERS.storeKeys}`]: 'read the store keys',
  [`GetParametersByPath ${PARAMETERS.feedSecrets}`]: 'read the feed secrets',
  [`GetParameter ${PARAMETERS.accountingKey}`]: 'read the accounting key',
  [`GetItem ${TABLES.deliveries}`]: 'read the delivery',
  [`PutItem ${TABLES.deliveries}`]: 'record the delivery',
  [`GetItem ${TABLES.orders}`]: 'read the order',
  [`PutItem ${TABLES.orders}`]: 'save the order',
  [`Query ${TABLES.orders}`]: 'query due orders',
  [`UpdateItem ${TABLES.orders}`]: 'postpone the check',
  [`SendMessage ${QUEUES.orders}`]: 'send to the order queue',
  [`SendMessage ${QUEUES.quarantine}`]: 'send to quarantine',
  [`SendMessage ${QUEUES.feedsDead}`]: 'send to dead letters',
  [`SendMessage ${feedQueueName(SHOP)}`]: 'publish to the feed',
  [`SendMessage ${feedQueueName(WEB)}`]: 'publish to the feed',
  [`ChangeMessageVisibilityBatch ${QUEUES.orders}`]: 'extend visibility',
  [`ChangeMessageVisibilityBatch ${feedQueueName(WEB)}`]: 'extend visibility',
}

export const isPlace = (name: string): name is Place => (PLACES as readonly string[]).includes(name)

/** The place of an AWS call; a call that is not listed gets a name that {@link isPlace} refuses. */
export const placeOf = (name: FunctionName, action: string, target: string): string =>
  `${name}: ${TARGETS[`${action} ${target}`] ?? `${action} ${target}`}`
