/** Every await of the doors and the worker: each is a place to die. In the order in which they are passed. */
export const PLACES = [
  'webhook: read the secrets',
  'webhook: read the delivery',
  'webhook: send to the line',
  'webhook: record the delivery',
  'webhook: quarantine',
  'webhook: answer',
  'api: read the keys',
  'api: send to the line',
  'api: read the order',
  'api: answer',
  'reconcile: find what is due',
  'reconcile: send to the line',
  'reconcile: postpone the check',
  'worker: read the order',
  'worker: ask for read',
  'worker: ask for create',
  'worker: ask for payment',
  'worker: ask for refund',
  'worker: tell the store',
  'worker: keep the order',
  'worker: quarantine',
  'worker: let it wait',
  'worker: acknowledge',
] as const

export type Place = (typeof PLACES)[number]
export type Door = 'webhook' | 'api' | 'reconcile' | 'worker'

const TARGETS: Readonly<Record<string, string>> = {
  'GetParametersByPath webhook-secrets': 'read the secrets',
  'GetParametersByPath store-keys': 'read the keys',
  'GetItem deliveries': 'read the delivery',
  'PutItem deliveries': 'record the delivery',
  'GetItem orders': 'read the order',
  'PutItem orders': 'keep the order',
  'Query orders': 'find what is due',
  'UpdateItem orders': 'postpone the check',
  'SendMessage order-line.fifo': 'send to the line',
  'SendMessage feed-shop.fifo': 'tell the store',
  'SendMessage quarantine': 'quarantine',
  'ChangeMessageVisibilityBatch order-line.fifo': 'let it wait',
}

export const isPlace = (name: string): name is Place => (PLACES as readonly string[]).includes(name)

/** What a door does when it calls an action on a target; one of {@link PLACES}, or an await nobody listed. */
export const placeOf = (door: Door, action: string, target: string): string =>
  `${door}: ${TARGETS[`${action} ${target}`] ?? `${action} to ${target}`}`
