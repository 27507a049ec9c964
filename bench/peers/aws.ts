import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'

// What a peer has of AWS. A file of its own, so that the benchmark of CPU time without AWS can put
// `aws-at-once.ts` in its place.

export const dynamodb = new DynamoDBClient()
export const sqs = new SQSClient()
