import { join } from 'node:path'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { GetQueueUrlCommand, SQS } from '@aws-sdk/client-sqs'
import { SSMClient } from '@aws-sdk/client-ssm'
import { CREDENTIALS, settingsFrom, urlOf } from '../../local/settings.ts'
import { wrongUsage } from '../failure.ts'
import { ROOT } from '../root.ts'
import type { Deployment } from './deployment.ts'
import { localDeployment } from './local.ts'
import { type Names, namesOf } from './names.ts'
import { type Parameters, parameterStore } from './parameters.ts'

export type PlaceOptions = {
  local?: boolean | undefined
  stage?: string | undefined
  region?: string | undefined
}

/** Where the relay is that a command works on: the local stack, or a stage on AWS. */
export type Place = {
  local: boolean
  stage: string
  region: string
  /** What to call it in a sentence. */
  title: string
  /** The options that lead here, to be repeated in advice. */
  flags: string
  names: Names
  dynamodb: DynamoDB
  sqs: SQS
  parameters: Parameters
  queueUrl: (name: string) => Promise<string>
  deployment: () => Promise<Deployment>
  /** Directory of the local stack's data and logs. */
  dataDir: string
  close: () => void
}

const DEFAULT_REGION = 'eu-central-1'

/**
 * The clients and names of the place that the options mean.
 *
 * @throws Failure when they contradict each other
 */
export const placeOf = ({ local = false, stage, region }: PlaceOptions, environment = process.env): Place => {
  if (local && stage !== undefined) {
    throw wrongUsage(
      'use --local with --stage',
      `the local stack has no stage "${stage}"`,
      'leave one of them out',
    )
  }
  const { ports, dataDir } = settingsFrom({
    ...environment,
    ORDER_RELAY_DATA: environment.ORDER_RELAY_DATA || join(ROOT, '.order-relay'),
  })
  const at = {
    stage: local ? 'local' : (stage ?? 'production'),
    region: region ?? environment.AWS_REGION ?? DEFAULT_REGION,
  }
  const names = namesOf(at.stage, local)
  const client = (port: number) => ({
    region: at.region,
    ...(local && { endpoint: urlOf(port), credentials: CREDENTIALS, maxAttempts: 1 }),
  })

  const dynamodb = new DynamoDB(client(ports.dynamodb))
  const sqs = new SQS(client(ports.sqs))
  const ssm = new SSMClient(client(ports.ssm))
  const urls = new Map<string, Promise<string>>()
  let deployment: Promise<Deployment> | undefined

  const find = async () => {
    if (local) return localDeployment(ports)
    // Takes a while to load, and only some commands on AWS need it.
    const { awsDeployment } = await import('./aws.ts')
    return awsDeployment(at.region, names.stack)
  }

  return {
    ...at,
    local,
    title: local ? 'the local stack' : `stage "${at.stage}" in ${at.region}`,
    flags: local
      ? ' --local'
      : `${stage === undefined ? '' : ` --stage ${stage}`}${region === undefined ? '' : ` --region ${region}`}`,
    names,
    dynamodb,
    sqs,
    parameters: parameterStore(ssm, names.secrets),
    queueUrl: name => {
      const known = urls.get(name)
      if (known !== undefined) return known
      const asked = sqs
        .send(new GetQueueUrlCommand({ QueueName: name }))
        .then(({ QueueUrl = '' }) => QueueUrl)
      urls.set(name, asked)
      return asked
    },
    deployment: () => {
      deployment ??= find()
      return deployment
    },
    dataDir,
    close: () => {
      for (const each of [dynamodb, sqs, ssm]) each.destroy()
    },
  }
}
