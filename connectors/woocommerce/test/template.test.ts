import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { copyProject } from '@order-relay/test-support/project.ts'
import { must, serverless } from '../../../test/deploy/serverless.ts'
import { alter, collect } from '../../../test/deploy/template/alter.ts'
import { tlsOnly } from '../../../test/deploy/template/permissions/policies.ts'
import { rightsOf } from '../../../test/deploy/template/permissions/roles.ts'
import { arn, ofType, resolved, STAGE } from '../../../test/deploy/template/resolve.ts'
import type { Template } from '../../../test/deploy/template/template-schema.ts'
import type { AwsCall } from '../../../test/deploy/template/use.ts'
import { namesOf, TABLE_SCHEMA } from '../lib/names.ts'
import { PATHS } from '../lib/receiver.ts'
import { BOUNDARY, disputed, policyViolations, storedPolicies } from './policies.ts'
import { callsOfLambda, functionOf, recordUses } from './uses.ts'

const NAMES = namesOf(STAGE)
const FUNCTIONS = ['Receiver', 'Sync', 'Poll'] as const

const folder = useFolder()
const stored = storedPolicies()
let policies = stored
let template: Template
let uses: Readonly<Record<(typeof FUNCTIONS)[number], readonly AwsCall[]>>

/** What the code relies on but the template does not provide. */
async function* violations({ Resources, Outputs }: Template): AsyncGenerator<string> {
  const stack = resolved({ Resources, Outputs }, NAMES.stack)
  yield* tlsOnly(stack)

  // Rights.
  const users = FUNCTIONS.map(name => [name, [...uses[name], ...callsOfLambda(stack, name)]] as const)
  const everyCall = users.flatMap(([, calls]) => calls)
  yield* policyViolations({ Resources, Outputs }, everyCall, policies)
  for (const [name, calls] of users) {
    const own = functionOf(stack, name)
    const role = stack.resources.find(({ id }) => id === `${name}Role`)
    if (role === undefined || !own.Properties.Role.includes(role.name)) yield `${name}: has another role`
    const Statement = (role?.Properties.Policies ?? []).flatMap(
      ({ PolicyDocument }) => PolicyDocument.Statement,
    )
    yield* rightsOf(name, { Statement }, calls, everyCall)
    if (!JSON.stringify(role?.Properties.AssumeRolePolicyDocument).includes('"lambda.amazonaws.com"'))
      yield `${name}: its role is not for Lambda`
    if (!stack.resources.some(({ name: group }) => group === `/aws/lambda/${own.name}`))
      yield `${name}: has no log group`
    const { TABLE, CONNECTIONS_PATH, QUEUE_URL = '' } = own.Properties.Environment.Variables
    if (TABLE !== NAMES.table || CONNECTIONS_PATH !== NAMES.path || !QUEUE_URL.endsWith(`/${NAMES.queue}`))
      yield `${name}: does not use the table, path and queue of the commands`
  }

  // Names, which must differ between stages.
  for (const { id, type, name } of stack.resources)
    if (/::(Queue|Table|Topic|Alarm|Function)$/.test(type) && !name.startsWith(NAMES.stack))
      yield `${id}: another stage could have its name`

  // The queue, its dead letters and its consumer.
  const queues = ofType(stack, 'AWS::SQS::Queue')
  const [events, dead] = ['Events', 'Dead'].map(id => queues.find(each => each.id === id))
  if (events === undefined || dead === undefined) return yield 'there is no queue or no dead-letter queue'
  for (const { id, name, UpdateReplacePolicy, Properties } of [events, dead]) {
    if (!Properties.FifoQueue || !name.endsWith('.fifo')) yield `${id}: is not FIFO`
    if (Properties.MessageRetentionPeriod !== 1_209_600) yield `${id}: keeps messages for less than 14 days`
    if (UpdateReplacePolicy !== 'Retain') yield `${id}: is deleted when its name changes`
    if (Properties.SqsManagedSseEnabled !== true) yield `${id}: is not encrypted`
  }
  if (events.Properties.RedrivePolicy?.deadLetterTargetArn !== dead.arn) yield 'Events: has no dead letters'
  if (String(dead.Properties.RedriveAllowPolicy?.sourceQueueArns) !== events.arn)
    yield 'Dead: accepts dead letters of other queues'
  if (events.Properties.DeduplicationScope !== 'messageGroup') yield 'Events: deduplicates across orders'
  const sync = functionOf(stack, 'Sync')
  const mappings = ofType(stack, 'AWS::Lambda::EventSourceMapping')
  const [mapping] = mappings
  if (mappings.length !== 1 || mapping?.Properties.FunctionName !== sync.arn)
    yield 'Sync: is not the only reader of the queue'
  if (String(mapping?.Properties.FunctionResponseTypes) !== 'ReportBatchItemFailures')
    yield 'Sync: deletes the messages that it fails to handle'
  if (events.Properties.VisibilityTimeout !== 6 * sync.Properties.Timeout)
    yield 'Events: its visibility timeout is not six times that of Sync'

  // The table.
  const [table] = ofType(stack, 'AWS::DynamoDB::Table')
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes } = table?.Properties ?? {}
  const indexes = GlobalSecondaryIndexes?.map(({ Projection: { ProjectionType }, ...index }) => ({
    ...index,
    Projection: { ProjectionType },
  }))
  const schema = { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes: indexes }
  if (table?.name !== NAMES.table || JSON.stringify(schema) !== JSON.stringify(TABLE_SCHEMA))
    yield 'Shops: its keys differ from those in the code'
  if (table?.DeletionPolicy !== 'Retain' || table.Properties.DeletionProtectionEnabled !== true)
    yield 'Shops: can be deleted'

  // Triggers.
  const permissions = ofType(stack, 'AWS::Lambda::Permission').map(({ Properties }) => Properties)
  const isInvoked = (target: string, by: string, source: string) =>
    permissions.some(
      ({ FunctionName, Principal, SourceArn }) =>
        `${FunctionName} ${Principal} ${SourceArn}` === `${target} ${by}.amazonaws.com ${source}`,
    )
  const poll = functionOf(stack, 'Poll')
  const [rule] = ofType(stack, 'AWS::Events::Rule')
  if (rule?.Properties.ScheduleExpression !== 'rate(2 minutes)' || rule.Properties.State !== 'ENABLED')
    yield 'Poll: does not run every two minutes'
  if (rule === undefined || !isInvoked(poll.arn, 'events', rule.arn)) yield 'Poll: is not invoked'
  const receive = functionOf(stack, 'Receiver')
  const keys = ofType(stack, 'AWS::ApiGatewayV2::Route').map(({ Properties }) => Properties.RouteKey)
  if (
    String(keys.toSorted()) !==
    String(
      Object.values(PATHS)
        .map(path => `POST ${path}{connection}`)
        .toSorted(),
    )
  )
    yield 'Receiver: does not have the paths that connect registers'
  const [api] = ofType(stack, 'AWS::ApiGatewayV2::Api')
  if (!isInvoked(receive.arn, 'apigateway', arn('execute-api', `${api?.ref}/*`)))
    yield 'Receiver: is not invoked'
  const [integration] = ofType(stack, 'AWS::ApiGatewayV2::Integration')
  if (integration?.Properties.IntegrationUri !== receive.arn) yield 'Receiver: the routes invoke another one'

  // Alarms: each monitors a resource of the stack and notifies the topic.
  const [topic] = ofType(stack, 'AWS::SNS::Topic')
  const watched = ofType(stack, 'AWS::CloudWatch::Alarm').map(({ id, Properties }) => {
    const { MetricName, Dimensions, AlarmActions, ActionsEnabled = true } = Properties
    const missing = Properties.TreatMissingData === 'breaching' ? ' or nothing' : ''
    return {
      id,
      of: `${Properties.ComparisonOperator} ${MetricName}${missing} ${Dimensions[0]?.Value}`,
      notifies: String(AlarmActions) === topic?.ref && ActionsEnabled === true,
    }
  })
  for (const { id, notifies } of watched) if (!notifies) yield `${id}: notifies no topic`
  for (const metric of [
    `GreaterThanThreshold ApproximateNumberOfMessagesVisible ${dead.name}`,
    `GreaterThanThreshold ApproximateAgeOfOldestMessage ${events.name}`,
    `GreaterThanThreshold Errors ${poll.name}`,
    `LessThanThreshold Invocations or nothing ${poll.name}`,
  ])
    if (!watched.some(({ of }) => of === metric)) yield `no alarm watches ${metric}`
  const admitted = ofType(stack, 'AWS::SNS::TopicPolicy').flatMap(
    ({ Properties }) => Properties.PolicyDocument?.Statement ?? [],
  )
  if (
    !admitted.some(
      ({ Effect, Principal, Action }) =>
        Effect === 'Allow' && /cloudwatch/.test(JSON.stringify(Principal)) && Action.includes('sns:Publish'),
    )
  )
    yield 'AlarmTopic: CloudWatch cannot publish'
}

