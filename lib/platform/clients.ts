import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { SSMClient } from '@aws-sdk/client-ssm'

/** What the relay uses of AWS: commands sent by AWS's own clients. */
export type DynamoDB = Pick<DynamoDBClient, 'send'>
export type Sqs = Pick<SQSClient, 'send'>
export type Ssm = Pick<SSMClient, 'send'>

/**
 * The sender of a webhook waits ten seconds for an answer that needs up to three calls. Three attempts of
 * nine tenths of a second each keep even three slow calls within that time.
 */
const options = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 900, requestTimeout: 900, throwOnRequestTimeout: true },
}

export const dynamodbClient = (): DynamoDBClient => new DynamoDBClient(options)
export const sqsClient = (): SQSClient => new SQSClient(options)
export const ssmClient = (): SSMClient => new SSMClient(options)
