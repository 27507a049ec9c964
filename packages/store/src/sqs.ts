import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  QueueDoesNotExist,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import {
  assertArguments,
  assertOptions,
  FUNCTION,
  HTTP_URL,
  isObject,
  type Kind,
  OBJECT,
  optional,
  SIGNAL,
  VISIBILITY,
} from './arguments.ts'
import { handleOnce } from './handle-once.ts'
import { MessageError, readMessage } from './messages.ts'
import { type Handling, type Once, onceInMemory } from './once.ts'
import { pause } from './pause.ts'

const CLIENT: Kind = ['an SQSClient', value => isObject(value) && typeof value.send === 'function']

export type ConsumeOptions<Transaction> = Handling<Transaction> & {
  sqs: SQSClient
  /** The URL of the feed's queue, shown by `relay stores show`. */
  queueUrl: string
  /** Stops the consumer once it has handled the messages it has received. */
  signal?: AbortSignal
  /**
   * The visibility timeout: how long `handle` may take for the messages of one receive, in seconds.
   * @default 60
   */
  visibilityTimeout?: number
}

/** A failed receive. By default, only its message is printed, since the client's errors fill a page every second. */
class ReceiveError extends Error {}

/** The longest delay of a message whose handler keeps failing, in seconds. */
const MAX_DELAY = 900

/** @throws MessageError that names the message in the queue */
const readReceived = ({ Body = '', MessageId }: Message) => {
  try {
    return readMessage(Body)
  } catch (error) {
    if (!(error instanceof MessageError)) throw error
    throw new MessageError(`${error.message}; its MessageId is "${MessageId}"`, { cause: error.cause })
  }
}

const entriesOf = (messages: readonly Message[]) =>
  messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }))

/**
 * Consumes the queue of a feed until `signal` is aborted: different orders in parallel, the messages of one order
 * (a message group) in sequence. If `handle` throws, the message and those behind it of the same order are redelivered
 * after an increasing delay.
 *
 * @throws Error if the queue does not exist
 *
 * @example
 * ```ts
 * import { SQSClient } from '@aws-sdk/client-sqs'
 * import { consumeFeed } from 'order-relay-store/sqs'
 *
 * const { QUEUE_URL: queueUrl = 'https://sqs.eu-central-1.amazonaws.com/123456789012/feed-demo-shop.fifo' } = process.env
 * const signal = AbortSignal.timeout(100)
 * await consumeFeed({
 *   sqs: new SQSClient({ region: 'eu-central-1' }),
 *   queueUrl,
 *   signal,
 *   onError: () => undefined,
 *   handle: ({ event, data }) => console.log(event, data.external_id),
 * })
 * ```
 */
export const consumeFeed = async <Transaction = undefined>(
  options: ConsumeOptions<Transaction>,
): Promise<void> => {
  assertArguments('consume a feed', { options: [options, OBJECT] })
  const { sqs, queueUrl, handle, signal, visibilityTimeout = 60 } = options
  const {
    onError = (error: unknown) => console.error(error instanceof ReceiveError ? error.message : error),
  } = options
  assertOptions('consume a feed', options, {
    sqs: [sqs, CLIENT],
    queueUrl: [queueUrl, HTTP_URL],
    handle: [handle, FUNCTION],
    once: [options.once, optional(FUNCTION)],
    onError: [onError, FUNCTION],
    signal: [signal, optional(SIGNAL)],
    visibilityTimeout: [visibilityTimeout, VISIBILITY],
  })
  const once = options.once ?? (onceInMemory() as Once<Transaction>)

  /** Handles the messages of one order; returns those that are done. */
  const handleOrder = async (messages: readonly Message[]): Promise<void> => {
    const done: Message[] = []
    try {
      for (const received of messages) {
        const message = readReceived(received)
        await handleOnce(once, message, handle)
        done.push(received)
      }
    } catch (error) {
      onError(error)
      const receives = Number(messages[done.length]?.Attributes?.ApproximateReceiveCount ?? 1)
      const VisibilityTimeout = Math.min(2 ** (receives - 1), MAX_DELAY)
      const returned = entriesOf(messages.slice(done.length))
      const Entries = returned.map(entry => ({ ...entry, VisibilityTimeout }))
      // Otherwise they return after the visibility timeout.
      await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries })).catch(onError)
    }
    if (done.length === 0) return
    // A message that could not be deleted is redelivered, and then dropped as handled.
    const deletion = new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries: entriesOf(done) })
    const { Failed = [] } = await sqs.send(deletion)
    if (Failed.length > 0) throw new Error(`Cannot delete ${Failed.length} messages: ${Failed[0]?.Message}`)
  }

  const receive = async (): Promise<Message[]> => {
    const command = new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: 20,
      VisibilityTimeout: visibilityTimeout,
      MessageSystemAttributeNames: ['MessageGroupId', 'ApproximateReceiveCount'],
    })
    const { Messages = [] } = await sqs.send(command, signal && { abortSignal: signal })
    return Messages
  }

  while (signal?.aborted !== true) {
    try {
      const orders = new Map<string | undefined, Message[]>()
      for (const message of await receive()) {
        const group = message.Attributes?.MessageGroupId
        orders.set(group, [...(orders.get(group) ?? []), message])
      }
      const results = await Promise.allSettled([...orders.values()].map(handleOrder))
      for (const result of results) if (result.status === 'rejected') onError(result.reason)
    } catch (error) {
      if (signal?.aborted) return
      if (error instanceof QueueDoesNotExist) {
        const found = `the queue "${queueUrl}" does not exist, or its account denies access`
        const remedy = 'use the URL that "relay stores show" prints, and check the region and credentials'
        throw new Error(`Cannot consume a feed: ${found}; ${remedy}`, { cause: error })
      }
      const found = (error instanceof Error && error.message) || String(error)
      const remedy = 'check that the queue can be reached, and the region and credentials'
      const message = `Cannot receive from "${queueUrl}": ${found}; ${remedy}; the next attempt follows in a second`
      onError(new ReceiveError(message, { cause: error }))
      await pause(1000, signal)
    }
  }
}
