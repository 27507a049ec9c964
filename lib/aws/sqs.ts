import type { ChangeMessageVisibilityBatchRequest, SendMessageRequest } from '@aws-sdk/client-sqs'
import type { Call } from './call.ts'

/** What is used of SQS. The class `SQS` of AWS's SDK has these methods too, and can stand in. */
export type Sqs = {
  sendMessage: (input: SendMessageRequest) => Promise<unknown>
  changeMessageVisibilityBatch: (input: ChangeMessageVisibilityBatchRequest) => Promise<unknown>
}

export const SQS = { name: 'sqs', target: 'AmazonSQS', version: '1.0' } as const

export const sqs = (call: Call): Sqs => ({
  sendMessage: input => call('SendMessage', input),
  changeMessageVisibilityBatch: input => call('ChangeMessageVisibilityBatch', input),
})