const found = (altered: Template) => collect(violations(altered))

beforeAll(async () => {
  const project = join(folder(), 'project')
  await copyProject(project)
  const connector = join(project, 'connectors/woocommerce')
  const environment = { ...process.env, ALARM_EMAIL: 'somebody@example.com', PERMISSIONS_BOUNDARY: BOUNDARY }
  await must('serverless package', serverless(connector, environment, 'package', '--stage', STAGE))
  const file = join(connector, '.serverless/cloudformation-template-update-stack.json')
  template = JSON.parse(await readFile(file, 'utf8'))
  uses = await recordUses(resolved(template, NAMES.stack))
}, 120_000)

test('each role allows exactly what its function uses; queue, table, triggers and alarms match the code', async () => {
  expect(await found(template)).toEqual([])
})

test('iam-simulate agrees with these tests about the permissions of a deployer', async () => {
  expect(await collect(disputed(template, stored))).toEqual([])
})

test('records every AWS call that sync can make', () => {
  expect(uses.Sync.map(({ action }) => action).toSorted()).toEqual([
    ...['dynamodb:GetItem', 'dynamodb:PutItem', 'sqs:ChangeMessageVisibility', 'ssm:GetParametersByPath'],
  ])
})

/** A change in the text of a resource, and the expected violation. */
test.each([
  ['SyncRole', '"sqs:ChangeMessageVisibility"', '"sqs:ChangeMessage"', 'Sync may not sqs:ChangeMessageVis'],
  ['SyncRole', '"sqs:DeleteMessage"', '"sqs:Delete"', 'Sync may not sqs:DeleteMessage'],
  ['SyncRole', '"dynamodb:PutItem"', '"dynamodb:Put"', 'Sync may not dynamodb:PutItem'],
  ['SyncRole', '"dynamodb:PutItem"', '"dynamodb:PutItem","dynamodb:DeleteItem"', 'which it never does'],
  ['SyncRole', '"ssm:GetParametersByPath"', '"ssm:GetParameter"', 'Sync may not ssm:GetParametersByPath'],
  ['ReceiverRole', '"sqs:SendMessage"', '"sqs:Send"', 'Receiver may not sqs:SendMessage'],
  ['PollRole', '"sqs:SendMessage"', '"sqs:Send"', 'Poll may not sqs:SendMessage'],
  ['PollRole', '"dynamodb:GetItem"', '"dynamodb:Get"', 'Poll may not dynamodb:GetItem'],
  ['PollRole', '"logs:PutLogEvents"', '"logs:Put"', 'Poll may not logs:PutLogEvents'],
  ['PollRole', BOUNDARY, `${BOUNDARY}s`, 'PollRole: has no permissions boundary'],
  ['PollRole', '/order-relay-woocommerce/crash/', '/', 'the deployer may not iam:CreateRole'],
  ['Dead', 'woocommerce-crash-dead', 'woocommerce-crash-lost', 'the deployer may not sqs:CreateQueue'],
  ['PollRole', 'lambda.amazonaws', 'events.amazonaws', 'its role is not for Lambda'],
  ['Events', '"FifoQueue":true', '"FifoQueue":false', 'Events: is not FIFO'],
  ['Events', '"Dead"', '"Shops"', 'Events: has no dead letters'],
  ['Events', '"VisibilityTimeout":720', '"VisibilityTimeout":30', 'visibility timeout is not six times'],
  ['Events', '"Retain"', '"Delete"', 'Events: is deleted when its name changes'],
  ['Dead', 'crash.fifo', 'other.fifo', 'Dead: accepts dead letters of other queues'],
  ['QueuePolicy', '"sqs:*"', '"sqs:SendMessage"', 'does not deny requests to it without TLS'],
  ['SyncEventSourceMappingSQSEvents', '"ReportBatchItemFailures"', '', 'deletes the messages that it fails'],
  ['Shops', '"Retain"', '"Delete"', 'Shops: can be deleted'],
  ['Shops', '"since"', '"at"', 'Shops: its keys differ'],
  ['PollEventsRuleSchedule1', 'rate(2 minutes)', 'rate(2 hours)', 'does not run every two minutes'],
  ['ReceiverLambdaPermissionHttpApi', 'ReceiverLambda', 'SyncLambda', 'Receiver: is not invoked'],
  ['HttpApiRoutePostFeedConnectionVar', '/feed/', '/feeds/', 'does not have the paths'],
  ['DeadLetters', '"Dead"', '"Events"', 'no alarm watches GreaterThanThreshold ApproximateNumberOf'],
  ['PollStopped', '"breaching"', '"notBreaching"', 'no alarm watches LessThanThreshold Invocations'],
  ['NotPolled', '"Errors"', '"Duration"', 'no alarm watches GreaterThanThreshold Errors'],
  ['OldEvents', 'AlarmActions', 'OKActions', 'OldEvents: notifies no topic'],
  ['AlarmTopicPolicy', 'cloudwatch.amazonaws', 'events.amazonaws', 'CloudWatch cannot publish'],
  ['Dead', 'order-relay-woocommerce-crash-dead', 'woocommerce-dead', 'another stage could have its name'],
  [
    'SyncLambdaFunction',
    '/order-relay-woocommerce/crash',
    '/woocommerce',
    'does not use the table, path and queue',
  ],
])('detects a change of %s from %s to %s', async (id, from, to, expected) => {
  const altered = { ...template, Resources: alter(template.Resources, id, from, to) }
  expect(await found(altered)).toContainEqual(expect.stringContaining(expected))
})

