import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { SSMClient } from '@aws-sdk/client-ssm'

/** What the relay uses of AWS: commands sent by AWS's own clients. */
export type DynamoDB = Pick<DynamoDBClient, 'send'>
export type Sqs = Pick<SQSClient, 'send'>
export type Ssm = Pick<SSMClient, 'send'>

/**
 * The sender of a webhook waits ten seconds for an answer that needs up to three calls, and the function's own
 * timeout ends what takes nine. An attempt that hangs must leave time for another one, and a busy machine time
 * to answer.
 */
const options = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 2500, throwOnRequestTimeout: true },
}

export const dynamodbClient = (): DynamoDBClient => new DynamoDBClient(options)
export const sqsClient = (): SQSClient => new SQSClient(options)
export const ssmClient = (): SSMClient => new SSMClient(options)
