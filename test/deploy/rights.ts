import { runSimulation } from '@cloud-copilot/iam-simulate'
import { covers } from './policies.ts'
import {
  ACCOUNT,
  aliasOf,
  arn,
  BOUNDARY,
  FUNCTIONS,
  type FunctionName,
  functionOf,
  idOf,
  ofType,
  type PolicyDocument,
  type Resolved,
  VAULTS,
} from './resolve.ts'
import { applies } from './simulate.ts'
import type { AwsCall, Uses } from './use.ts'

type Request = AwsCall & {
  /** The ARN of a role. */
  principal: string
  identity: PolicyDocument
}

/** Whether IAM allows a request; an invalid policy allows nothing. */
const isAllowed = async ({ principal, action, resource, identity }: Request): Promise<boolean> => {
  // Filters the statements, since the simulator is slow for each of them.
  const Statement = identity.Statement.filter(({ Action }) => Action.some(each => covers(each, action)))
  if (Statement.length === 0) return false
  const simulation = {
    request: { principal, action, resource: { resource, accountId: ACCOUNT }, contextVariables: {} },
    identityPolicies: [{ name: 'identity', policy: policyOf(...Statement) }],
    serviceControlPolicies: [],
    resourceControlPolicies: [],
  }
  const result = await runSimulation(simulation, {})
  return result.resultType !== 'error' && result.overallResult === 'Allowed'
}

const policyOf = (...Statement: object[]) => ({ Version: '2012-10-17', Statement })

/** Requests that no role of the stack may make, and resources of others. */
const DESTRUCTIVE = ['sqs:PurgeQueue', 'sqs:DeleteQueue', 'dynamodb:DeleteTable', 'dynamodb:DeleteItem']
const OTHERS = [
  arn('sqs', 'order-relay-other-orders.fifo'),
  arn('sqs', 'order-relay-other-feed-shop.fifo'),
  arn('dynamodb', 'table/order-relay-other-orders'),
  arn('sqs', 'others.fifo'),
  arn('dynamodb', 'table/others'),
  arn('ssm', 'parameter/others'),
  arn('logs', 'log-group:others:log-stream:1'),
]

/** Lambda's own requests with a function's role: reading queues, writing the log, sending traces. */
const callsOfLambda = (template: Resolved, name: FunctionName): AwsCall[] => {
  const { arn: self } = aliasOf(template, name)
  const group = arn('logs', `log-group:/aws/lambda/${functionOf(template, name).name}:log-stream:1`)
  const sources = ofType(template, 'AWS::Lambda::EventSourceMapping').filter(
    ({ Properties }) => Properties.FunctionName === self,
  )
  return [
    ...sources.flatMap(({ Properties: { EventSourceArn: resource } }) =>
      ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'].map(each => ({
        action: `sqs:${each}`,
        resource,
      })),
    ),
    ...['CreateLogStream', 'PutLogEvents'].map(each => ({ action: `logs:${each}`, resource: group })),
    ...['PutTraceSegments', 'PutTelemetryRecords'].map(each => ({ action: `xray:${each}`, resource: '*' })),
  ]
}

const serviceOf = (action: string) => action.slice(0, action.indexOf(':'))

/** The feeds share a pattern: with an ARN for each of 400, the policies of a role would be too long. */
const kindOf = (resource: string) => resource.replace(/-feed-.*(?=\.fifo$)/, '-feed-*')

/** Missing and unused rights of a function's role. */
export const rightsOf = async (
  name: string,
  identity: PolicyDocument,
  calls: readonly AwsCall[],
  everyCall: readonly AwsCall[],
): Promise<string[]> => {
  const principal = arn('iam', `role/${name}Role`)
  const found: string[] = []
  for (const call of calls) {
    if (!(await isAllowed({ ...call, principal, identity })))
      found.push(`${name} may not ${call.action} on ${call.resource}, which it does`)
  }
  for (const statement of identity.Statement)
    for (const action of statement.Action)
      for (const resource of statement.Resource) {
        const grant = { Statement: [{ ...statement, Action: [action], Resource: [resource] }] }
        const uses = await Promise.all(calls.map(call => isAllowed({ ...call, principal, identity: grant })))
        if (!uses.includes(true)) found.push(`${name} may ${action} on ${resource}, which it never does`)
      }
  if (found.length > 0) return found

  // Rights of a pattern that exceed the use.
  const done = new Set(calls.map(({ action, resource }) => `${action} ${kindOf(resource)}`))
  for (const action of new Set([...everyCall.map(call => call.action), ...DESTRUCTIVE]))
    for (const resource of new Set([...everyCall.map(call => call.resource), ...OTHERS])) {
      if (done.has(`${action} ${kindOf(resource)}`) || serviceOf(action) !== resource.split(':')[2]) continue
      if (await isAllowed({ action, resource, principal, identity }))
        found.push(`${name} may ${action} on ${resource}, which it never does`)
    }
  return found
}

