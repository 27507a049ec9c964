import * as v from 'valibot'
import { hostOf, isInternal, isLoopback } from './addresses.ts'
import { feedQueueName, storeName } from './names.ts'

type Issue = { received: string; expected: string | null }

const must = (rule: string) => (issue: Issue) => `must be ${rule}, not ${issue.received}`

const keys = (rule: string) => (issue: Issue) => {
  if (issue.expected === 'never') return `is not a known key: ${rule}`
  return issue.received === 'undefined'
    ? `is missing: ${rule}`
    : `must have keys, not ${issue.received}: ${rule}`
}

const SECONDS: Record<string, number> = { m: 60, h: 60 * 60, d: 24 * 60 * 60 }

/** `90m`, `24h` or `3d` in seconds. */
const duration = v.pipe(
  v.string(must('a time such as 90m, 24h or 3d')),
  v.regex(/^[1-9]\d{0,3}[mhd]$/, must('a time such as 90m, 24h or 3d')),
  v.transform(text => Number(text.slice(0, -1)) * (SECONDS[text.slice(-1)] ?? 1)),
  // SQS keeps a message for fourteen days, and some of them are needed to probe the endpoint.
  v.maxValue(10 * 24 * 60 * 60, 'must be 10d or less: SQS keeps a message for fourteen days'),
)

const isSafe = (address: string) => {
  const url = URL.parse(address)
  if (url === null || url.username !== '' || url.password !== '' || isInternal(hostOf(url))) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(hostOf(url)))
}

const httpAddress = must(
  'a public https address without user and password, such as https://shop.example/webhook',
)

const httpFeed = v.strictObject(
  {
    /** Where signed messages are sent; `http:` only for a receiver on this machine. */
    http: v.pipe(v.string(httpAddress), v.check(isSafe, httpAddress)),
    /** How long a message may fail before its endpoint counts as disabled. */
    disable_after: v.optional(duration, '24h'),
  },
  keys('an HTTP feed has "http" and optionally "disable_after"'),
)

const sqsFeed = v.literal(
  'sqs',
  must('"sqs", or have the address of an HTTP feed below it as "http: https://…"'),
)

/** The spec sets no limit; this one keeps log lines and tables readable. */
const SOURCE_MAX = 100

/** Each store has a queue in the stack, which CloudFormation limits to 500 resources (docs/deploy.md). */
export const MAX_STORES = 400

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
    /** Names the queue of the feed, `feed-<queue>.fifo`, in place of the source. */
    queue: v.optional(v.pipe(v.string(must(QUEUE_RULE)), v.regex(/^[A-Za-z0-9_-]{1,50}$/, must(QUEUE_RULE)))),
    /** How the store is notified. */
    feed: v.lazy((feed: unknown) => (typeof feed === 'object' && feed !== null ? httpFeed : sqsFeed)),
  },
  keys('a store has "source", "feed" and optionally "queue"'),
)

/** Why two stores cannot both be in the file: they share a source, a queue, or the name of keys and alarms. */
const clash = ({ source, queue }: v.InferOutput<typeof store>, taken: string, owner: string | undefined) => {
  if (owner === source) return `has the source "${source}" of another store: remove one of them`
  const remedy = taken === feedQueueName(source, queue) ? 'set another "queue"' : 'choose another source'
  return `has the name "${taken}" of the store "${owner}": ${remedy}`
}

/** The contents of stores.yml. */
export const storesFile = v.strictObject(
  {
    stores: v.pipe(
      v.array(store, must('a list of stores, each beginning with "- source:"')),
      v.minLength(1, 'must have at least one store'),
      v.maxLength(
        MAX_STORES,
        ({ received }) =>
          `must have at most ${MAX_STORES} stores, which is what one stack holds, not ${received}`,
      ),
      v.rawCheck(({ dataset, addIssue }) => {
        if (!dataset.typed) return
        const owners = new Map<string, string>()
        for (const [key, value] of dataset.value.entries()) {
          const names = [storeName(value.source), feedQueueName(value.source, value.queue)]
          const taken = names.find(name => owners.has(name))
          if (taken === undefined) {
            for (const name of names) owners.set(name, value.source)
            continue
          }
          const path = { type: 'array', origin: 'value', input: dataset.value, key, value } as const
          addIssue({ message: clash(value, taken, owners.get(taken)), path: [path] })
        }
      }),
    ),
  },
  keys('the file has "stores" and nothing else'),
)

/** A store of stores.yml: the source of its orders, and how it is notified. */
export type Store = v.InferOutput<typeof store>

/** A store with an HTTP feed. */
export type HttpStore = Omit<Store, 'feed'> & { feed: v.InferOutput<typeof httpFeed> }

/** The stores that are notified at an HTTP endpoint. */
export const httpStores = (stores: readonly Store[]): readonly HttpStore[] =>
  stores.flatMap(({ feed, ...store }) => (feed === 'sqs' ? [] : [{ ...store, feed }]))

/**
 * Checks that no HTTP feed leads to the machine that runs the relay, which only the local stack may have.
 *
 * @throws naming the store
 */
export const assertPublicFeeds = (stores: readonly Store[]): void => {
  for (const { source, feed } of httpStores(stores)) {
    if (!isLoopback(hostOf(new URL(feed.http)))) continue
    throw new Error(
      `Cannot deploy: the HTTP feed of the store "${source}" is ${feed.http}, an address of the machine that ` +
        'calls it; use the address of the store',
    )
  }
}
