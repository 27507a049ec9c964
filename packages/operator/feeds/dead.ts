import { QUEUES } from '@order-relay/lib/platform/names.ts'
import { queueNames, type Store } from '@order-relay/lib/platform/stores.ts'
import type { Context } from '../core/context.ts'
import { type Finding, messagesOf, say } from '../core/findings.ts'
import { problem, shellWord } from '../core/output.ts'
import { depthOf } from '../core/queue.ts'
import { DEAD_LETTERS } from '../dead-letters/dead.ts'
import { type FailedAttempt, lastFailure } from '../model/attempts.ts'
import { collect } from '../model/message.ts'

/** Maximum number of dead letters to read for the state of messages. */
const LIMIT = 1000

type Collected = Awaited<ReturnType<typeof collect>>
export type Reading = Pick<Collected, 'messages' | 'hidden'>

/** Reads the dead letters in queues; a shared reading has those of all queues. */
export type ReadDead = (queues: readonly string[]) => Promise<Reading>

/** Their orders are not read. */
const readIds =
  (context: Context): ReadDead =>
  queues => {
    const { explain: _, ...kind } = DEAD_LETTERS
    return collect(context, { ...kind, queues: () => queues }, { limit: LIMIT })
  }

/** Reads dead letters with their causes. */
export const readExplained =
  (context: Context): ReadDead =>
  queues =>
    collect(context, { ...DEAD_LETTERS, queues: () => queues }, { limit: LIMIT })

/** The queue of a store's dead letters; undefined if it has none. */
const deadQueueOf = (store: Store): string | undefined =>
  store.feed === 'sqs' ? queueNames(store)[1] : QUEUES.feedsDead

/**
 * The visible dead letters of stores' feeds, and the number of dead letters that are hidden behind others of their order, or
 * by another reader.
 *
 * @param read reads the dead letters, for example from a shared reading. @default without their causes
 */
export const deadOf = async (
  context: Context,
  stores: readonly Store[],
  read = readIds(context),
): Promise<Reading> => {
  const queues = [...new Set(stores.flatMap(store => deadQueueOf(store) ?? []))]
  const depths = await Promise.all(queues.map(queue => depthOf(context, queue)))
  // Receives from a queue only if it is not empty, since SQS hides received messages.
  const filled = queues.filter((_, index) => depths[index]?.all !== 0)
  if (filled.length === 0) return { messages: [], hidden: 0 }
  // A shared reading also has the messages of other queues.
  const messages = (await read(filled)).messages.filter(({ queue }) => filled.includes(queue))
  const total = depths.reduce((sum, { all }) => sum + all, 0)
  const sources = new Set(stores.map(({ source }) => source))
  return {
    messages: messages.filter(({ source = '' }) => sources.has(source)),
    hidden: Math.max(0, total - messages.length),
  }
}

/** The dead letters of a store with an HTTP feed. */
export type DeadOfStore = {
  count: number
  /** Whether there may be others, which are hidden. */
  more: boolean
  /** When the oldest one became a dead letter; undefined if none is visible. */
  since: Date | undefined
  /** The last failed attempt to deliver the newest one. */
  last: FailedAttempt | undefined
  /** The ids of the messages. */
  deliveries: readonly string[]
}

/** The dead letters of the stores with HTTP feeds, by source. */
export const deadOfHttp = async (context: Context, read?: ReadDead): Promise<Map<string, DeadOfStore>> => {
  const stores = context.stores().filter(({ feed }) => feed !== 'sqs')
  if (stores.length === 0) return new Map()
  const { messages, hidden } = await deadOf(context, stores, read)
  const bySource = Map.groupBy(messages, ({ source = '' }) => source)
  const found = stores.map(async ({ source }): Promise<[string, DeadOfStore]> => {
    const own = (bySource.get(source) ?? []).toSorted((a, b) => Number(a.at) - Number(b.at))
    const newest = own.at(-1)
    return [
      source,
      {
        count: own.length,
        more: hidden > 0,
        since: own[0]?.at,
        last: newest && (await lastFailure(context, newest)),
        deliveries: own.flatMap(({ delivery }) => delivery ?? []),
      },
    ]
  })
  return new Map(await Promise.all(found))
}

/** The finding about the dead letters of a store with an HTTP feed. */
export const deadFinding = (
  { flags }: Pick<Context, 'flags'>,
  source: string,
  { count, more, since, last }: DeadOfStore,
): Finding[] => {
  if (since === undefined) return []
  const found = {
    messages: more ? say('at-least', { messages: messagesOf(count) }) : messagesOf(count),
    time: since.toISOString(),
  }
  const remedy = say('feed-replay', { command: `relay dead replay --source ${shellWord(source)}${flags}` })
  return [
    problem(
      say('feed-dead', { source }),
      last === undefined
        ? say('feed-dead-since', found)
        : say('feed-dead-because', { ...found, reason: { foreign: last.error } }),
      remedy,
    ),
  ]
}

/** The finding about the dead letters of a store with an SQS feed. */
export const unconsumedFinding = (
  { flags }: Pick<Context, 'flags'>,
  source: string,
  count: number,
): Finding => {
  const command = `relay dead list --source ${shellWord(source)}${flags}`
  return problem(say('feed', { source }), say('consumer-failed', { count }), command)
}
