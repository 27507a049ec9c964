import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { SQS } from '@aws-sdk/client-sqs'
import { SSM } from '@aws-sdk/client-ssm'
import type { Dynamodb } from '../../lib/aws/dynamodb.ts'
import type { Sqs } from '../../lib/aws/sqs.ts'
import type { Ssm } from '../../lib/aws/ssm.ts'

// Stands in for lib/aws.ts, to show what the SDK's clients would cost our own receiver.

const limits = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 500, requestTimeout: 1500, throwOnRequestTimeout: true },
}

export const dynamodbClient = (): Dynamodb => new DynamoDB(limits)
export const sqsClient = (): Sqs => new SQS(limits)
export const ssmClient = (): Ssm => new SSM(limits)
