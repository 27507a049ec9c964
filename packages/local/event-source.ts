import type { Message, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import { Consumer } from 'sqs-consumer'
import * as v from 'valibot'
import { queueArn, REGION } from './settings.ts'

/** Lambda starts with five pollers per queue; each waits for the function before it receives again. */
const POLLERS = 5

const partialFailure = v.looseObject({
  batchItemFailures: v.nullish(
    v.array(v.looseObject({ itemIdentifier: v.pipe(v.string(), v.nonEmpty()) })),
    [],
  ),
})

/**
 * The failed messages of a batch, from the response of a function that reports batch item failures, by AWS's rules: no
 * response, an empty object, or a missing or empty list means success; a malformed response, an empty identifier, or one
 * that is not in the batch means that the whole batch failed.
 */
export const failedIds = (response: unknown, ids: readonly string[]): ReadonlySet<string> => {
  if (response === undefined || response === null) return new Set()
  const parsed = v.safeParse(partialFailure, response)
  if (!parsed.success) return new Set(ids)
  const failed = parsed.output.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)
  return failed.every(id => ids.includes(id)) ? new Set(failed) : new Set(ids)
}

/** Lambda's names begin in lower case, and its binary values are base64. */
const attributesOf = ({ MessageAttributes = {} }: Message): SQSRecord['messageAttributes'] =>
  Object.fromEntries(
    Object.entries(MessageAttributes).map(([name, { DataType = 'String', StringValue, BinaryValue }]) => [
      name,
      {
        dataType: DataType,
        ...(StringValue !== undefined && { stringValue: StringValue }),
        ...(BinaryValue !== undefined && { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
      },
    ]),
  )

/** A message received from a queue, as Lambda passes it to a function. */
export const recordOf = (message: Message, queue: string): SQSRecord => {
  const {
    SenderId = '',
    SentTimestamp = '',
    ApproximateReceiveCount = '1',
    ApproximateFirstReceiveTimestamp = SentTimestamp,
    ...others
  } = message.Attributes ?? {}
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: {
      SenderId,
      SentTimestamp,
      ApproximateReceiveCount,
      ApproximateFirstReceiveTimestamp,
      ...others,
    },
    messageAttributes: attributesOf(message),
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn(queue),
    awsRegion: REGION,
  }
}

export type EventSource = { stop: () => Promise<void> }

export type EventSourceOptions = {
  sqs: SQSClient
  queueUrl: string
  /** Messages per batch, 1 to 10. @default 10 */
  batchSize?: number
  /** Whether the function reports batch item failures; otherwise its response is ignored. @default true */
  reportsFailures?: boolean
  /** Maximum number of concurrent batches. @default Lambda's initial number */
  maximumConcurrency?: number | undefined
  /** Calls the function and returns its response. */
  invoke: (event: unknown) => Promise<unknown>
  /** Called when a whole batch fails, or when the queue cannot be read. */
  onError: (error: unknown) => void
}

const idOf = ({ MessageId = '' }: Message) => MessageId

/**
 * Invokes a function with the messages of its queue as AWS does: batches run in parallel, successful messages are
 * deleted, and failed ones are left to their visibility timeout and the queue's redrive policy.
 */
export const startEventSource = (options: EventSourceOptions): EventSource => {
  const { sqs, queueUrl, batchSize = 10, reportsFailures = true, invoke, onError } = options
  const { maximumConcurrency = POLLERS } = options
  const queue = queueUrl.slice(queueUrl.lastIndexOf('/') + 1)
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
      queueUrl,
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

  const consumers = Array.from({ length: Math.min(POLLERS, maximumConcurrency) }, poller)

  return {
    stop: async () => {
      stopping = true
      // An idle poll is aborted; one whose messages are being processed may finish.
      const finished = [...busy].map(
        consumer => new Promise<void>(resolve => consumer.once('response_processed', () => resolve())),
      )
      for (const consumer of consumers) consumer.stop({ abort: !busy.has(consumer) })
      await Promise.all(finished)
    },
  }
}