/** The simulator confuses the ARN of an alias with that of a version and refuses to decide. */
const AMBIGUOUS = 'lambda:GetProvisionedConcurrencyConfig'

/** CodeDeploy's requests to move the aliases: those of AWS's managed policy, without hooks. */
const callsOfCodeDeploy = (template: Resolved): AwsCall[] => [
  ...ofType(template, 'AWS::Lambda::Alias').flatMap(({ Properties: { FunctionName } }) =>
    ['lambda:GetAlias', 'lambda:UpdateAlias'].map(action => ({
      action,
      resource: arn('lambda', `function:${FunctionName}`),
    })),
  ),
  ...ofType(template, 'AWS::CodeDeploy::DeploymentGroup').flatMap(
    ({ Properties: { AlarmConfiguration } }) =>
      AlarmConfiguration?.Alarms.map(({ Name }) => ({
        action: 'cloudwatch:DescribeAlarms',
        resource: arn('cloudwatch', `alarm:${Name}`),
      })) ?? [],
  ),
]

/** AWS Backup's requests: those of AWS's managed policy for tables and copies. */
const callsOfBackup = (template: Resolved): AwsCall[] => [
  ...ofType(template, 'AWS::DynamoDB::Table')
    .filter(({ DeletionPolicy }) => DeletionPolicy === 'Retain')
    .flatMap(({ arn: resource }) =>
      ['CreateBackup', 'DescribeTable', 'ListTagsOfResource', 'StartAwsBackupJob'].map(each => ({
        action: `dynamodb:${each}`,
        resource,
      })),
    ),
  ...VAULTS.flatMap(resource =>
    ['CopyIntoBackupVault', 'DescribeBackupVault'].map(each => ({ action: `backup:${each}`, resource })),
  ),
  { action: 'backup:TagResource', resource: arn('backup', 'recovery-point:1') },
]

/** A cache: simulating all roles takes a quarter of a second, and an altered template differs in only one. */
const decided = new Map<string, Promise<string[]>>()

/** What the permissions boundary of docs/iam denies to the roles, or allows to none of them. */
function* boundaryViolations({ Statement }: PolicyDocument, calls: readonly AwsCall[]) {
  const isWithin = (statement: PolicyDocument['Statement'][number]) => (call: AwsCall) =>
    applies(statement, { ...call, context: {} })
  for (const call of calls)
    if (!Statement.some(statement => isWithin(statement)(call)))
      yield `the boundary denies ${call.action} on ${call.resource}`
  for (const statement of Statement)
    for (const Action of statement.Action)
      if (Action.includes('*') || !calls.some(isWithin({ ...statement, Action: [Action] })))
        yield `the boundary allows ${Action}, which no role needs`
}

/** Missing and unused rights of the roles of the functions, CodeDeploy and AWS Backup. */
export async function* rightsViolations(template: Resolved, uses: Uses, boundary: PolicyDocument) {
  const users = [
    ...FUNCTIONS.map(name => [idOf(name), [...uses[name].calls, ...callsOfLambda(template, name)]] as const),
    ['Shift', callsOfCodeDeploy(template)] as const,
    ['Backup', callsOfBackup(template)] as const,
  ]
  const everyCall = users.flatMap(([, calls]) => calls)
  const ofVersions = ofType(template, 'AWS::Lambda::Version').map(({ arn: resource }) => ({
    action: AMBIGUOUS,
    resource,
  }))
  yield* boundaryViolations(boundary, [...everyCall, ...ofVersions])
  for (const { id, Properties } of ofType(template, 'AWS::IAM::Role'))
    if (Properties.PermissionsBoundary !== BOUNDARY) yield `${id}: has no permissions boundary`
  for (const [name, calls] of users) {
    const role = template.resources.find(({ id }) => id === `${name}Role`)
    const statements = (role?.Properties.Policies ?? []).flatMap(
      ({ PolicyDocument }) => PolicyDocument.Statement,
    )
    const Statement = statements.filter(({ Action }) => !Action.includes(AMBIGUOUS))
    const key = JSON.stringify([name, Statement, calls])
    const found = decided.get(key) ?? rightsOf(name, { Statement }, calls, everyCall)
    decided.set(key, found)
    yield* await found
  }
}
