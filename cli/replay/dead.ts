import { QueueDoesNotExist } from '@aws-sdk/client-sqs'
import { cannot } from '../failure.ts'
import type { Place } from '../place/place.ts'
import { browse, type Verdict } from '../queues/browse.ts'
import { type DeadLetter, type DeadQueue, deadLetterOf, deadQueues } from '../queues/dead.ts'
import { isChosen, type Selection } from '../queues/selection.ts'
import { sendAgain } from './send.ts'

export type Choice = { ids: readonly string[]; selection: Selection; limit: number }

/** A dead letter and the queue where it lies. */
export type Found = { dead: DeadLetter; queue: DeadQueue }

/**
 * Goes through both queues of dead letters; a letter that is not chosen is left.
 *
 * @returns how many there are, seen or not
 */
export const eachDead = async (
  place: Place,
  { ids, selection, limit }: Choice,
  see: (found: Found) => Promise<Verdict>,
  passed: (found: Found) => void = () => undefined,
): Promise<number> => {
  let total = 0
  for (const queue of deadQueues(place.names)) {
    const look = async (found: Found): Promise<Verdict> => {
      if (isChosen(found.dead, ids, selection)) return see(found)
      passed(found)
      return 'leave'
    }
    total += await browse(place, queue.queue, limit, letter =>
      look({ dead: deadLetterOf(letter), queue }),
    ).catch(error => {
      // A stack deployed before there were HTTP feeds has no queue for their dead letters.
      if (error instanceof QueueDoesNotExist && queue.from === 'feed') return 0
      throw error
    })
  }
  return total
}

export type Replayed = {
  replayed: DeadLetter[]
  /** Chosen, but behind a letter of the same order that was not: order within an order is kept. */
  behind: DeadLetter[]
  total: number
}

/**
 * Sends dead letters again where they came from, in their order, and only then deletes them. A crash in
 * between sends a letter twice, which the worker takes for what it is.
 */
export const replayDead = async (place: Place, choice: Choice): Promise<Replayed> => {
  const replayed: DeadLetter[] = []
  const behind: DeadLetter[] = []
  const blocked = new Set<string>()
  const groupOf = ({ dead: { letter }, queue }: Found) => `${queue.from} ${letter.group ?? letter.id}`

  try {
    const total = await eachDead(
      place,
      choice,
      async found => {
        const { dead, queue } = found
        const target = queue.target(dead)
        if (target === undefined || blocked.has(groupOf(found))) {
          blocked.add(groupOf(found))
          behind.push(dead)
          return 'leave'
        }
        await sendAgain(place, target, dead.letter.group ?? dead.letter.id, dead.letter.body)
        replayed.push(dead)
        return 'take'
      },
      found => blocked.add(groupOf(found)),
    )
    return { replayed, behind, total }
  } catch (error) {
    if (replayed.length === 0) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw cannot(
      'replay all of them',
      `after ${replayed.length} came an error: ${why}`,
      'call again for the others',
      error,
    )
  }
}
