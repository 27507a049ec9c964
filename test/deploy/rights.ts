import { runSimulation } from '@cloud-copilot/iam-simulate'
import type { FunctionName } from '../../proofs/crash/places.ts'
import type { Template } from './packaged.ts'
import { ACCOUNT, arn } from './resolve.ts'
import { type AwsCall, FUNCTIONS, idOf, type Uses } from './use.ts'

type Statement = Record<string, unknown>
type Policy = { Version: string; Statement: readonly Statement[] }

type Request = AwsCall & {
  /** The ARN of a role. */
  principal: string
  identity: Policy
}

/** Whether any statement is about an action. Most are about others, and the simulator takes its time for each. */
const mentions = ({ Statement }: Policy, action: string) =>
  Statement.some(({ Action }) =>
    listOf(Action).some(
      each => /[*?]/.test(String(each)) || String(each).toLowerCase() === action.toLowerCase(),
    ),
  )

const decisions = new Map<string, Promise<boolean>>()

/** Whether IAM allows a request; what IAM would refuse to store allows nothing. */
const isAllowed = (request: Request): Promise<boolean> => {
  const { principal, action, resource, identity } = request
  if (!mentions(identity, action)) return Promise.resolve(false)
  const key = JSON.stringify(request)
  const known = decisions.get(key)
  if (known !== undefined) return known
  const simulation = {
    request: { principal, action, resource: { resource, accountId: ACCOUNT }, contextVariables: {} },
    identityPolicies: [{ name: 'identity', policy: identity }],
    serviceControlPolicies: [],
    resourceControlPolicies: [],
  }
  const decision = runSimulation(simulation, {}).then(
    result => result.resultType !== 'error' && result.overallResult === 'Allowed',
  )
  decisions.set(key, decision)
  return decision
}

const listOf = <Value>(value: Value | readonly Value[] | undefined): readonly Value[] =>
  value === undefined ? [] : ([value].flat() as Value[])

export const policyOf = (...Statement: Statement[]): Policy => ({ Version: '2012-10-17', Statement })

/** What nothing of the stack may do, and what belongs to others. */
const DESTRUCTIVE = ['sqs:PurgeQueue', 'sqs:DeleteQueue', 'dynamodb:DeleteTable', 'dynamodb:DeleteItem']
const OTHERS = [
  arn('sqs', 'others.fifo'),
  arn('dynamodb', 'table/others'),
  arn('ssm', 'parameter/others'),
  arn('logs', 'log-group:others:log-stream:1'),
]

/** The resources of a type, with their ids. */
export const byType = (Resources: Template['Resources']) => {
  const grouped = Map.groupBy(Object.entries(Resources), ([, { Type }]) => Type)
  return (type: string) => grouped.get(type) ?? []
}

export const functionArn = (Resources: Template['Resources'], name: FunctionName) =>
  arn('lambda', `function:${Resources[`${idOf(name)}LambdaFunction`]?.Properties.FunctionName}`)

/** What invokes a function invokes its alias, if it has one. */
export const targetArn = (Resources: Template['Resources'], name: FunctionName) => {
  const alias = Resources[`${idOf(name)}LiveAlias`]
  return `${functionArn(Resources, name)}${alias === undefined ? '' : `:${alias.Properties.Name}`}`
}

/** What Lambda itself does with the role of a function: reads its queues, writes its log, sends its traces. */
const callsOfLambda = ({ Resources }: Template, name: FunctionName): AwsCall[] => {
  const self = targetArn(Resources, name)
  const group = `log-group:${Resources[`${idOf(name)}LogGroup`]?.Properties.LogGroupName}:log-stream:1`
  const sources = Object.values(Resources).filter(
    ({ Type, Properties }) => Type === 'AWS::Lambda::EventSourceMapping' && Properties.FunctionName === self,
  )
  return [
    ...sources.flatMap(({ Properties }) =>
      ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'].map(action => ({
        action: `sqs:${action}`,
        resource: String(Properties.EventSourceArn),
      })),
    ),
    ...['CreateLogStream', 'PutLogEvents'].map(action => ({
      action: `logs:${action}`,
      resource: arn('logs', group),
    })),
    ...['PutTraceSegments', 'PutTelemetryRecords'].map(action => ({
      action: `xray:${action}`,
      resource: '*',
    })),
  ]
}

