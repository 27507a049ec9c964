import { QueueDoesNotExist } from '@aws-sdk/client-sqs'
import type { Place } from '../place/place.ts'
import { depth } from '../queues/browse.ts'
import { count } from '../table.ts'
import { type Finding, note, ok, problem } from './finding.ts'

const empty = async (
  place: Place,
  check: string,
  queues: readonly string[],
  remedy: string,
): Promise<Finding> => {
  let all = 0
  for (const queue of queues) {
    all += await depth(place, queue).then(
      found => found.all,
      error => {
        if (error instanceof QueueDoesNotExist) return 0
        throw error
      },
    )
  }
  return all === 0 ? ok(check, 'none') : problem(check, count(all, 'message'), remedy)
}

const line = async (place: Place): Promise<Finding> => {
  const { all, held } = await depth(place, place.names.line)
  const check = 'the order line is worked off'
  return all === 0
    ? ok(check, 'nothing waits')
    : note(
        check,
        `${count(all, 'message')}, of which ${held} being worked on or waiting for another try`,
        `relay tail${place.flags} shows why they wait`,
      )
}

/** What waits, and what was given up. */
export const queues = (place: Place): Promise<Finding[]> =>
  Promise.all([
    line(place),
    empty(
      place,
      'no dead letters',
      [place.names.dead, place.names.feedsDead],
      `see relay dead list${place.flags}, mend the cause, then relay dead replay --all${place.flags}`,
    ),
    empty(
      place,
      'nothing in quarantine',
      [place.names.quarantine],
      `see relay quarantine list${place.flags}; after an upgrade that can read it, relay quarantine replay --all${place.flags}`,
    ),
  ])
