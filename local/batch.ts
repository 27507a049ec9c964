import type { Message } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import * as v from 'valibot'

const partialFailure = v.looseObject({
  batchItemFailures: v.nullish(
    v.array(v.looseObject({ itemIdentifier: v.pipe(v.string(), v.nonEmpty()) })),
    [],
  ),
})

/**
 * Which messages of a batch failed, by the answer of a function that reports batch item failures, as AWS
 * reads it: nothing, an empty object, or an absent or empty list is success for all; an answer of another
 * form, an empty identifier, or one that is not in the batch is failure for all.
 */
export const failedIds = (response: unknown, ids: readonly string[]): ReadonlySet<string> => {
  if (response === undefined || response === null) return new Set()
  const parsed = v.safeParse(partialFailure, response)
  if (!parsed.success) return new Set(ids)
  const failed = parsed.output.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)
  return failed.every(id => ids.includes(id)) ? new Set(failed) : new Set(ids)
}

/** Lambda's names are those of SQS with a small first letter, and its binary values are base64 text. */
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

/** A received message as Lambda hands it to a function. */
export const recordOf = (message: Message, queue: { arn: string; region: string }): SQSRecord => {
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
    eventSourceARN: queue.arn,
    awsRegion: queue.region,
  }
}