const serviceOf = (action: string) => action.slice(0, action.indexOf(':'))

/** The feeds share a pattern: with an ARN for each of 400, the policies of a role would be too long. */
const kindOf = (resource: string) => resource.replace(/:feed-.*(?=\.fifo$)/, ':feed-*')

/** Where the role of a function allows less or more than the function does. */
const rightsOf = async (
  name: string,
  identity: Policy,
  calls: readonly AwsCall[],
  everyCall: readonly AwsCall[],
): Promise<string[]> => {
  const principal = arn('iam', `role/${name}Role`)
  const found: string[] = []
  for (const call of calls) {
    if (!(await isAllowed({ ...call, principal, identity })))
      found.push(`${name} may not ${call.action} on ${call.resource}, which it does`)
  }
  for (const { Effect, Action, Resource } of identity.Statement)
    for (const action of listOf(Action))
      for (const resource of listOf(Resource)) {
        const grant = policyOf({ Effect, Action: action, Resource: resource })
        const uses = await Promise.all(calls.map(call => isAllowed({ ...call, principal, identity: grant })))
        if (!uses.includes(true)) found.push(`${name} may ${action} on ${resource}, which it never does`)
      }
  if (found.length > 0) return found

  // What a pattern allows beyond what is done.
  const done = new Set(calls.map(({ action, resource }) => `${action} ${kindOf(resource)}`))
  for (const action of new Set([...everyCall.map(call => call.action), ...DESTRUCTIVE]))
    for (const resource of new Set([...everyCall.map(call => call.resource), ...OTHERS])) {
      if (done.has(`${action} ${kindOf(resource)}`) || serviceOf(action) !== resource.split(':')[2]) continue
      if (await isAllowed({ action, resource, principal, identity }))
        found.push(`${name} may ${action} on ${resource}, which it never does`)
    }
  return found
}

const decided = new Map<string, Promise<string[]>>()

/** The simulator takes the ARN of an alias for that of a version as well, and refuses to decide. */
const AMBIGUOUS = 'lambda:GetProvisionedConcurrencyConfig'

/** What CodeDeploy does with its role to move the aliases: what AWS's own policy for it allows, without hooks. */
const callsOfCodeDeploy = ({ Resources }: Template): AwsCall[] => {
  const shifted = FUNCTIONS.filter(name => `${idOf(name)}LiveAlias` in Resources)
  return [
    ...shifted.flatMap(name => [
      { action: 'lambda:GetAlias', resource: functionArn(Resources, name) },
      { action: 'lambda:UpdateAlias', resource: functionArn(Resources, name) },
    ]),
    {
      action: 'cloudwatch:DescribeAlarms',
      resource: arn('cloudwatch', 'alarm:order-relay-crash-worker-errors'),
    },
  ]
}

/** Where the roles of the functions and of CodeDeploy allow less or more than these do. */
export async function* rightsViolations(template: Template, uses: Uses) {
  const users = [
    ...FUNCTIONS.map(name => [idOf(name), [...uses[name].calls, ...callsOfLambda(template, name)]] as const),
    ['Shift', callsOfCodeDeploy(template)] as const,
  ]
  const everyCall = users.flatMap(([, calls]) => calls)
  for (const [name, calls] of users) {
    const role = template.Resources[`${name}Role`]
    const documents = listOf(role?.Properties.Policies as { PolicyDocument: Policy }[] | undefined)
    const statements = documents.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    const identity = policyOf(...statements.filter(({ Action }) => !listOf(Action).includes(AMBIGUOUS)))
    const key = JSON.stringify([name, identity, calls])
    const found = decided.get(key) ?? rightsOf(name, identity, calls, everyCall)
    decided.set(key, found)
    yield* await found
  }
}
