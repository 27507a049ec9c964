import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import {
  CloudFormationClient,
  CreateChangeSetCommand,
  DescribeStacksCommand,
  ExecuteChangeSetCommand,
  waitUntilChangeSetCreateComplete,
  waitUntilStackCreateComplete,
} from '@aws-sdk/client-cloudformation'
import { DescribeTableCommand, DynamoDBClient, ResourceNotFoundException } from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'

const USAGE = `Creates the stack around the orders table that a removed stack left behind, so that the next
"serverless deploy" continues with it.

  --stage NAME    (default: production)
  --region NAME   (default: AWS_REGION, else eu-central-1)
  --help          show this help
`

const CHANGE_SET = 'adopt-orders'
const TIMEOUT_SECONDS = 300

const template = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({ Resources: v.record(v.string(), v.looseObject({})) }),
)
const table = v.looseObject({ Properties: v.looseObject({ TableName: v.string() }) })

const pack = async (stage: string, region: string) => {
  const script = 'node_modules/serverless/bin/serverless.js'
  const args = [script, 'package', '--stage', stage, '--region', region]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`Cannot package the stack: serverless exited with code ${code}; see above`)
}

const packaged = async (name: string) =>
  v.parse(template, await readFile(`.serverless/cloudformation-template-${name}-stack.json`, 'utf8'))

const stackExists = async (cloudformation: CloudFormationClient, StackName: string) => {
  try {
    const { Stacks: [found] = [] } = await cloudformation.send(new DescribeStacksCommand({ StackName }))
    return found !== undefined && found.StackStatus !== 'DELETE_COMPLETE'
  } catch (error) {
    if (error instanceof Error && error.message.includes('does not exist')) return false
    throw error
  }
}

const tableExists = async (dynamodb: DynamoDBClient, TableName: string) => {
  try {
    await dynamodb.send(new DescribeTableCommand({ TableName }))
    return true
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return false
    throw error
  }
}

/** @throws when the stack exists or there is no table to adopt */
const adopt = async (stage: string, region: string): Promise<string> => {
  const StackName = `order-relay-${stage}`
  const cloudformation = new CloudFormationClient({ region })
  if (await stackExists(cloudformation, StackName)) {
    throw new Error(`Cannot adopt the orders: the stack ${StackName} exists; run npx serverless deploy`)
  }
  await pack(stage, region)
  const [initial, complete] = [await packaged('create'), await packaged('update')]
  const orders = v.parse(table, complete.Resources.OrdersTable)
  const { TableName } = orders.Properties
  if (!(await tableExists(new DynamoDBClient({ region }), TableName))) {
    throw new Error(
      `Cannot adopt the orders: there is no table ${TableName} in ${region}; run npx serverless deploy`,
    )
  }

  // The template that osls deploys first, with the deployment bucket only, plus the table.
  const TemplateBody = JSON.stringify({
    ...initial,
    Resources: { ...initial.Resources, OrdersTable: orders },
  })
  const names = { StackName, ChangeSetName: CHANGE_SET }
  await cloudformation.send(
    new CreateChangeSetCommand({
      ...names,
      TemplateBody,
      ChangeSetType: 'CREATE',
      ImportExistingResources: true,
    }),
  )
  const waiting = { client: cloudformation, maxWaitTime: TIMEOUT_SECONDS, minDelay: 1, maxDelay: 5 }
  await waitUntilChangeSetCreateComplete(waiting, names)
  await cloudformation.send(new ExecuteChangeSetCommand(names))
  await waitUntilStackCreateComplete(waiting, { StackName })
  return `The stack ${StackName} now contains the table ${TableName}. Next: npx serverless deploy`
}

const { values } = parseArgs({
  options: {
    stage: { type: 'string', default: 'production' },
    region: { type: 'string', default: process.env.AWS_REGION ?? 'eu-central-1' },
    help: { type: 'boolean', default: false },
  },
})
try {
  process.stdout.write(values.help ? USAGE : `${await adopt(values.stage, values.region)}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
