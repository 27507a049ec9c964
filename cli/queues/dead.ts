import * as v from 'valibot'
import { type LineMessage, lineMessage } from '../../lib/line/messages.ts'
import type { Names } from '../place/names.ts'
import type { Letter } from './browse.ts'
import { jsonOf, saidBy } from './said.ts'
import type { Described } from './selection.ts'

/** A queue of dead letters. */
export type DeadQueue = {
  /** Where its letters come from, and go again. */
  from: 'order line' | 'feed'
  queue: string
  /** The queue that a letter goes back to; undefined when it does not say whose it is. */
  target: (letter: DeadLetter) => string | undefined
}

export const deadQueues = (names: Names): DeadQueue[] => [
  { from: 'order line', queue: names.dead, target: () => names.line },
  {
    from: 'feed',
    queue: names.feedsDead,
    target: ({ source }) => (source === undefined ? undefined : names.feed(source)),
  },
]

/** A message that was given up. */
export type DeadLetter = Described & {
  letter: Letter
  delivery?: string | undefined
  /** What the order line's worker would read; undefined when it could not, or when a feed's. */
  message?: LineMessage
}

/** What a dead letter says of itself, whatever is in it. */
export const deadLetterOf = (letter: Letter): DeadLetter => {
  const said = saidBy(letter.body)
  const message = v.safeParse(lineMessage, jsonOf(letter.body))
  return {
    letter,
    ids: [letter.id, ...(said.delivery === undefined ? [] : [said.delivery])],
    ...said,
    at: letter.sent,
    ...(message.success && { message: message.output }),
  }
}
