import { feedQueueName, PARAMETERS, QUEUES, TABLES } from '../../lib/platform/names.ts'
import { indexOf } from '../../lib/platform/parameters.ts'

/** The stores of the harness: `shop` with an SQS feed, `web` and `app` with an HTTP feed, whose URL `app` registers. */
export const SHOP = 'shop'
export const WEB = 'web'
export const APP = 'app'

/** The URL that `app` has registered at first. */
export const APP_URL = 'https://app.example/feed'

/**
 * Every call of the functions, in sequence: each is a place for a crash. AWS calls are named by command and target.
 */
const CALLS = {
  'webhook: read the secrets': `GetParametersByPath ${PARAMETERS.webhook}`,
  'webhook: read the delivery': `GetItem ${TABLES.deliveries}`,
  'webhook: send to the order queue': `SendMessage ${QUEUES.orders}`,
  'webhook: record the delivery': `PutItem ${TABLES.deliveries}`,
  'webhook: send to quarantine': `SendMessage ${QUEUES.quarantine}`,
  'webhook: answer': '',
  'api: read the store keys': `GetParametersByPath ${indexOf(PARAMETERS.storeKeys)}`,
  'api: read the store keys without their index': `GetParametersByPath ${PARAMETERS.storeKeys}`,
  'api: send to the order queue': `SendMessage ${QUEUES.orders}`,
  'api: read the order': `GetItem ${TABLES.orders}`,
  'api: read the queue depth': `GetQueueAttributes ${QUEUES.orders}`,
  'api: announce': `UpdateItem ${TABLES.deliveries}`,
  'api: record the use of a key': `UpdateItem ${TABLES.deliveries} key`,
  'api: read the announcements': `GetItem ${TABLES.deliveries}`,
  'api: read the accounting key': `GetParameter ${PARAMETERS.accountingKey}`,
  'api: call read': '',
  'api: register a URL': `PutItem ${TABLES.registrations}`,
  'api: remove a URL': `DeleteItem ${TABLES.registrations}`,
  'api: answer': '',
  'reconcile: query due orders': `Query ${TABLES.orders} unsettled`,
  'reconcile: query failing orders': `Query ${TABLES.orders} failing`,
  'reconcile: read a failing order': `GetItem ${TABLES.orders}`,
  'reconcile: read the accounting key': `GetParameter ${PARAMETERS.accountingKey}`,
  'reconcile: call read': '',
  'reconcile: release events': `ChangeMessageVisibilityBatch ${QUEUES.orders}`,
  'reconcile: release events of the bulk queue': `ChangeMessageVisibilityBatch ${QUEUES.bulk}`,
  'reconcile: send to the order queue': `SendMessage ${QUEUES.orders}`,
  'reconcile: postpone the check': `UpdateItem ${TABLES.orders}`,
  'worker: read the order': `GetItem ${TABLES.orders}`,
  'worker: read the announcements': `GetItem ${TABLES.deliveries}`,
  'worker: read the accounting key': `GetParameter ${PARAMETERS.accountingKey}`,
  'worker: call read': '',
  'worker: call create': '',
  'worker: call payment': '',
  'worker: call refund': '',
  'worker: publish to the feed': `SendMessage ${feedQueueName(SHOP)}`,
  'worker: publish to the HTTP feed': `SendMessage ${feedQueueName(WEB)}`,
  'worker: add to the history': `PutItem ${TABLES.history}`,
  'worker: save the order': `PutItem ${TABLES.orders}`,
  'worker: note a failing event': `UpdateItem ${TABLES.orders}`,
  'worker: send to the bulk queue': `SendMessage ${QUEUES.bulk}`,
  'worker: extend visibility in the bulk queue': `ChangeMessageVisibilityBatch ${QUEUES.bulk}`,
  'worker: send to quarantine': `SendMessage ${QUEUES.quarantine}`,
  'worker: extend visibility': `ChangeMessageVisibilityBatch ${QUEUES.orders}`,
  'worker: delete messages': '',
  'feeder: read the feed secrets': `GetParametersByPath ${indexOf(PARAMETERS.feedSecrets)}`,
  'feeder: read the feed secrets without their index': `GetParametersByPath ${PARAMETERS.feedSecrets}`,
  'feeder: read the registration': `GetItem ${TABLES.registrations}`,
  'feeder: deliver to the store': '',
  'feeder: send to dead letters': `SendMessage ${QUEUES.feedsDead}`,
  'feeder: record the attempt': `PutItem ${TABLES.history}`,
  'feeder: extend visibility': `ChangeMessageVisibilityBatch ${feedQueueName(WEB)}`,
  'feeder: delete messages': '',
} as const

export type Place = keyof typeof CALLS
export type FunctionName = 'webhook' | 'api' | 'reconcile' | 'worker' | 'feeder'

export const isPlace = (name: string): name is Place => Object.hasOwn(CALLS, name)
export const PLACES = Object.keys(CALLS).filter(isPlace)

/** Whether a call has no effect. */
export const isRead = (place: Place): boolean =>
  place.endsWith(': call read') || /^(Get|Query)/.test(CALLS[place])

const placeByCall = new Map(
  Object.entries(CALLS).map(([place, call]) => [`${place.slice(0, place.indexOf(':'))}: ${call}`, place]),
)

/** The place of an AWS call; an unlisted call gets a name that {@link isPlace} rejects. */
export const placeOf = (name: FunctionName, action: string, target: string): string => {
  const call = `${name}: ${action} ${target}`
  return placeByCall.get(call) ?? placeByCall.get(call.replace(APP, WEB)) ?? call
}

export type Target = 'service' | 'dynamodb' | 'sqs' | 'ssm'

/** The part that a call depends on. */
export const TARGETS: Readonly<Partial<Record<string, Target>>> = Object.fromEntries(
  Object.entries(CALLS).flatMap(([place, call]): [string, Target][] => {
    if (/: call /.test(place)) return [[place, 'service']]
    if (/Message|QueueAttributes/.test(call) || / delete messages$/.test(place)) return [[place, 'sqs']]
    if (/^GetParameter/.test(call)) return [[place, 'ssm']]
    return call === '' ? [] : [[place, 'dynamodb']]
  }),
)
