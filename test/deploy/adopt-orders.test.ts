import { CloudFormation } from '@aws-sdk/client-cloudformation'
import { DynamoDB, ResourceNotFoundException } from '@aws-sdk/client-dynamodb'
import { expect, test } from '@jest/globals'
import { adoptOrders } from '../../deploy/adopt-orders.ts'
import { tableResources, tablesOf } from '../../deploy/tables.ts'

// A model of CloudFormation's rules, for states of a stack that deployment.ts does not reach, as its documentation states
// them: "Import AWS resources into a CloudFormation stack automatically", "CreateChangeSet", "Stack status codes".

const STACK = 'order-relay-production'
const TABLE = 'order-relay-production-orders'
const BUCKET = { Type: 'AWS::S3::Bucket' }
const BUCKET_NAME = { OutputKey: 'ServerlessDeploymentBucketName', OutputValue: 'bucket' }
/** As long as whole stacks are. */
const ROLE = { Type: 'AWS::IAM::Role', Properties: { Description: 'x'.repeat(60_000) } }

type Resources = Record<
  string,
  { Type?: string; DeletionPolicy?: string; Properties?: Record<string, unknown> }
>
type Account = { status?: string; resources?: Resources; tables: string[] }
type Input = {
  ChangeSetType?: string
  TemplateBody?: string
  TemplateURL?: string
  Capabilities?: string[]
  ImportExistingResources?: boolean
}

const invalid = (message: string) => Object.assign(new Error(message), { name: 'ValidationError' })

/** CloudFormation and DynamoDB of an account with one stack at most. */
const account = (state: Account) => {
  const cloudformation = new CloudFormation({ region: 'eu-central-1' })
  const dynamodb = new DynamoDB({ region: 'eu-central-1' })
  let changeSet: { type: string; resources: Resources; failure?: string } | undefined

  const uploaded = new Map<string, string>()

  const createChangeSet = ({ ChangeSetType = '', ImportExistingResources, ...input }: Input) => {
    const { TemplateBody = uploaded.get(input.TemplateURL ?? '') ?? '', Capabilities = [] } = input
    if (input.TemplateBody !== undefined && TemplateBody.length > 51_200)
      throw invalid('templateBody is too long')
    const isNew = state.status === undefined || state.status === 'REVIEW_IN_PROGRESS'
    if (ChangeSetType === 'CREATE' && !isNew) throw invalid(`Stack [${STACK}] already exists`)
    if (ChangeSetType === 'UPDATE' && isNew) throw invalid(`Stack [${STACK}] does not exist`)
    if (!isNew && !/^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT)_COMPLETE$/.test(state.status ?? ''))
      throw invalid(`Stack is in ${state.status} state and can not be updated`)
    state.status ??= 'REVIEW_IN_PROGRESS'
    const { Resources } = JSON.parse(TemplateBody) as { Resources: Resources }
    const hasRoles = Object.values(Resources).some(({ Type }) => Type === 'AWS::IAM::Role')
    if (hasRoles && !Capabilities.includes('CAPABILITY_IAM')) throw invalid('Requires capabilities')
    changeSet = { type: ChangeSetType, resources: Resources }
    for (const [id, { DeletionPolicy = '', Properties }] of Object.entries(Resources)) {
      const { TableName } = Properties ?? {}
      if (typeof TableName !== 'string' || state.resources?.[id] !== undefined) continue
      const isImportable = ImportExistingResources && /^Retain(ExceptOnCreate)?$/.test(DeletionPolicy)
      if (state.tables.includes(TableName) && !isImportable) changeSet.failure = `${TableName} already exists`
    }
    for (const id of Object.keys(state.resources ?? {}))
      if (!(id in Resources)) changeSet.failure = `${id} would be deleted`
  }

  const answer = (command: string, input: object) => {
    switch (command) {
      case 'DescribeStacksCommand':
        if (state.status === undefined) throw invalid(`Stack with id ${STACK} does not exist`)
        return {
          Stacks: [
            { StackName: STACK, StackStatus: state.status, Outputs: state.resources && [BUCKET_NAME] },
          ],
        }
      case 'GetTemplateCommand':
        return { TemplateBody: JSON.stringify({ Resources: state.resources }) }
      case 'CreateChangeSetCommand':
        createChangeSet(input)
        return {}
      case 'DescribeChangeSetCommand':
        return { Status: changeSet?.failure === undefined ? 'CREATE_COMPLETE' : 'FAILED' }
      case 'ExecuteChangeSetCommand':
        Object.assign(state, { status: `${changeSet?.type}_COMPLETE`, resources: changeSet?.resources })
        return {}
      case 'DescribeTableCommand':
        if (state.tables.includes((input as { TableName: string }).TableName)) return {}
        throw new ResourceNotFoundException({ message: 'no such table', $metadata: {} })
      default:
        throw new Error(`${command} is not modelled`)
    }
  }
  for (const { middlewareStack } of [cloudformation, dynamodb])
    middlewareStack.add(
      (_next: unknown, { commandName = '' }: { commandName?: string }) =>
        async ({ input }: { input: object }) => ({
          output: answer(commandName, input) as never,
          response: {},
        }),
      { step: 'initialize' },
    )
  const upload = async (_bucket: string, key: string, body: string) => {
    uploaded.set(key, body)
    return key
  }
  return { cloudformation, dynamodb, upload }
}

