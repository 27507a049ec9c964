import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs'
import { withCleanup } from '../cleanup.ts'
import type { Place } from '../place/place.ts'
import { progress } from '../progress.ts'

/** How long a message that is looked at stays hidden from others should this command be killed, seconds. */
const HOLD_SECONDS = 300
const BATCH = 10

/** A message of a queue, held while it is looked at. */
export type Letter = {
  id: string
  body: string
  receipt: string
  /** Message group, in a FIFO queue. */
  group: string | undefined
  sent: Date
  receives: number
}

const letterOf = ({ MessageId = '', Body = '', ReceiptHandle = '', Attributes = {} }: Message): Letter => ({
  id: MessageId,
  body: Body,
  receipt: ReceiptHandle,
  group: Attributes.MessageGroupId,
  sent: new Date(Number(Attributes.SentTimestamp ?? 0)),
  receives: Number(Attributes.ApproximateReceiveCount ?? 0),
})

/** How many messages are in a queue: to be had, held by somebody, and not due yet. */
export const depth = async (place: Place, queue: string) => {
  const { Attributes = {} } = await place.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: await place.queueUrl(queue), AttributeNames: ['All'] }),
  )
  const visible = Number(Attributes.ApproximateNumberOfMessages ?? 0)
  const held = Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0)
  const delayed = Number(Attributes.ApproximateNumberOfMessagesDelayed ?? 0)
  return { visible, held, delayed, all: visible + held + delayed, attributes: Attributes }
}

/** What is to become of a message: taken out of the queue for good, or put back. */
export type Verdict = 'take' | 'leave'

/**
 * Looks at the messages of a queue, up to `limit` of them. SQS cannot browse: each message is received, kept
 * hidden while this goes on, and put back at the end unless `look` takes it.
 *
 * In a FIFO queue what waits behind a message of its group is only handed out once that is taken, or (the
 * first ten) together with it.
 *
 * @returns how many messages there were, seen or not
 */
export const browse = async (
  place: Place,
  queue: string,
  limit: number,
  look: (letter: Letter) => Promise<Verdict>,
): Promise<number> => {
  const QueueUrl = await place.queueUrl(queue)
  const { sqs } = place
  const before = await depth(place, queue)
  const left = new Map<string, Letter>()
  const shown = progress('Reading messages', Math.min(before.visible, limit))

  const receive = async (most: number) => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: Math.min(BATCH, most),
        VisibilityTimeout: HOLD_SECONDS,
        // Asked without waiting, AWS may overlook messages.
        WaitTimeSeconds: place.local ? 0 : 1,
        MessageSystemAttributeNames: ['All'],
      }),
    )
    return Messages.map(letterOf)
  }

  const putBack = async () => {
    const letters = [...left.values()]
    left.clear()
    for (let at = 0; at < letters.length; at += BATCH) {
      await sqs.send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl,
          Entries: letters.slice(at, at + BATCH).map(({ receipt }, index) => ({
            Id: String(index),
            ReceiptHandle: receipt,
            VisibilityTimeout: 0,
          })),
        }),
      )
    }
  }

  const walk = async () => {
    for (let seen = 0; seen < limit; ) {
      const letters = await receive(limit - seen)
      // Held so long that it came again: everything has been seen.
      const fresh = letters.filter(({ id }) => !left.has(id))
      for (const letter of letters) left.set(letter.id, letter)
      if (fresh.length === 0) break
      seen += fresh.length
      for (const letter of fresh) {
        if ((await look(letter)) === 'leave') continue
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: letter.receipt }))
        left.delete(letter.id)
      }
      shown.advance(fresh.length)
    }
  }

  try {
    await withCleanup(walk, putBack)
  } finally {
    shown.done()
  }
  return before.all
}
