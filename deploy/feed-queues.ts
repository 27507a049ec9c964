import { feedQueueName } from '../lib/feeds/sqs.ts'

/** What SQS allows for the name of a queue. */
const NAME_MAX = 80

/** The logical id of a store's queue: letters and digits only, and hex keeps "a-b" and "a_b" apart. */
export const feedResource = (source: string): string => `Feed${Buffer.from(source).toString('hex')}`

/**
 * The full name of a store's queue.
 *
 * @param prefix what the names of the stack begin with
 * @throws when SQS does not allow a name that long
 */
export const fullQueueName = (prefix: string, source: string): string => {
  const name = `${prefix}${feedQueueName(source)}`
  if (name.length > NAME_MAX) {
    throw new Error(
      `Cannot name the queue of the store "${source}": "${name}" has ${name.length} characters and SQS allows ` +
        `${NAME_MAX}; take a shorter stage or source`,
    )
  }
  return name
}
