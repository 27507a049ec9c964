import { type Message, QueueDoesNotExist } from '@aws-sdk/client-sqs'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import { visibilityExtender } from '@order-relay/lib/platform/retry.ts'
import { queueNames } from '@order-relay/lib/platform/stores.ts'
import { interruptible } from './async.ts'
import type { Context } from './context.ts'
import { progress } from './terminal.ts'

/** How long a message stays invisible to others if this command is killed, in seconds. */
const HOLD_SECONDS = 300
const BATCH = 10

/** A received message. */
export type QueueMessage = {
  id: string
  body: string
  receiptHandle: string
  /** Message attributes. */
  attributes: Readonly<Record<string, string>>
  /** Message group, in a FIFO queue. */
  group: string | undefined
  sent: Date
  receives: number
}

const messageOf = ({
  MessageId,
  Body,
  ReceiptHandle,
  Attributes = {},
  MessageAttributes = {},
}: Message): QueueMessage => ({
  id: MessageId ?? '',
  body: Body ?? '',
  receiptHandle: ReceiptHandle ?? '',
  attributes: Object.fromEntries(
    Object.entries(MessageAttributes).map(([name, { StringValue = '' }]) => [name, StringValue]),
  ),
  group: Attributes.MessageGroupId,
  sent: new Date(Number(Attributes.SentTimestamp ?? 0)),
  receives: Number(Attributes.ApproximateReceiveCount ?? 0),
})

/** The number of messages in a queue, by state and in total, and its attributes. */
export const depthOf = async ({ sqs, queueUrl }: Pick<Context, 'sqs' | 'queueUrl'>, queue: string) => {
  const { Attributes: attributes = {} } = await sqs.getQueueAttributes({
    QueueUrl: await queueUrl(queue),
    AttributeNames: ['All'],
  })
  const visible = Number(attributes.ApproximateNumberOfMessages ?? 0)
  const inFlight = Number(attributes.ApproximateNumberOfMessagesNotVisible ?? 0)
  const delayed = Number(attributes.ApproximateNumberOfMessagesDelayed ?? 0)
  return { visible, inFlight, all: visible + inFlight + delayed, attributes }
}

/** Messages that may be received now, and those being processed or waiting for a retry. */
export type Depth = { waiting: number; inFlight: number }

/** The number of messages in queues, in any state. */
export const totalOf = (...depths: (Depth | undefined)[]): number =>
  depths.reduce((sum, depth) => sum + (depth ? depth.waiting + depth.inFlight : 0), 0)

/** The depth of every queue, and of the dead-letter queues of stores that have one; undefined if the queue does not exist. */
export const queuesOf = async (context: Context) => {
  const depth = async (queue: string): Promise<Depth> => {
    const { visible, all } = await depthOf(context, queue)
    return { waiting: visible, inFlight: all - visible }
  }
  const missing = (error: unknown) => {
    if (error instanceof QueueDoesNotExist) return undefined
    throw error
  }
  const names = Object.keys(QUEUES) as (keyof typeof QUEUES)[]
  const [own, feeds] = await Promise.all([
    Promise.all(names.map(async name => [name, await depth(QUEUES[name])] as const)),
    Promise.all(
      context.stores().map(async store => {
        const [depthOfFeed, dead] = await Promise.all(
          queueNames(store).map(queue => depth(queue).catch(missing)),
        )
        return { source: store.source, depth: depthOfFeed, dead }
      }),
    ),
  ])
  return { ...(Object.fromEntries(own) as Record<keyof typeof QUEUES, Depth>), feeds }
}

export type Queues = Awaited<ReturnType<typeof queuesOf>>

/**
 * Visits up to `limit` messages of a queue. SQS cannot browse: each message is received, kept invisible in
 * the meantime, and released at the end, unless `visit` chose to delete it.
 *
 * In a FIFO queue, messages behind another of their group are only received once that one is deleted, or
 * together with it in one batch of ten.
 *
 * @param isDone whether no other message needs to be visited
 * @returns the number of messages that were in the queue, and how many of them are still there and were not visited
 */
export const browse = async (
  context: Context,
  queue: string,
  limit: number,
  visit: (message: QueueMessage) => Promise<'delete' | 'keep'>,
  isDone = () => false,
): Promise<{ total: number; hidden: number }> => {
  const { sqs, local, terminal } = context
  const QueueUrl = await context.queueUrl(queue)
  const before = await depthOf(context, queue)
  const held = new Map<string, QueueMessage>()
  using shown = progress(terminal, 'Reading messages', Math.min(before.visible, limit))
  const extendVisibility = visibilityExtender(sqs, QueueUrl)

  const receive = async (most: number) => {
    const { Messages = [] } = await sqs.receiveMessage({
      QueueUrl,
      MaxNumberOfMessages: Math.min(BATCH, most),
      VisibilityTimeout: HOLD_SECONDS,
      // Short polling queries only some of the SQS servers and may miss messages.
      WaitTimeSeconds: local ? 0 : 1,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    })
    return Messages.map(messageOf)
  }

  const release = async () => {
    const messages = [...held.values()]
    held.clear()
    for (let at = 0; at < messages.length; at += BATCH) {
      // A message that cannot be released was held too long and is visible again.
      await extendVisibility(messages.slice(at, at + BATCH), 0).catch(() => undefined)
    }
  }

  let visited = 0
  const visitAll = async (signal: AbortSignal) => {
    while (visited < limit && !isDone()) {
      const messages = await receive(limit - visited)
      if (messages.length === 0) break
      // A message received again was held too long, and is held again.
      const fresh = messages.filter(({ id }) => !held.has(id))
      for (const message of messages) held.set(message.id, message)
      visited += fresh.length
      for (const message of fresh) {
        signal.throwIfAborted()
        if ((await visit(message)) === 'keep') continue
        await sqs.deleteMessage({ QueueUrl, ReceiptHandle: message.receiptHandle })
        held.delete(message.id)
      }
      shown.advance(fresh.length)
    }
  }

  const countHidden = async () => {
    const unvisited = Math.max(0, before.all - visited)
    if (unvisited === 0) return 0
    // Another command may have deleted its messages in the meantime. Those held here are still in the queue.
    const { all } = await depthOf(context, queue)
    return Math.min(unvisited, Math.max(0, all - held.size))
  }

  const hidden = await interruptible(async signal => {
    await visitAll(signal)
    return countHidden()
  }).finally(release)
  return { total: before.all, hidden }
}
