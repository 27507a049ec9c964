import { runSimulation } from '@cloud-copilot/iam-simulate'
import { ACCOUNT, arn, type PolicyDocument } from '../resolve.ts'
import { covers } from './policies.ts'

/** A request as IAM evaluates it, with the keys of its context. */
export type Asked = { action: string; resource: string; context: Readonly<Record<string, string>> }

type Statement = PolicyDocument['Statement'][number]

const OPERATORS: Readonly<Record<string, (given: string | undefined, wanted: readonly string[]) => boolean>> =
  {
    StringEquals: (given, wanted) => given !== undefined && wanted.includes(given),
    StringEqualsIfExists: (given, wanted) => given === undefined || wanted.includes(given),
    'ForAllValues:StringEquals': (given, wanted) => given === undefined || wanted.includes(given),
    ArnLike: (given, wanted) => given !== undefined && wanted.some(pattern => covers(pattern, given)),
  }

/** Whether a statement allows a request. @throws for a condition that docs/iam does not use */
export const applies = ({ Action, Resource, Condition }: Statement, { action, resource, context }: Asked) =>
  Action.some(each => covers(each.toLowerCase(), action.toLowerCase())) &&
  Resource.some(pattern => covers(pattern, resource)) &&
  Object.entries(Condition).every(([operator, keys]) =>
    Object.entries(keys).every(([key, wanted]) => {
      const isMet = OPERATORS[operator]
      if (isMet === undefined) throw new Error(`Cannot evaluate ${operator}: it is not known`)
      return isMet(context[key], [wanted].flat().map(String))
    }),
  )

/** Actions of API Gateway and resources that the simulator's data lacks, and aliases, which it takes for versions. */
const UNKNOWN = ['no.resource.types', 'invalid.action', 'multiple.resource.types']

/** A key's own policy lets the policies of the account decide. */
const KEY_POLICY = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: { AWS: arn('iam', 'root') }, Action: 'kms:*', Resource: '*' }],
}

/** Whether iam-simulate allows a request; undefined if it does not know its action or resource. */
export const simulated = async (
  { Statement }: PolicyDocument,
  { action, resource, context }: Asked,
): Promise<boolean | undefined> => {
  // Filters the statements, since the simulator is slow for each of them.
  const own = Statement.filter(each =>
    each.Action.some(name => covers(name.toLowerCase(), action.toLowerCase())),
  )
  if (own.length === 0) return false
  const result = await runSimulation(
    {
      request: {
        principal: arn('iam', 'role/deployer'),
        action,
        resource: { resource, accountId: ACCOUNT },
        contextVariables: { ...context },
      },
      identityPolicies: [{ name: 'identity', policy: { Version: '2012-10-17', Statement: own } }],
      ...(action.startsWith('kms:') && resource !== '*' && { resourcePolicy: KEY_POLICY }),
      serviceControlPolicies: [],
      resourceControlPolicies: [],
    },
    {},
  )
  if (result.resultType !== 'error') return result.overallResult === 'Allowed'
  const { message } = result.errors ?? {}
  if (message !== undefined && UNKNOWN.includes(message)) return undefined
  throw new Error(`Cannot simulate ${action} on ${resource}: ${message}`)
}
