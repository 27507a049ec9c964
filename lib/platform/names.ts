import { hash } from 'node:crypto'

/**
 * Names of the stack's resources: the one source for the functions, the template, the local stack and the
 * command. In AWS the stack's prefix (`order-relay-<stage>-`) precedes queue and table names.
 */
export const QUEUES = {
  /** Everything that happens to an order; one message group is one order. */
  orders: 'orders.fifo',
  /** Events whose calls to the accounting service would delay other stores. */
  bulk: 'orders-bulk.fifo',
  ordersDead: 'orders-dead.fifo',
  feedsDead: 'feeds-dead.fifo',
  /** Authentic input that cannot be read. */
  quarantine: 'quarantine',
} as const

export const TABLES = {
  orders: 'orders',
  deliveries: 'deliveries',
  history: 'history',
  /** The URLs and secrets that stores have registered for their HTTP feeds. */
  registrations: 'registrations',
} as const

/** The sparse index of orders that are not settled. */
export const UNSETTLED_INDEX = 'unsettled'

/** The sparse index of orders with a failing event. */
export const FAILING_INDEX = 'failing'

/** The sparse indexes of the history, named after the attribute that they index. */
export const HISTORY_INDEXES = ['request', 'invoice_number'] as const

/** The namespace of the metrics of all stacks; the dimension `service` is the name of the stack. */
export const METRICS_NAMESPACE = 'order-relay'

/** The source of the store whose feed the probe reads. The stack has a probe if stores.yml lists this store. */
export const PROBE_SOURCE = 'relay-probe'

/** Whether stores.yml lists the probe's store. */
export const isProbed = (stores: readonly { source: string }[]): boolean =>
  stores.some(({ source }) => source === PROBE_SOURCE)

/** Where the accounting service sends its webhooks. */
export const WEBHOOK_PATH = '/webhook'

/** Parameter Store entries, relative to the stack's path (`/order-relay/<stage>`). */
export const PARAMETERS = {
  /** Holds the secrets and, during a rotation, its announcement, so that the webhook function reads both in one call. */
  webhook: 'webhook',
  webhookSecrets: 'webhook/secrets',
  webhookRotation: 'webhook/rotation',
  storeKeys: 'store-keys',
  feedSecrets: 'feed-secrets',
  accountingKey: 'accounting-key',
  /** The registered webhook URL, if it is not the API's own. */
  webhookUrl: 'webhook-url',
  /** The periods without a registered webhook. */
  webhookGaps: 'webhook-gaps',
} as const

export const PLAIN = /^[A-Za-z0-9_-]{1,50}$/
const SLUG_MAX = 30
const HASH_DIGITS = 10

/** Persian letters and digits, and their Latin equivalents. */
const LATIN = new Map<string, string>([
  ...[...'ابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیيك'].map((letter, index): [string, string] => [
    letter,
    'a b p t s j ch h kh d z r z zh s sh s z t z a gh f gh k g l m n o h i i k'.split(' ')[index] ?? '',
  ]),
  ...[...'۰۱۲۳۴۵۶۷۸۹'].map((digit, index): [string, string] => [digit, String(index)]),
])

/** `Café ۲` as `cafe-2`; empty when nothing in the text has an equivalent. */
const slugOf = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]/gu, character => LATIN.get(character) ?? '-')
    .replace(/-+/g, '-')
    .replace(/^-/, '')
    .slice(0, SLUG_MAX)
    .replace(/-$/, '')

/**
 * A store's name where AWS allows only letters, digits, `-` and `_`: queues, parameters, alarms. A plain source is
 * used unchanged. Any other becomes a readable slug with a hash, which distinguishes sources that differ only in case,
 * punctuation or Unicode normalization. stores.yml is refused if two stores still share a name.
 */
export const storeName = (source: string): string =>
  PLAIN.test(source) ? source : `${slugOf(source) || 'store'}-${hash('sha256', source).slice(0, HASH_DIGITS)}`

/** The Parameter Store entry of the secret that signs a store's messages. */
export const feedSecretName = (source: string): string => `${PARAMETERS.feedSecrets}/${storeName(source)}`

/** The queue of a store's feed; stores.yml may override its name. */
export const feedQueueName = (source: string, queue = storeName(source)): string => `feed-${queue}.fifo`

/** The dead-letter queue of an SQS feed, if stores.yml configures one. */
export const feedDeadQueueName = (source: string, queue = storeName(source)): string =>
  feedQueueName(source, `${queue}-dead`)

/** The queue of each store's feed by source; a store missing from stores.yml has the default name. */
export const feedQueues = (
  stores: readonly { source: string; queue?: string | undefined }[],
): ((source: string) => string) => {
  const named = new Map(stores.map(({ source, queue }) => [source, feedQueueName(source, queue)]))
  return source => named.get(source) ?? feedQueueName(source)
}

/** Whether a source belongs to an exact store. */
export const exactStores = (
  stores: readonly { source: string; exact?: boolean | undefined }[],
): ((source: string) => boolean) => {
  const sources = new Set(stores.flatMap(({ source, exact }) => (exact ? [source] : [])))
  return source => sources.has(source)
}

/** The URL of another queue of the same stack: same account, region and prefix. */
export const siblingQueueUrl = (ordersQueueUrl: string, name: string): string => {
  if (!ordersQueueUrl.endsWith(QUEUES.orders)) {
    throw new Error(`Cannot derive a queue URL: "${ordersQueueUrl}" does not end with "${QUEUES.orders}"`)
  }
  return ordersQueueUrl.slice(0, -QUEUES.orders.length) + name
}
