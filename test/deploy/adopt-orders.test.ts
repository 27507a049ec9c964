import { CloudFormation } from '@aws-sdk/client-cloudformation'
import { DynamoDB, ResourceNotFoundException } from '@aws-sdk/client-dynamodb'
import { expect, test } from '@jest/globals'
import { adoptOrders } from '../../deploy/adopt-orders.ts'
import { tableResources, tablesOf } from '../../deploy/tables.ts'

// A model of CloudFormation's documented rules, for stack states that deployment.ts does not reach. See "Import AWS
// resources into a CloudFormation stack automatically", "CreateChangeSet" and "Stack status codes".

const STACK = 'order-relay-production'
const TABLE = 'order-relay-production-orders'
const BUCKET = { Type: 'AWS::S3::Bucket' }
const BUCKET_NAME = { OutputKey: 'ServerlessDeploymentBucketName', OutputValue: 'bucket' }
/** As long as complete stacks. */
const ROLE = { Type: 'AWS::IAM::Role', Properties: { Description: 'x'.repeat(60_000) } }

type Resources = Record<
  string,
  { Type?: string; DeletionPolicy?: string; Properties?: Record<string, unknown> }
>
/** An account with at most one stack. */
type Account = { status?: string; resources?: Resources; tables: string[] }
type Input = Partial<Record<'ChangeSetType' | 'TemplateBody' | 'TemplateURL' | 'TableName', string>> & {
  Capabilities?: string[]
  ImportExistingResources?: boolean
}

const invalid = (message: string) => Object.assign(new Error(message), { name: 'ValidationError' })

const ordersTable = (ordersTable = 'orders') =>
  tableResources(tablesOf({ prefix: 'order-relay-production-', ordersTable }).slice(1)) as Resources

const adopt = (state: Account, name?: string) => {
  let changes: { status: string; resources: Resources } | undefined
  let isRefused = false
  const uploaded = new Map<string | undefined, string>()

  const answers: Readonly<Record<string, (input: Input) => object>> = {
    DescribeStacksCommand() {
      if (state.status === undefined) throw invalid(`Stack with id ${STACK} does not exist`)
      const Outputs = state.resources && [BUCKET_NAME]
      return { Stacks: [{ StackName: STACK, StackStatus: state.status, Outputs }] }
    },
    GetTemplateCommand: () => ({ TemplateBody: JSON.stringify({ Resources: state.resources }) }),
    CreateChangeSetCommand({ ChangeSetType, TemplateBody = '', TemplateURL, ...input }) {
      if (TemplateBody.length > 51_200) throw invalid('templateBody is too long')
      const isNew = state.status === undefined || state.status === 'REVIEW_IN_PROGRESS'
      if (ChangeSetType !== (isNew ? 'CREATE' : 'UPDATE'))
        throw invalid(`Stack [${STACK}] is ${state.status}`)
      if (!isNew && !/^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT)_COMPLETE$/.test(state.status ?? ''))
        throw invalid(`Stack is in ${state.status} state and can not be updated`)
      state.status ??= 'REVIEW_IN_PROGRESS'
      const resources: Resources = JSON.parse(uploaded.get(TemplateURL) ?? TemplateBody).Resources
      const hasRoles = Object.values(resources).some(({ Type }) => Type === 'AWS::IAM::Role')
      if (hasRoles && !input.Capabilities?.includes('CAPABILITY_IAM')) throw invalid('Requires capabilities')
      const known = Object.keys(state.resources ?? {})
      // An existing table can only be imported, and the import must not delete anything.
      const conflicts = Object.entries(resources).filter(
        ([id, { DeletionPolicy = '', Properties }]) =>
          state.tables.includes(String(Properties?.TableName)) &&
          !known.includes(id) &&
          !(input.ImportExistingResources && /^Retain(ExceptOnCreate)?$/.test(DeletionPolicy)),
      )
      isRefused = conflicts.length > 0 || known.some(id => !(id in resources))
      changes = { status: `${ChangeSetType}_COMPLETE`, resources }
      return {}
    },
    DescribeChangeSetCommand: () => ({ Status: isRefused ? 'FAILED' : 'CREATE_COMPLETE' }),
    ExecuteChangeSetCommand: () => Object.assign(state, changes),
    DescribeTableCommand({ TableName = '' }) {
      if (state.tables.includes(TableName)) return {}
      throw new ResourceNotFoundException({ message: 'no such table', $metadata: {} })
    },
  }
  const clients = {
    cloudformation: new CloudFormation({ region: 'eu-central-1' }),
    dynamodb: new DynamoDB({ region: 'eu-central-1' }),
  }
  for (const { middlewareStack } of Object.values(clients))
    middlewareStack.add(
      (_next: unknown, { commandName = '' }: { commandName?: string }) =>
        async ({ input }: { input: object }) => ({
          output: answers[commandName]?.(input) as never,
          response: {},
        }),
      { step: 'initialize' },
    )
  return adoptOrders('production', {
    ...clients,
    pack: async () => ({
      initial: JSON.stringify({ Resources: { Bucket: BUCKET } }),
      complete: JSON.stringify({ Resources: { Bucket: BUCKET, ...ordersTable(name), Other: {} } }),
    }),
    upload: async (_bucket, key, body) => {
      uploaded.set(key, body)
      return key
    },
  })
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
])('adopts the orders when %s', async (_when, state, status) => {
  await expect(adopt(state)).resolves.toMatch(/now contains the table order-relay-production-orders\. Next: /)
  expect(state.status).toBe(status)
  expect(Object.keys(state.resources ?? {})).toEqual(['Bucket', 'OrdersTable'])
  // A rollback of the import must not delete the orders.
  expect(state.resources?.OrdersTable?.DeletionPolicy).toBe('Retain')
})

test('adopts the registrations as well, if they remained', async () => {
  const registrations = 'order-relay-production-registrations'
  const state: Account = { tables: [TABLE, registrations] }
  await expect(adopt(state)).resolves.toContain(`the tables ${TABLE} and ${registrations}.`)
  expect(Object.keys(state.resources ?? {})).toEqual(['Bucket', 'OrdersTable', 'RegistrationsTable'])
  expect(state.resources?.RegistrationsTable?.DeletionPolicy).toBe('Retain')
})

test('adopts a restored table alongside the old one; the next deployment protects it', async () => {
  const resources = { Bucket: BUCKET, Role: ROLE, ...ordersTable() }
  const restored = `${TABLE}-2`
  const state: Account = { status: 'UPDATE_COMPLETE', resources, tables: [TABLE, restored] }
  await expect(adopt(state, 'orders-2')).resolves.toContain(`the table ${restored}.`)
  const [id = '', imported] = Object.entries(state.resources ?? {}).at(-1) ?? []
  expect(imported?.Properties?.TableName).toBe(restored)
  // A deployment sets everything that the previous template lacks.
  const wanted = Object.keys(ordersTable('orders-2')[id]?.Properties ?? {})
  expect(wanted.filter(property => !(property in (imported?.Properties ?? {})))).toEqual([
    'PointInTimeRecoverySpecification',
    'DeletionProtectionEnabled',
    'TimeToLiveSpecification',
  ])
  // The next deployment releases the old table, which must be retained.
  expect(state.resources?.OrdersTable?.DeletionPolicy).toBe('Retain')
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
  ['the stack changes', { status: 'UPDATE_IN_PROGRESS', tables: [TABLE] }, /wait until this operation ends/],
])('does not adopt the orders when %s, and prints the remedy', async (_when, state, message) => {
  await expect(adopt(state)).rejects.toThrow(message)
})