/** A change of a policy of docs/iam, and the expected violation. */
test.each<['deployer' | 'boundary', string, string, string]>([
  ['deployer', '"sqs:SetQueueAttributes"', '"sqs:SetQueue"', 'the deployer may not sqs:SetQueueAttributes'],
  [
    'deployer',
    '"sqs:CreateQueue"',
    '"sqs:CreateQueue","sqs:PurgeQueue"',
    'may sqs:PurgeQueue, which nothing',
  ],
  [
    'deployer',
    'function:order-relay-woocommerce-crash-sync"',
    'function:order-relay-woocommerce-*"',
    'of other stages',
  ],
  ['deployer', '"iam:PermissionsBoundary"', '"iam:Boundary"', 'the deployer may not iam:CreateRole'],
  ['boundary', '"dynamodb:Query"', '"dynamodb:Scan"', 'the boundary lacks dynamodb:Query'],
  ['boundary', '"dynamodb:Query"', '"dynamodb:Query","dynamodb:Scan"', 'has dynamodb:Scan, which nothing'],
])('detects a change of the policy %s from %s to %s', async (name, from, to, expected) => {
  policies = alter(stored, name, from, to)
  try {
    expect(await found(template)).toContainEqual(expect.stringContaining(expected))
  } finally {
    policies = stored
  }
})
