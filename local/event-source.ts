import type { Message, SQSClient } from '@aws-sdk/client-sqs'
import { Consumer } from 'sqs-consumer'
import { failedIds, recordOf } from './batch.ts'
import type { Invoke } from './invoke.ts'

/** Lambda begins with five pollers on a queue; each waits for the function before it receives again. */
const POLLERS = 5

export type EventSource = { stop: () => Promise<void> }

export type EventSourceOptions = {
  sqs: SQSClient
  queue: { url: string; arn: string; region: string }
  /** Messages handed over at once, 1 to 10. */
  batchSize: number
  /** Whether the function reports batch item failures; if not, its answer counts for nothing. */
  reportsFailures: boolean
  invoke: Invoke
  /** Told of a batch that failed whole, and of trouble with the queue. */
  onError: (error: unknown) => void
}

const idOf = ({ MessageId = '' }: Message) => MessageId

/**
 * Feeds a function from its queue as AWS does: batches go to the function side by side, what succeeded is
 * deleted, what failed waits for its visibility timeout and the queue's redrive policy.
 */
export const startEventSource = (options: EventSourceOptions): EventSource => {
  const { sqs, queue, batchSize, reportsFailures, invoke, onError } = options
  let stopping = false
  const busy = new Set<Consumer>()

  const succeeded = async (messages: Message[]): Promise<Message[]> => {
    const event = { Records: messages.map(message => recordOf(message, queue)) }
    try {
      const response = await invoke(event)
      const failed = failedIds(reportsFailures ? response : undefined, messages.map(idOf))
      return messages.filter(message => !failed.has(idOf(message)))
    } catch (error) {
      onError(error)
      return []
    }
  }

  const poller = () => {
    const consumer = Consumer.create({
      sqs,
      queueUrl: queue.url,
      batchSize,
      messageSystemAttributeNames: ['All'],
      messageAttributeNames: ['All'],
      authenticationErrorTimeout: 500,
      suppressFifoWarning: true,
      handleMessageBatch: async messages => {
        busy.add(consumer)
        return succeeded(messages)
      },
    })
    consumer.on('response_processed', () => busy.delete(consumer))
    consumer.on('error', error => {
      if (!stopping) onError(error)
    })
    consumer.start()
    return consumer
  }

  const consumers = Array.from({ length: POLLERS }, poller)

  return {
    stop: async () => {
      stopping = true
      // A poll that only waits is broken off; one whose messages the function holds is let finish.
      const finished = [...busy].map(
        consumer => new Promise<void>(resolve => consumer.once('response_processed', () => resolve())),
      )
      for (const consumer of consumers) consumer.stop({ abort: !busy.has(consumer) })
      await Promise.all(finished)
    },
  }
}
