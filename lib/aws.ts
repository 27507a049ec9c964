import { awsCall, type Options } from './aws/call.ts'
import { DYNAMODB, dynamodb } from './aws/dynamodb.ts'
import { SQS, sqs } from './aws/sqs.ts'
import { SSM, ssm } from './aws/ssm.ts'

/**
 * One try may take this long. The sender of a webhook waits ten seconds in all, and each of the three
 * calls may be tried twice, so nothing may hang.
 */
const limits: Options = { tries: 2, timeout: 1500 }

export const dynamodbClient = () => dynamodb(awsCall(DYNAMODB, limits))
export const sqsClient = () => sqs(awsCall(SQS, limits))
export const ssmClient = () => ssm(awsCall(SSM, limits))
