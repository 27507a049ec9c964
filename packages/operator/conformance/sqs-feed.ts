import { randomUUID } from 'node:crypto'
import type { SQS } from '@aws-sdk/client-sqs'
import { sendInOrder } from '@order-relay/lib/platform/fifo.ts'
import { type Patience, within } from '../core/async.ts'
import { count } from '../core/output.ts'
import { depthOf } from '../core/queue.ts'
import { type Feed, IN_TRANSACTION, LOST_OR_UNLOGGED } from './feed.ts'

/** Messages that a killed store has received return only after its visibility timeout. */
export const INVISIBLE = 'pass a --wait that is longer than the visibility timeout of the store'

const SLOW =
  'find the error in its output; if there is none, the store is slower than --wait or does not delete what it has handled, or another program reads the queue'

const LOST =
  'log each handled delivery, delete its message only afterwards, compare versions as numbers and only within an order, and stop any other program that reads the queue'

export const sqsFeed = ({ sqs, queueUrl, ...patience }: { sqs: SQS; queueUrl: string } & Patience) => {
  const { wait } = patience
  const depth = () => depthOf({ sqs, queueUrl: async () => queueUrl }, queueUrl)
  const feed: Feed = {
    startRemedy:
      'start the store with the queue of its feed; the store must log each delivery that it handles once',
    failureRemedy: 'delete neither the message nor later messages of its order; continue with other orders',
    killRemedy: `${IN_TRANSACTION}; delete the message only afterwards`,
    lost: ({ version }) => ({
      wrong: `did not handle version ${version}, which left the queue: the store deleted it, or another program reads the queue`,
      remedy: LOST,
    }),
    lostAtKill: ({ version }) => ({
      wrong: `did not log version ${version}, which left the queue: ${LOST_OR_UNLOGGED}`,
    }),
    async publish(messages) {
      // With its own deduplication id: SQS drops repetitions within five minutes.
      for (const { order, json, attributes = {} } of messages)
        await sendInOrder(sqs, queueUrl, order, { id: randomUUID(), json, attributes })
    },
    async settle() {
      const seen = { inFlight: false }
      const emptied = await within(patience, async () => {
        const { all, inFlight } = await depth()
        seen.inFlight ||= inFlight > 0
        return all === 0 || undefined
      })
      if (emptied) return undefined
      const left = count((await depth()).all, 'message')
      return {
        wrong: `left ${left} in the queue for ${wait} s (--wait): undeleted messages return and block their order`,
        ...(seen.inFlight && { remedy: SLOW }),
      }
    },
    async takeBack({ json }, behind) {
      const isTaken = await within(patience, async () => {
        const { Messages: [message] = [] } = await sqs.receiveMessage({
          QueueUrl: queueUrl,
          WaitTimeSeconds: 1,
        })
        const ReceiptHandle = message?.ReceiptHandle
        if (ReceiptHandle === undefined) return (await depth()).all === 0 ? 'no' : undefined
        const isIt = message?.Body === json
        if (isIt) await sqs.deleteMessage({ QueueUrl: queueUrl, ReceiptHandle })
        else await sqs.changeMessageVisibility({ QueueUrl: queueUrl, ReceiptHandle, VisibilityTimeout: 0 })
        // SQS returns the messages of a group in sequence.
        if (isIt) return 'yes'
        return message?.Body === behind.json ? 'no' : undefined
      })
      const wrong = `left the message invisible for more than ${wait} s (--wait): whether it would be redelivered is unknown`
      return isTaken ?? { wrong, remedy: INVISIBLE }
    },
    resume: async start => void (await start()),
  }
  return { feed }
}
