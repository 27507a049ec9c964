import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs'
import { SSMClient, type SSMClientConfig } from '@aws-sdk/client-ssm'

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

/** @param config where a harness runs its own AWS; a function takes everything from its environment */
export const dynamodbClient = (config: DynamoDBClientConfig = {}): DynamoDBClient =>
  new DynamoDBClient({ ...options, ...config })
export const sqsClient = (config: SQSClientConfig = {}): SQSClient => new SQSClient({ ...options, ...config })
export const ssmClient = (config: SSMClientConfig = {}): SSMClient => new SSMClient({ ...options, ...config })
