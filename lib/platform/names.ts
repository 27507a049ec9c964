/**
 * Names of the stack's resources: the one source for the functions, the template, the local stack and the
 * command. In AWS the stack's prefix (`order-relay-<stage>-`) precedes queue and table names.
 */
export const QUEUES = {
  /** Everything that happens to an order; one message group is one order. */
  orders: 'orders.fifo',
  ordersDead: 'orders-dead.fifo',
  feedsDead: 'feeds-dead.fifo',
  /** Authentic input that cannot be read. */
  quarantine: 'quarantine',
} as const

export const TABLES = { orders: 'orders', deliveries: 'deliveries' } as const

/** The sparse index of orders that are not settled. */
export const UNSETTLED_INDEX = 'unsettled'

/** Parameter Store entries, relative to the stack's path (`/order-relay/<stage>`). */
export const PARAMETERS = {
  /** Holds the secrets and, during an exchange, its announcement: the receiver reads both in one call. */
  webhook: 'webhook',
  webhookSecrets: 'webhook/secrets',
  webhookRotation: 'webhook/rotation',
  storeKeys: 'store-keys',
  feedSecrets: 'feed-secrets',
  accountingKey: 'accounting-key',
} as const

/** The queue of a store's feed. */
export const feedQueueName = (source: string): string => `feed-${source}.fifo`

/** The URL of another queue of the same stack: same account, region and prefix. */
export const siblingQueueUrl = (ordersQueueUrl: string, name: string): string => {
  if (!ordersQueueUrl.endsWith(QUEUES.orders)) {
    throw new Error(`Cannot derive a queue URL: "${ordersQueueUrl}" does not end with "${QUEUES.orders}"`)
  }
  return ordersQueueUrl.slice(0, -QUEUES.orders.length) + name
}
