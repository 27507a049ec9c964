/** The environment variable of each setting. */
export const VARIABLES = {
  ordersTable: 'ORDERS_TABLE',
  deliveriesTable: 'DELIVERIES_TABLE',
  historyTable: 'HISTORY_TABLE',
  registrationsTable: 'REGISTRATIONS_TABLE',
  ordersQueueUrl: 'ORDERS_QUEUE_URL',
  quarantineQueueUrl: 'QUARANTINE_QUEUE_URL',
  feedsDeadQueueUrl: 'FEEDS_DEAD_QUEUE_URL',
  /** The Parameter Store path of the stack, such as `/order-relay/production`. */
  secretsPath: 'SECRETS_PATH',
  /** Base URL of the accounting service. */
  accountingUrl: 'ACCOUNTING_URL',
  /** How many days a request stays open after a refusal that an accountant can resolve. */
  refusedRetryDays: 'REFUSED_RETRY_DAYS',
  /** How many days a settled order is kept after its last change; 0: forever. */
  deleteOrdersAfterDays: 'DELETE_ORDERS_AFTER_DAYS',
  /** The lowest version of feed messages; after a restore, above every version published before. */
  feedVersionsFrom: 'FEED_VERSIONS_FROM',
  /** The time zone of the accounting service's document dates, such as `Asia/Tehran`. */
  accountingTimeZone: 'ACCOUNTING_TIME_ZONE',
  /** How long a store's request waits for the service's response, in seconds. */
  waitSeconds: 'WAIT_SECONDS',
  /** The limit of each store's requests; 0 for none. */
  storeRequestsPerSecond: 'STORE_REQUESTS_PER_SECOND',
  /** `public`, or `loopback` on a developer's machine: the addresses HTTP feeds may have. */
  feedAddresses: 'FEED_ADDRESSES',
  /** Which attempts to deliver feed messages are recorded: `all` or `failures`. */
  feedAttempts: 'FEED_ATTEMPTS',
  /** The feed that the probe reads. */
  probeQueueUrl: 'PROBE_QUEUE_URL',
  /** The public URL of the webhook's endpoint. */
  webhookUrl: 'WEBHOOK_URL',
  /** The rate of checks for missed webhooks. */
  checksPerSecond: 'CHECKS_PER_SECOND',
} as const

export type Settings = { readonly [name in keyof typeof VARIABLES]: string }

/**
 * Settings from the environment, which serverless.yml fills.
 *
 * @throws when one is missing: a misconfigured function must fail when it starts, not at its first order
 */
export const readSettings = <Name extends keyof Settings>(...names: Name[]): Pick<Settings, Name> => {
  const values = names.map((name): [Name, string] => {
    const value = process.env[VARIABLES[name]]
    if (value === undefined || value === '') {
      throw new Error(`Cannot start: the environment variable ${VARIABLES[name]} is not set`)
    }
    return [name, value]
  })
  return Object.fromEntries(values) as Pick<Settings, Name>
}

/** Clock and randomness, which tests replace. */
export type Runtime = {
  /** Unix time in milliseconds. */
  now: () => number
  /** A number from 0 up to 1. */
  random: () => number
}

export const runtime: Runtime = { now: Date.now, random: Math.random }

/** Resolves after a time in milliseconds. */
export type Sleep = (milliseconds: number) => Promise<unknown>

/** In seconds. */
export const MINUTE = 60
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Unix time in whole seconds, as signatures and DynamoDB's time to live use it. */
export const unixSeconds = (milliseconds: number): number => Math.floor(milliseconds / 1000)

/**
 * Options of every handler. middy's early timeout would respond before the function times out and leave its calls
 * frozen in the environment, to resume in the middle of a later invocation; without it, Lambda terminates the
 * environment with everything in progress.
 */
export const invocation = { timeoutEarlyInMillis: 0 }
