import { ordersId } from '../../../../deploy/tables.ts'
import {
  inOtherStage,
  OF_STAGE,
  ofType,
  type PolicyDocument,
  type Resolved,
  type Resource,
  STACK,
  STAGE,
} from '../resolve.ts'
import { requestsFor } from './lifecycle.ts'
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

/** The requests with which a policy that is too wide would reach resources of another stage or project. */
const ofOthers = (asked: Asked): Asked[] => {
  const { action, resource, context } = asked
  const tags = {
    'aws:ResourceTag/project': 'order-relay',
    'aws:ResourceTag/stage': inOtherStage({ STAGE }).STAGE,
  }
  const stage = isShared(asked) ? [] : [inOtherStage(asked)]
  if (!/:(Tag|PUT)/.test(action))
    return stage.map(other => ({ ...other, context: { ...other.context, ...tags } }))
  // A request that tags a resource of others as one of ours would take it over.
  const untagged = Object.entries(context).filter(([key]) => !key.startsWith('aws:ResourceTag/'))
  const foreign = { ...Object.fromEntries(untagged), 'aws:ResourceTag/project': 'another' }
  const isNameless = /:key\/|:event-source-mapping:|:backup-plan:|\/tags\//.test(resource)
  return [
    ...stage.flatMap(other =>
      [other.context, context].map(given => ({ ...other, context: { ...given, ...tags } })),
    ),
    ...(isNameless ? [{ action, resource, context: foreign }] : []),
  ]
}

const keyOf = ({ action, resource, context }: Asked) => `${action} ${resource} ${JSON.stringify(context)}`

/** CloudFormation's requests over the lifecycle of all resources, each once. */
const requestsOf = (template: Resolved, stack: string) => [
  ...new Map(
    [...template.resources, ...beyondTemplate(template, stack)].flatMap(resource =>
      requestsFor(template, resource).map(
        asked => [keyOf(asked), { ...asked, type: resource.type }] as const,
      ),
    ),
  ).values(),
]

/** The deployer's policy allows exactly what a deployment needs over the lifecycle of all resources of its stage. */
export function* deployerRights(template: Resolved, policy: PolicyDocument, stack = STACK) {
  const isAllowed = (asked: Asked) => policy.Statement.some(statement => applies(statement, asked))
  const requests = requestsOf(template, stack)
  for (const asked of requests) {
    if (!isAllowed(asked)) yield `the deployer may not ${asked.action} on ${asked.resource}`
    for (const { action, resource } of ofOthers(asked).filter(isAllowed))
      yield `the deployer may ${action} on ${resource} of another stage or project`
  }
  for (const { arn, DeletionPolicy } of ofType(template, 'AWS::DynamoDB::Table'))
    if (
      DeletionPolicy === 'Retain' &&
      isAllowed({ action: 'dynamodb:DeleteTable', resource: arn, context: {} })
    )
      yield `the deployer may delete ${arn}, which is retained`
  for (const statement of policy.Statement) {
    const used = requests.filter(asked => applies(statement, asked))
    for (const Action of statement.Action)
      if (!used.some(asked => applies({ ...statement, Action: [Action] }, asked)))
        yield `the deployer may ${Action}, which nothing needs`
    for (const Resource of statement.Resource) {
      if (!used.some(asked => applies({ ...statement, Resource: [Resource] }, asked)))
        yield `the deployer has rights on ${Resource}, which nothing needs`
      if (/order-relay/.test(Resource) && Resource.search(OF_STAGE) < 0)
        yield `the deployer has rights on ${Resource} of other stages`
    }
  }
}

/** iam-simulate decides as `applies` does; one request of each kind, since it is slow. */
export async function* simulatorAgrees(template: Resolved, policy: PolicyDocument, stack = STACK) {
  const kinds = new Map(
    requestsOf(template, stack).map(asked => [`${asked.type} ${keyOf({ ...asked, resource: '' })}`, asked]),
  )
  for (const asked of kinds.values()) {
    const isAllowed = policy.Statement.some(statement => applies(statement, asked))
    if (((await simulated(policy, asked)) ?? isAllowed) !== isAllowed)
      yield `${asked.action} on ${asked.resource}: iam-simulate decides otherwise`
  }
}
