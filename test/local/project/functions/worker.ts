import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'

const sqs = new SQSClient({})

export const handler = async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
  const batchItemFailures = []
  for (const { body, messageId } of Records) {
    if (body === 'throw') throw new Error('the whole batch fails')
    if (body === 'fail') batchItemFailures.push({ itemIdentifier: messageId })
    else await sqs.send(new SendMessageCommand({ QueueUrl: process.env.OUT_URL, MessageBody: body }))
  }
  return { batchItemFailures }
}
