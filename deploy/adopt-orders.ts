import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { CloudFormation } from '@aws-sdk/client-cloudformation'
import { DynamoDB, ResourceNotFoundException } from '@aws-sdk/client-dynamodb'
import { S3 } from '@aws-sdk/client-s3'
import * as v from 'valibot'
import { DEFAULT_REGION, DEFAULT_STAGE, stackName } from './cloudformation.ts'
import { REGISTRATIONS_ID } from './tables.ts'

const USAGE = `Lets the stack take over the tables of orders and registrations that exist without it, so that the next
"serverless deploy" continues with them: after "serverless remove", after a first deployment that failed and was rolled
back, and after a restore of the orders to a table with another name, which you have set as "ordersTable" in serverless.yml.

  --stage NAME    (default: ${DEFAULT_STAGE})
  --region NAME   (default: AWS_REGION, else ${DEFAULT_REGION})
  --help          show this help
`

const TIMEOUT_SECONDS = 300

const template = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({ Resources: v.record(v.string(), v.looseObject({})) }),
)
const table = v.looseObject({ Properties: v.looseObject({ TableName: v.string() }) })

/** The templates that osls packages: the first, with only the deployment bucket, and the complete one. */
export type Packaged = { initial: string; complete: string }

const pack = async (stage: string, region: string): Promise<Packaged> => {
  const script = 'node_modules/serverless/bin/serverless.js'
  const args = [script, 'package', '--stage', stage, '--region', region]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`Cannot package the stack: serverless exited with code ${code}; see above`)
  const packaged = (name: string) =>
    readFile(`.serverless/cloudformation-template-${name}-stack.json`, 'utf8')
  return { initial: await packaged('create'), complete: await packaged('update') }
}

const find = async (cloudformation: CloudFormation, StackName: string) => {
  try {
    const { Stacks: [found] = [] } = await cloudformation.describeStacks({ StackName })
    return found?.StackStatus === 'DELETE_COMPLETE' ? undefined : found
  } catch (error) {
    if (error instanceof Error && error.message.includes('does not exist')) return undefined
    throw error
  }
}

const tableExists = async (dynamodb: DynamoDB, TableName: string) => {
  try {
    await dynamodb.describeTable({ TableName })
    return true
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return false
    throw error
  }
}

/** A table as it can be imported. */
const importable = (resource: unknown) => {
  const { Properties, ...others } = v.parse(table, resource)
  // A restored table lacks these properties; the next deployment sets them.
  const {
    PointInTimeRecoverySpecification,
    DeletionProtectionEnabled,
    TimeToLiveSpecification,
    ...properties
  } = Properties
  // Retain: if the import is rolled back, the table must stay.
  const DeletionPolicy = 'Retain'
  return { name: properties.TableName, resource: { ...others, Properties: properties, DeletionPolicy } }
}

export type AdoptDependencies = {
  cloudformation: CloudFormation
  dynamodb: DynamoDB
  pack: () => Promise<Packaged>
  /** Stores an object in the stack's bucket; returns its URL. */
  upload: (Bucket: string, Key: string, Body: string) => Promise<string>
}

/**
 * Imports the orders table into the stack, a new one with the deployment bucket or an existing one that does not
 * contain it, and the table of the registrations if that exists without the stack.
 *
 * @returns a message with the result and the next step
 * @throws if there is no orders table, or if the stack contains it or cannot be changed
 */
