import {
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { failedIds, recordOf } from '../../local/event-source.ts'
import { REGION } from '../../proof/storm/parts.ts'

/** What can be received now; nothing while SQS does not answer. */
export const received = async (sqs: SQSClient, QueueUrl: string): Promise<Message[]> => {
  const receiving = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames: ['All'],
  })
  return (await sqs.send(receiving).catch(() => undefined))?.Messages ?? []
}

export const remove = async (sqs: SQSClient, QueueUrl: string, messages: readonly Message[]) => {
  for (const { ReceiptHandle } of messages)
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle })).catch(() => undefined)
}

/**
 * Hands a function all that its queue gives out now, as Lambda's event source does: what the function does not
 * report as failed is deleted. Answers with how much it was handed.
 */
export const hand = async (sqs: SQSClient, url: string, run: (event: unknown) => Promise<unknown>) => {
  const queue = { arn: `arn:aws:sqs:${REGION}:000000000000:${url.replace(/.*\//, '')}`, region: REGION }
  let handed = 0
  for (;;) {
    const batch = await received(sqs, url)
    if (batch.length === 0) return handed
    handed += batch.length
    const ids = batch.map(({ MessageId = '' }) => MessageId)
    const failed = await run({ Records: batch.map(message => recordOf(message, queue)) }).then(
      answer => failedIds(answer, ids),
      () => new Set(ids),
    )
    await remove(
      sqs,
      url,
      batch.filter(({ MessageId = '' }) => !failed.has(MessageId)),
    )
  }
}
