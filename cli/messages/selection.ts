import { Option } from '@commander-js/extra-typings'
import type { Context } from '../core/context.ts'
import { usageError } from '../core/errors.ts'
import { positive, since } from '../core/options.ts'
import { browse } from '../core/queue.ts'
import type { Kind, Message } from './kind.ts'

/** Which messages a command acts on. */
export type Selection = {
  /** Ids of messages or of the deliveries or requests in them; empty for any. */
  ids: readonly string[]
  source?: string | undefined
  event?: string | undefined
  since?: Date | undefined
  order?: string | undefined
  /** Maximum number of messages to read from each queue. */
  limit: number
}

const DEFAULT_LIMIT = 1000

/** The options that select messages, fresh for each command, since commander stores values in them. */
export const selectionOptions = {
  source: () => new Option('--source <source>', 'only this store'),
  order: () => new Option('--order <external_id>', 'only this order'),
  event: () => new Option('--event <event>', 'only this event, such as order.payment'),
  since: () => new Option('--since <when>', 'only messages since: 2h, 7d, or a date').argParser(since),
  limit: (limit = DEFAULT_LIMIT) =>
    new Option('--limit <number>', 'maximum number of messages to read')
      .argParser(positive)
      .default(limit, limit === Number.POSITIVE_INFINITY ? 'all' : String(limit)),
}

/** Ids by which a message can be named. */
export const idsOf = ({ raw, delivery }: Message): readonly string[] =>
  delivery === undefined ? [raw.id] : [raw.id, delivery]

/** A message that does not say what a filter asks for is not selected. */
const isSelected = (message: Message, { ids, source, order, event, since: from }: Selection): boolean =>
  (ids.length === 0 || idsOf(message).some(id => ids.includes(id))) &&
  (source === undefined || message.source === source) &&
  (order === undefined || message.external_id === order) &&
  (event === undefined || message.event === event) &&
  (from === undefined || message.at >= from)

/**
 * Requires an explicit selection, so that nothing acts on every message by accident.
 *
 * @throws Failure when there is none
 */
export const requireSelection = (
  action: string,
  { ids, source, event, since: from, order }: Selection,
  all: boolean,
): void => {
  const isFiltered = [source, event, from, order].some(value => value !== undefined)
  if (ids.length > 0 && all) {
    throw usageError(action, 'both ids and --all are given', 'omit one of them')
  }
  if (ids.length === 0 && !isFiltered && !all) {
    throw usageError(action, 'no message is selected', 'pass ids, a filter such as --source, or --all')
  }
}

/**
 * Visits the selected messages of every queue of a kind; all others are kept.
 *
 * @returns how many messages there are in all, and how many of them could not be read
 */
export const visitSelected = async (
  context: Context,
  kind: Kind,
  selection: Selection,
  visit: (message: Message) => Promise<'delete' | 'keep'>,
  skip: (message: Message) => void = () => undefined,
): Promise<{ total: number; hidden: number }> => {
  let total = 0
  let visited = 0
  for (const queue of kind.queues) {
    total += await browse(context, queue, selection.limit, async raw => {
      visited++
      const message = kind.read(raw, queue)
      if (isSelected(message, selection)) return visit(message)
      skip(message)
      return 'keep'
    })
  }
  return { total, hidden: Math.max(0, total - visited) }
}
