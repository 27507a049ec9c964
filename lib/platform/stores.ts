import * as v from 'valibot'
import { FEED_URL, isFeedUrl } from './addresses.ts'
import { DAY, HOUR, MINUTE } from './environment.ts'
import { feedDeadQueueName, feedQueueName, PLAIN, PROBE_SOURCE, storeName } from './names.ts'

type Issue = { received: string; expected: string | null }

const must = (rule: string) => (issue: Issue) => `must be ${rule}, not ${issue.received}`

const keys = (rule: string) => (issue: Issue) => {
  if (issue.expected === 'never') return `is not a known key: ${rule}`
  if (issue.received === 'undefined') return `is missing: ${rule}`
  return issue.received === 'null' ? `is empty: ${rule}` : `must have keys, not ${issue.received}: ${rule}`
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: MINUTE, h: HOUR, d: DAY }

/** A duration such as `90s`, `15m`, `2h` or `7d` in seconds; undefined when the text is not a duration. */
export const secondsOf = (text: string): number | undefined => {
  const [, number, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const factor = SECONDS[unit]
  return number === undefined || factor === undefined ? undefined : Number(number) * factor
}

/** `90m`, `24h` or `3d` in seconds. */
const duration = v.pipe(
  v.string(must('a time such as 90m, 24h or 3d')),
  v.regex(/^[1-9]\d{0,3}[mhd]$/, must('a time such as 90m, 24h or 3d')),
  v.transform(text => secondsOf(text) ?? 0),
  // SQS keeps a message for fourteen days, some of which are needed to probe the endpoint.
  v.maxValue(10 * DAY, 'must be 10d or less: SQS keeps a message for fourteen days'),
)

const httpAddress = must(`"self", or ${FEED_URL}`)

/** The feed of a store that registers its URL with its key (spec: PUT webhook). */
const SELF = 'self'

/** An HTTP feed. */
export type HttpFeed = {
  /** Where signed messages are sent; without it, the store registers the URL. */
  http?: string
  /** How long a message may fail before its endpoint counts as disabled, in seconds. */
  disable_after: number
}

const httpFeed = v.pipe(
  v.strictObject(
    {
      /** `http:` only for a receiver on this machine. */
      http: v.pipe(
        v.string(httpAddress),
        v.check(address => address === SELF || isFeedUrl(address, 'loopback'), httpAddress),
      ),
      disable_after: v.optional(duration, '24h'),
    },
    keys('an HTTP feed has "http" and optionally "disable_after"'),
  ),
  v.transform(({ http, disable_after }): HttpFeed => ({ ...(http !== SELF && { http }), disable_after })),
)

const plainFeed = v.pipe(
  v.picklist(
    ['sqs', 'http'],
    must(
      '"sqs", "http" for a store that registers its URL, or have the address of an HTTP feed below it as ' +
        '"http: https://…"',
    ),
  ),
  v.transform((feed): 'sqs' | HttpFeed => (feed === 'sqs' ? feed : { disable_after: DAY })),
)

/** The spec sets no limit; this one keeps log lines and tables readable. */
const SOURCE_MAX = 100

/** Each store has one or two queues in the stack, which CloudFormation limits to 500 resources (docs/deploy.md). */
export const MAX_STORES = 400

const CONSUMER =
  'the ARN of a role, such as arn:aws:iam::111122223333:role/shop, or the id of an account in quotes, "111122223333"'

/**
 * SQS allows 50 principals and 8,192 bytes in the policy of a queue; CloudFormation allows a megabyte for all policies.
 * Both limits leave a margin.
 */
const MAX_CONSUMERS = { count: 50, characters: 6000, inAll: 500_000 }

const lengthOf = (list: readonly string[] = []) => list.join('","').length

const consumers = v.pipe(
  v.array(
    v.pipe(
      v.string(must(CONSUMER)),
      v.regex(/^(\d{12}|arn:aws[a-z-]*:iam::\d{12}:(root|role\/[\w+=,.@/-]{1,576}))$/, must(CONSUMER)),
    ),
    must('a list of roles and accounts'),
  ),
  v.minLength(1, 'must name a role or an account, or be left out'),
  v.check(
    list => list.length <= MAX_CONSUMERS.count && lengthOf(list) <= MAX_CONSUMERS.characters,
    `must have at most ${MAX_CONSUMERS.count} entries and ${MAX_CONSUMERS.characters} characters, which fit the ` +
      'policy of a queue: name an account in place of its roles',
  ),
)

const RECEIVES = 'a number of receives from 1 to 1000'
const receives = v.pipe(
  v.number(must(RECEIVES)),
  v.check(count => Number.isInteger(count) && count >= 1 && count <= 1000, must(RECEIVES)),
)

const QUEUE_RULE = '1 to 50 letters, digits, "-" or "_", which name the queue feed-<queue>.fifo'

const store = v.strictObject(
  {
    /** The store's identifier at the accounting service, any text. */
    source: v.pipe(
      v.string(must('text (in quotes if it is a number)')),
      v.check(source => source.isWellFormed(), 'must be well-formed Unicode'),
      v.check(
        source => source !== '' && [...source].length <= SOURCE_MAX,
        `must have 1 to ${SOURCE_MAX} characters`,
      ),
    ),
    /** Names the queue of the feed, `feed-<queue>.fifo`, instead of the source. */
    queue: v.optional(v.pipe(v.string(must(QUEUE_RULE)), v.regex(PLAIN, must(QUEUE_RULE)))),
    /** How the store is notified. */
    feed: v.lazy((feed: unknown) => (typeof feed === 'object' && feed !== null ? httpFeed : plainFeed)),
    /** Follows the interface to the letter, in answers and feed (docs/integrate.md, Exact stores). */
    exact: v.optional(v.boolean(must('true or false'))),
    /** Roles and accounts that may consume an SQS feed from another account. */
    consumers: v.optional(consumers),
    /** Receives after which a message of an SQS feed moves to the store's own dead-letter queue. */
    dead_letter_after: v.optional(receives),
  },
  keys('a store has "source", "feed" and optionally "queue", "exact", "consumers" and "dead_letter_after"'),
)

/** A store of stores.yml: the source of its orders and how it is notified. */
export type Store = v.InferOutput<typeof store>

/** The queues of a store: its feed and, if configured, its dead letters. */
export const queueNames = ({ source, queue, dead_letter_after }: Omit<Store, 'feed'>): string[] => [
  feedQueueName(source, queue),
  ...(dead_letter_after === undefined ? [] : [feedDeadQueueName(source, queue)]),
]

/** Why a store conflicts with an earlier one: they share a source, a queue, or the name of keys and alarms. */
const clash = ({ source }: Store, taken: string, owner: string | undefined) => {
  if (owner === source) return `has the source "${source}" of another store: remove one of them`
  const remedy = taken.endsWith('.fifo') ? 'set another "queue"' : 'choose another source'
  return `has the name "${taken}" of the store "${owner}": ${remedy}`
}

/** The contents of stores.yml. */
export const storesFile = v.strictObject(
  {
    stores: v.pipe(
      v.array(store, must('a list of stores, each beginning with "- source:"')),
      v.minLength(1, 'must have at least one store'),
      v.rawCheck(({ dataset, addIssue }) => {
        if (!dataset.typed) return
        const owners = new Map<string, string>()
        for (const [key, value] of dataset.value.entries()) {
          const path = { type: 'array', origin: 'value', input: dataset.value, key, value } as const
          for (const name of ['consumers', 'dead_letter_after'] as const) {
            if (value.feed === 'sqs' || !(name in value)) continue
            const at = { type: 'object', origin: 'value', input: value, key: name } as const
            const message = 'is for SQS feeds, and this one is delivered by HTTP: remove it'
            addIssue({ message, path: [path, { ...at, value: value[name] }] })
          }
          const unsuitable = value.feed !== 'sqs' ? 'feed' : value.exact ? 'exact' : undefined
          if (value.source === PROBE_SOURCE && unsuitable !== undefined) {
            const at = { type: 'object', origin: 'value', input: value, key: unsuitable } as const
            const message =
              'does not suit the probe, which reads an SQS feed that is not exact: docs/operate.md'
            addIssue({ message, path: [path, { ...at, value: value[unsuitable] }] })
          }
          const names = [storeName(value.source), ...queueNames(value)]
          const taken = names.find(name => owners.has(name))
          if (taken === undefined) for (const name of names) owners.set(name, value.source)
          else addIssue({ message: clash(value, taken, owners.get(taken)), path: [path] })
        }
      }),
      v.check(
        stores => stores.flatMap(queueNames).length <= MAX_STORES,
        ({ input }) =>
          `must have at most ${MAX_STORES} queues, which is what one stack holds, not ` +
          `${input.flatMap(queueNames).length}: one for each store, and one more for each "dead_letter_after"`,
      ),
      v.check(
        stores => lengthOf(stores.flatMap(({ consumers = [] }) => consumers)) <= MAX_CONSUMERS.inAll,
        `must have at most ${MAX_CONSUMERS.inAll} characters of consumers, which is what one template holds: name ` +
          'accounts in place of their roles',
      ),
    ),
  },
  keys('the file must have the key "stores" and no other'),
)
