import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../../support/project.ts'
import type { PolicyDocument, Resolved } from '../resolve.ts'

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

/** Every queue, topic and bucket has one policy, which denies requests without TLS. */
export function* tlsOnly({ resources }: Resolved) {
  for (const { id, type, ref, arn } of resources) {
    const denied = DENIED[type]
    if (denied === undefined) continue
    const own = resources.flatMap(({ Properties: { PolicyDocument, Queues, Topics, Bucket } }) =>
      PolicyDocument !== undefined && [...Queues, ...Topics, Bucket].includes(ref) ? PolicyDocument : [],
    )
    if (own.length !== 1) yield `${id}: has ${own.length} policies, not one`
    const isTlsOnly = own
      .flatMap(({ Statement }) => Statement)
      .some(
        ({ Effect, Principal, Action, Resource, Condition }) =>
          /^Deny \* \{"Bool":\{"aws:SecureTransport":"?false"?\}\}$/.test(
            `${Effect} ${Principal} ${JSON.stringify(Condition)}`,
          ) &&
          Action.includes(denied) &&
          Resource.some(pattern => covers(pattern, arn)),
      )
    if (!isTlsOnly) yield `${id}: its policy does not deny requests to it without TLS`
  }
}
