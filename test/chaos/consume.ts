import {
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { failedIds, recordOf } from '../../local/event-source.ts'
import { queueArn, REGION } from '../../local/settings.ts'

/** What can be received now; nothing while SQS is unavailable. */
const receive = async (sqs: SQSClient, QueueUrl: string): Promise<Message[]> => {
  const receiving = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames: ['All'],
  })
  return (await sqs.send(receiving).catch(() => undefined))?.Messages ?? []
}

/**
 * Passes to a function everything that its queue hands out now, as Lambda's event source does: what the function
 * does not report as failed is deleted. Returns the number of messages passed.
 */
export const consume = async (
  sqs: SQSClient,
  QueueUrl: string,
  run: (event: SQSEvent) => Promise<SQSBatchResponse>,
): Promise<number> => {
  const queue = { arn: queueArn(QueueUrl.replace(/.*\//, '')), region: REGION }
  let passed = 0
  for (;;) {
    const batch = await receive(sqs, QueueUrl)
    if (batch.length === 0) return passed
    passed += batch.length
    const ids = batch.map(({ MessageId = '' }) => MessageId)
    const failed = await run({ Records: batch.map(message => recordOf(message, queue)) }).then(
      response => failedIds(response, ids),
      () => new Set(ids),
    )
    for (const { MessageId = '', ReceiptHandle } of batch)
      if (!failed.has(MessageId))
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle })).catch(() => undefined)
  }
}