const ordersTable = (name = 'orders') => {
  const orders = tablesOf({ prefix: 'order-relay-production-', ordersTable: name }).slice(1)
  return tableResources(orders) as Resources
}

const adopt = (state: Account, name?: string) => {
  const pack = async () => ({
    initial: JSON.stringify({ Resources: { Bucket: BUCKET } }),
    complete: JSON.stringify({ Resources: { Bucket: BUCKET, ...ordersTable(name), Other: {} } }),
  })
  return adoptOrders('production', { ...account(state), pack })
}

test.each<[string, Account, string]>([
  ['the stack was removed', { tables: [TABLE] }, 'CREATE_COMPLETE'],
  [
    'an earlier attempt left a stack in review',
    { status: 'REVIEW_IN_PROGRESS', tables: [TABLE] },
    'CREATE_COMPLETE',
  ],
  [
    'the first deployment failed and was rolled back',
    { status: 'UPDATE_ROLLBACK_COMPLETE', resources: { Bucket: BUCKET }, tables: [TABLE] },
    'UPDATE_COMPLETE',
  ],
])('the orders are adopted when %s', async (_when, state, status) => {
  await expect(adopt(state)).resolves.toMatch(/now contains the table order-relay-production-orders\. Next: /)
  expect(state.status).toBe(status)
  expect(Object.keys(state.resources ?? {})).toEqual(['Bucket', 'OrdersTable'])
  // A rollback of the import must not delete the orders.
  expect(state.resources?.OrdersTable?.DeletionPolicy).toBe('Retain')
})

test('a restored table is adopted beside the one it replaces, and protected by the next deployment', async () => {
  const resources = { Bucket: BUCKET, Role: ROLE, ...ordersTable() }
  const restored = `${TABLE}-2`
  const state: Account = { status: 'UPDATE_COMPLETE', resources, tables: [TABLE, restored] }
  await expect(adopt(state, 'orders-2')).resolves.toContain(`the table ${restored}.`)
  const id = Object.keys(state.resources ?? {}).at(-1) ?? ''
  const imported = state.resources?.[id]?.Properties
  expect(imported?.TableName).toBe(restored)
  // What a deployment does not find in the template before, it sets.
  const wanted = ordersTable('orders-2')[id]?.Properties ?? {}
  expect(Object.keys(wanted).filter(property => !(property in (imported ?? {})))).toEqual([
    'PointInTimeRecoverySpecification',
    'DeletionProtectionEnabled',
  ])
  // The next deployment releases the old table: it must stay.
  expect(state.resources?.OrdersTable?.DeletionPolicy).toBe('RetainExceptOnCreate')
})

test.each<[string, Account, RegExp]>([
  ['there is no table', { tables: [] }, /there is no table .*; run npx serverless deploy/],
  [
    'the stack contains them',
    { status: 'UPDATE_COMPLETE', resources: { Bucket: BUCKET, OrdersTable: {} }, tables: [TABLE] },
    /contains them; run npx serverless deploy/,
  ],
  [
    'the stack could not even be created',
    { status: 'ROLLBACK_COMPLETE', resources: {}, tables: [TABLE] },
    /is ROLLBACK_COMPLETE, .* run aws cloudformation delete-stack/,
  ],
  ['the stack changes', { status: 'UPDATE_IN_PROGRESS', tables: [TABLE] }, /wait until it ends/],
])('the orders are not adopted when %s, and the message says what to do', async (_when, state, message) => {
  await expect(adopt(state)).rejects.toThrow(message)
})
