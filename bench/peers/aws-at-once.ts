import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'

// The same clients as in `aws.ts`, answering by themselves before anything is serialised, signed or sent.

export const dynamodb = new DynamoDBClient()
dynamodb.middlewareStack.add(() => async () => ({ output: { $metadata: {} }, response: {} }), {
  step: 'initialize',
  priority: 'high',
})

export const sqs = new SQSClient()
sqs.middlewareStack.add(() => async () => ({ output: { $metadata: {} }, response: {} }), {
  step: 'initialize',
  priority: 'high',
})
