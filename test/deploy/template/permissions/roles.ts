import type { Checked } from '../checked.ts'
import {
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
} from '../resolve.ts'
import type { AwsCall } from '../use.ts'
import { applies, simulated } from './simulate.ts'

const isAllowed = async (policy: PolicyDocument, call: AwsCall): Promise<boolean> =>
  (await simulated(policy, { ...call, context: {} })) === true

const callsOn = (resource: string, service: string, ...actions: string[]): AwsCall[] =>
  actions.map(action => ({ action: `${service}:${action}`, resource }))

/** Lambda's own calls with a function's role: reading queues, writing the log, sending traces. */
const callsOfLambda = (template: Resolved, name: FunctionName): AwsCall[] => {
  const { arn: self } = aliasOf(template, name)
  const log = arn('logs', `log-group:/aws/lambda/${functionOf(template, name).name}:log-stream:1`)
  const queues = ofType(template, 'AWS::Lambda::EventSourceMapping').flatMap(
    ({ Properties: { FunctionName, EventSourceArn } }) => (FunctionName === self ? EventSourceArn : []),
  )
  return [
    ...queues.flatMap(queue =>
      callsOn(queue, 'sqs', 'ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'),
    ),
    ...callsOn(log, 'logs', 'CreateLogStream', 'PutLogEvents'),
    ...callsOn('*', 'xray', 'PutTraceSegments', 'PutTelemetryRecords'),
  ]
}

/** The feeds share a pattern: with an ARN for each of 400, the policies of a role would be too long. */
const kindOf = (resource: string) => resource.replace(/-feed-.*(?=\.fifo$)/, '-feed-*')

/** Missing and unused rights of a role. */
export async function* rightsOf(
  name: string,
  identity: PolicyDocument,
  calls: readonly AwsCall[],
  everyCall: readonly AwsCall[],
) {
  for (const call of calls)
    if (!(await isAllowed(identity, call)))
      yield `${name} may not ${call.action} on ${call.resource}, which it does`
  for (const statement of identity.Statement)
    for (const action of statement.Action)
      for (const resource of statement.Resource) {
        const right = { Statement: [{ ...statement, Action: [action], Resource: [resource] }] }
        const uses = await Promise.all(calls.map(call => isAllowed(right, call)))
        if (action.includes('*') || !uses.includes(true))
          yield `${name} may ${action} on ${resource}, which it never does`
      }
  // Rights of a pattern that exceed the use.
  const done = new Set(calls.map(({ action, resource }) => `${action} ${kindOf(resource)}`))
  for (const action of new Set(everyCall.map(call => call.action)))
    for (const resource of new Set(everyCall.map(call => call.resource))) {
      const isOfService = action.split(':')[0] === resource.split(':')[2]
      if (done.has(`${action} ${kindOf(resource)}`) || !isOfService) continue
      if (await isAllowed(identity, { action, resource }))
        yield `${name} may ${action} on ${resource}, which it never does`
    }
}

const statementsOf = ({ Properties }: Resolved['resources'][number]) =>
  Properties.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)

/** A function's role allows exactly the calls that the function makes, and those of Lambda. */
export async function* roles({ resolved: template, recording: { uses } }: Checked) {
  const users = FUNCTIONS.map(
    name => [idOf(name), [...uses[name].calls, ...callsOfLambda(template, name)]] as const,
  )
  const everyCall = users.flatMap(([, calls]) => calls)
  for (const [name, calls] of users) {
    const Statement = template.resources.filter(({ id }) => id === `${name}Role`).flatMap(statementsOf)
    yield* rightsOf(name, { Statement }, calls, everyCall)
  }
}

/** Every role has the permissions boundary of docs/iam, which allows exactly the rights of all roles. */
export function* boundary({ resolved: template, policies }: Checked) {
  const rights = ofType(template, 'AWS::IAM::Role')
    .flatMap(statementsOf)
    .flatMap(({ Action, Resource }) =>
      Action.flatMap(action => Resource.map(resource => ({ action, resource, context: {} }))),
    )
  for (const { id, Properties } of ofType(template, 'AWS::IAM::Role'))
    if (Properties.PermissionsBoundary !== BOUNDARY) yield `${id}: has no permissions boundary`
  const { Statement } = policies.boundary
  for (const right of rights)
    if (!Statement.some(statement => applies(statement, right)))
      yield `docs/iam/boundary.json: denies ${right.action} on ${right.resource}`
  for (const statement of Statement)
    for (const action of statement.Action)
      if (action.includes('*') || !rights.some(right => applies({ ...statement, Action: [action] }, right)))
        yield `docs/iam/boundary.json: allows ${action}, which no role needs`
}
