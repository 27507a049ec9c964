import { awsCall, type Call } from '../../lib/aws/call.ts'
import { DYNAMODB, dynamodb } from '../../lib/aws/dynamodb.ts'
import { SQS, sqs } from '../../lib/aws/sqs.ts'
import { SSM, ssm } from '../../lib/aws/ssm.ts'
import { CREDENTIALS } from '../../local/settings.ts'
import { REGION } from './parts.ts'

/** Where one function reaches AWS; each goes through proxies of its own. */
export type Endpoints = { dynamodb: string; sqs: string; ssm: string }

/** What becomes of the input of an action before it goes out: a bug, if anything. */
export type Change = (action: string, input: object) => object

const changed =
  (call: Call, change: Change): Call =>
  (action, input) =>
    call(action, change(action, input))

/** The functions' own clients of AWS, which read where it is from the environment, as in Lambda. */
export const clientsAt = (
  endpoints: Endpoints,
  timeout: number,
  change: Change = (_action, input) => input,
) => {
  Object.assign(process.env, {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    AWS_ENDPOINT_URL_SSM: endpoints.ssm,
  })
  const options = { timeout, tries: 2 }
  return {
    dynamodb: dynamodb(changed(awsCall(DYNAMODB, options), change)),
    sqs: sqs(awsCall(SQS, options)),
    ssm: ssm(awsCall(SSM, options)),
  }
}

export type Clients = ReturnType<typeof clientsAt>
