import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/project.ts'
import { ACCOUNT, type PolicyDocument, type Resolved } from './resolve.ts'

/** A cache: the relations compare the same patterns hundreds of thousands of times. */
const expressions = new Map<string, RegExp>()

/** Whether a pattern with asterisks, such as that of an ARN, covers a text. */
export const covers = (pattern: string, text: string): boolean => {
  const known = expressions.get(pattern)
  if (known !== undefined) return known.test(text)
  const escaped = pattern.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
  const made = new RegExp(`^${escaped}$`, 's')
  expressions.set(pattern, made)
  return made.test(text)
}

/** A policy of docs/iam with values in place of its placeholders. */
export const filledPolicy = (name: string, values: Readonly<Record<string, string>>): string =>
  Object.entries(values).reduce(
    (text, [placeholder, value]) => text.replaceAll(placeholder, value),
    readFileSync(join(ROOT, `docs/iam/${name}.json`), 'utf8'),
  )

/** Whether a policy without denials grants an action on a resource, ignoring conditions. */
export const grants = ({ Statement }: PolicyDocument, action: string, resource: string): boolean =>
  Statement.some(
    ({ Action, Resource }) => Action.includes(action) && Resource.some(pattern => covers(pattern, resource)),
  )

/** The actions that a resource policy denies without TLS; SNS does not support policies for all actions. */
const DENIED: Readonly<Record<string, string>> = {
  'AWS::SQS::Queue': 'sqs:*',
  'AWS::SNS::Topic': 'sns:Publish',
  'AWS::S3::Bucket': 's3:*',
}

/** Every queue, topic and bucket has one policy, which denies requests without TLS and grants no other access. */
export function* resourcePolicyViolations({ resources }: Resolved) {
  for (const { id, type, ref, arn } of resources) {
    const denied = DENIED[type]
    if (denied === undefined) continue
    const own = resources.filter(
      ({ type, Properties: { PolicyDocument, Queues, Topics, Bucket } }) =>
        type !== 'AWS::S3::Bucket' && PolicyDocument && [...Queues, ...Topics, Bucket].includes(ref),
    )
    if (own.length !== 1) yield `${id}: has ${own.length} policies, not one`
    // A store that is named a consumer, or no longer, changes the resource of its policy, and a deleted one clears it.
    if (id.startsWith('Feed') && type === 'AWS::SQS::Queue' && !id.startsWith('FeedsDead'))
      for (const { DeletionPolicy, UpdateReplacePolicy } of own)
        if (`${DeletionPolicy} ${UpdateReplacePolicy}` !== 'Retain Retain')
          yield `${id}: loses its policy when its consumers change`
    const statements = own.flatMap(({ Properties }) => Properties.PolicyDocument?.Statement ?? [])
    const isTlsOnly = statements.some(
      ({ Effect, Principal, Action, Resource, Condition }) =>
        /^Deny \* \{"Bool":\{"aws:SecureTransport":"?false"?\}\}$/.test(
          `${Effect} ${Principal} ${JSON.stringify(Condition)}`,
        ) &&
        Action.includes(denied) &&
        Resource.some(pattern => covers(pattern, arn)),
    )
    if (!isTlsOnly) yield `${id}: its policy does not deny requests to it without TLS`
    for (const { Effect, Resource } of statements)
      if (Effect === 'Allow' && Resource.some(each => each !== arn))
        yield `${id}: its policy admits to ${Resource}`
  }
  for (const { id, Properties } of resources)
    for (const { Effect, Principal, Condition } of [Properties.PolicyDocument, Properties.KeyPolicy].flatMap(
      policy => policy?.Statement ?? [],
    )) {
      const ofAccount = Condition.StringEquals?.['aws:SourceAccount'] === ACCOUNT
      const isKnown = typeof Principal === 'object' && ('AWS' in Principal || ofAccount)
      if (Effect === 'Allow' && !isKnown) yield `${id}: admits others than this account and its consumers`
    }
}
