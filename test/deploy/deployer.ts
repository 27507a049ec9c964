import { ordersId } from '../../deploy/tables.ts'
import { requestsFor } from './lifecycle.ts'
import {
  inOtherStage,
  OF_STAGE,
  ofType,
  type PolicyDocument,
  type Resolved,
  type Resource,
  STACK,
  STAGE,
} from './resolve.ts'
import { type Asked, applies, simulated } from './simulate.ts'

/** The stack itself, with osls and deploy/adopt-orders.ts as its clients, and the orders table after a restore. */
const beyondTemplate = (template: Resolved, stack: string): Resource[] => [
  ...ofType(template, 'AWS::CloudFormation::Stack')
    .slice(0, 1)
    .map(each => ({ ...each, arn: each.arn.replace(each.name, stack) })),
  ...ofType(template, 'AWS::DynamoDB::Table')
    .filter(({ id }) => id === ordersId({}))
    .map(each => ({ ...each, arn: `${each.arn}-2` })),
]

/** Requests without a resource, or for resources of AWS, are the same in all stages. */
const isShared = ({ action, resource }: Asked) =>
  resource === '*'
    ? !/^(kms|lambda):/.test(action)
    : /:(deploymentconfig|role\/aws-service-role|:change)\b/.test(resource)

const OTHERS = {
  'aws:ResourceTag/project': 'order-relay',
  'aws:ResourceTag/stage': inOtherStage({ STAGE }).STAGE,
}

/** The same requests for resources of another stage, including those that tag them as ours. */
const ofOtherStage = (asked: Asked): Asked[] => {
  if (isShared(asked)) return []
  const other = inOtherStage(asked)
  const contexts = [other.context, ...(/:(Tag|PUT)/.test(asked.action) ? [asked.context] : [])]
  return contexts.map(context => ({ ...other, context: { ...context, ...OTHERS } }))
}

/** The same requests for resources of another project, which has other tags. */
const ofOtherProject = ({ action, resource, context }: Asked): Asked[] =>
  /:(Tag|PUT)/.test(action) && /:key\/|:event-source-mapping:|:backup-plan:|\/tags\//.test(resource)
    ? [
        {
          action,
          resource,
          context: {
            ...Object.fromEntries(
              Object.entries(context).filter(([key]) => !key.startsWith('aws:ResourceTag/')),
            ),
            'aws:ResourceTag/project': 'another',
          },
        },
      ]
    : []

const keyOf = ({ action, resource, context }: Asked) => `${action} ${resource} ${JSON.stringify(context)}`

const problemsOf = (asked: Asked, isAllowed: (asked: Asked) => boolean): string[] => [
  ...(isAllowed(asked) ? [] : [`the deployer may not ${asked.action} on ${asked.resource}`]),
  ...ofOtherStage(asked)
    .filter(isAllowed)
    .map(({ action, resource }) => `the deployer may ${action} on ${resource} of another stage`),
  ...ofOtherProject(asked)
    .filter(isAllowed)
    .map(({ action, resource }) => `the deployer may ${action} on ${resource} of another project`),
]

/** Caches: an altered template differs in few requests. */
const known = new WeakMap<PolicyDocument, Map<string, string[]>>()
const decided = new Map<string, Promise<boolean | undefined>>()

/** Missing and unused permissions of a deployer's policy in docs/iam over the lifecycle of all resources. */
export const deployerViolations = async (template: Resolved, policy: PolicyDocument, stack = STACK) => {
  const found: string[] = []
  const isAllowed = (asked: Asked) => policy.Statement.some(statement => applies(statement, asked))
  const requests = new Map(
    [...template.resources, ...beyondTemplate(template, stack)].flatMap(resource =>
      requestsFor(template, resource).map(
        asked => [keyOf(asked), { ...asked, type: resource.type }] as const,
      ),
    ),
  )
  const answers = known.get(policy) ?? new Map<string, string[]>()
  known.set(policy, answers)
  for (const [key, asked] of requests) {
    const problems = answers.get(key) ?? problemsOf(asked, isAllowed)
    answers.set(key, problems)
    found.push(...problems)
  }
  for (const { arn, DeletionPolicy } of ofType(template, 'AWS::DynamoDB::Table'))
    if (
      DeletionPolicy === 'Retain' &&
      isAllowed({ action: 'dynamodb:DeleteTable', resource: arn, context: {} })
    )
      found.push(`the deployer may delete ${arn}`)
  // One request of each kind, since the simulator is slow.
  const kinds = new Map(
    [...requests.values()].map(asked => [`${asked.type} ${keyOf({ ...asked, resource: '' })}`, asked]),
  )
  for (const asked of kinds.values()) {
    const relevant = policy.Statement.filter(({ Action }) =>
      Action.some(each => each.startsWith(asked.action.split(':')[0] ?? '')),
    )
    const key = `${keyOf(asked)} ${JSON.stringify(relevant)}`
    const simulation = decided.get(key) ?? simulated(policy, asked)
    decided.set(key, simulation)
    if (((await simulation) ?? isAllowed(asked)) !== isAllowed(asked))
      found.push(`${asked.action} on ${asked.resource}: iam-simulate decides otherwise`)
  }
  for (const { Resource } of policy.Statement)
    for (const pattern of Resource)
      if (/order-relay/.test(pattern) && pattern.search(OF_STAGE) < 0)
        found.push(`the deployer has rights on ${pattern} of other stages`)
  for (const statement of policy.Statement) {
    const used = [...requests.values()].filter(asked => applies(statement, asked))
    for (const Action of statement.Action)
      if (!used.some(asked => applies({ ...statement, Action: [Action] }, asked)))
        found.push(`the deployer may ${Action}, which nothing needs`)
    for (const Resource of statement.Resource)
      if (!used.some(asked => applies({ ...statement, Resource: [Resource] }, asked)))
        found.push(`the deployer has rights on ${Resource}, which nothing needs`)
  }
  return found
}