export const adoptOrders = async (
  stage: string,
  { cloudformation, dynamodb, pack, upload }: AdoptDependencies,
): Promise<string> => {
  const StackName = stackName(stage)
  const refuse = (why: string) => new Error(`Cannot adopt the orders: ${why}`)
  const stack = await find(cloudformation, StackName)
  const status: string | undefined = stack?.StackStatus
  // A stack in review has no resources yet: its change set was never executed.
  const isNew = status === undefined || status === 'REVIEW_IN_PROGRESS'
  if (!isNew && status.endsWith('_IN_PROGRESS'))
    throw refuse(`the stack ${StackName} is ${status}; wait until this operation ends`)
  if (/^(?:ROLLBACK_COMPLETE|(?:CREATE|ROLLBACK|DELETE)_FAILED)$/.test(status ?? '')) {
    throw refuse(
      `the stack ${StackName} is ${status}, which AWS only lets you delete; ` +
        `run aws cloudformation delete-stack --stack-name ${StackName}, which leaves the orders, and try again`,
    )
  }

  const { initial, complete } = await pack()
  const existing = isNew
    ? undefined
    : await cloudformation.getTemplate({ StackName, TemplateStage: 'Processed' })
  const current = v.parse(template, existing?.TemplateBody ?? initial)
  const { Resources: wanted } = v.parse(template, complete)
  const id = Object.keys(wanted).find(each => each.startsWith('OrdersTable')) ?? ''
  if (id in current.Resources) {
    throw refuse(`the stack ${StackName} contains them; run npx serverless deploy`)
  }
  const { name, resource } = importable(wanted[id])
  if (!(await tableExists(dynamodb, name))) {
    throw refuse(`there is no table ${name}; run npx serverless deploy`)
  }
  const registrations = importable(wanted[REGISTRATIONS_ID])
  const isBoth = !(REGISTRATIONS_ID in current.Resources) && (await tableExists(dynamodb, registrations.name))
  const Resources = {
    ...current.Resources,
    [id]: resource,
    ...(isBoth && { [REGISTRATIONS_ID]: registrations.resource }),
  }
  const body = JSON.stringify({ ...current, Resources })
  const bucket = stack?.Outputs?.find(({ OutputKey }) => OutputKey === 'ServerlessDeploymentBucketName')
  // The complete template exceeds a CloudFormation request; a new stack's template has only the bucket and the table.
  const key = `serverless/order-relay/${stage}/adopt-orders.json`
  const source =
    bucket?.OutputValue === undefined
      ? { TemplateBody: body }
      : { TemplateURL: await upload(bucket.OutputValue, key, body) }
  const names = { StackName, ChangeSetName: `adopt-orders-${Date.now()}` }
  await cloudformation.createChangeSet({
    ...names,
    ...source,
    Capabilities: ['CAPABILITY_IAM'],
    ChangeSetType: isNew ? 'CREATE' : 'UPDATE',
    ImportExistingResources: true,
  })
  const waiting = { maxWaitTime: TIMEOUT_SECONDS, minDelay: 1, maxDelay: 5 }
  await cloudformation.waitUntilChangeSetCreateComplete(names, waiting)
  await cloudformation.executeChangeSet(names)
  if (isNew) await cloudformation.waitUntilStackCreateComplete({ StackName }, waiting)
  else await cloudformation.waitUntilStackUpdateComplete({ StackName }, waiting)
  const contained = isBoth ? `tables ${name} and ${registrations.name}` : `table ${name}`
  return `The stack ${StackName} now contains the ${contained}. Next: npx serverless deploy`
}

const main = async () => {
  const { values } = parseArgs({
    options: {
      stage: { type: 'string', default: DEFAULT_STAGE },
      region: { type: 'string', default: process.env.AWS_REGION ?? DEFAULT_REGION },
      help: { type: 'boolean', default: false },
    },
  })
  const { stage, region, help } = values
  if (help) return USAGE
  const s3 = new S3({ region })
  const done = await adoptOrders(stage, {
    cloudformation: new CloudFormation({ region }),
    dynamodb: new DynamoDB({ region }),
    pack: () => pack(stage, region),
    upload: async (Bucket, Key, Body) => {
      await s3.putObject({ Bucket, Key, Body })
      return `https://s3.${region}.amazonaws.com/${Bucket}/${Key}`
    },
  })
  return `${done}\n`
}

if (import.meta.main) {
  try {
    process.stdout.write(await main())
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
