import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { SSMClient } from '@aws-sdk/client-ssm'

/**
 * One try may take this long. The sender of a webhook waits ten seconds in all, and each of the three
 * calls may be tried twice, so nothing may hang.
 */
const limits = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 500, requestTimeout: 1500, throwOnRequestTimeout: true },
}

export const dynamodbClient = () => new DynamoDBClient(limits)
export const sqsClient = () => new SQSClient(limits)
export const ssmClient = () => new SSMClient(limits)
