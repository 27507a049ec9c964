import type { Checked } from '../checked.ts'
import { covers } from '../permissions/policies.ts'
import {
  ACCOUNT,
  arn,
  BOUNDARY,
  inOtherStage,
  ofType,
  type Resolved,
  STACK,
  STAGE,
  VAULTS,
} from '../resolve.ts'

/** Every non-empty text in a value, with its path. */
function* textsIn(value: unknown, path: string): Generator<[path: string, text: string]> {
  if (typeof value === 'string' && value !== '') yield [path, value]
  else if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value)) yield* textsIn(each, `${path}.${key}`)
}

/** ARNs of other accounts belong to consumers. */
const ARN_OR_URL = new RegExp(`(?:arn:aws:[\\w-]*:[\\w-]*:(?:${ACCOUNT})?:|https://sqs\\.)[^\\s"',]+`, 'g')
const NAME = new RegExp(`${STACK}(?:-[\\w.*-]*[\\w*])?`, 'g')
const OF_STACK = new RegExp(`${STACK}|:execute-api:`)
/** The condition that limits a statement to resources with the tag of this stage. */
const OWN_TAG = `"aws:ResourceTag/stage":"${STAGE}"`

/** Types whose names are unique in an account. */
const ACCOUNT_WIDE = /::(Queue|Table|Topic|Alarm|Dashboard|Role|Application|Function|LogGroup)$/

/** Paths whose names and URLs must be defined by the template even without the stack's prefix. */
const NAMED =
  /(_TABLE|TableName|LogGroupName(s\.\d+)?|\.Alarms\.\d+\.Name|_QUEUE_URL|QueueUrl|TargetBackupVault|KmsMasterKeyId)$/

/** Names, ARNs and URLs that the template defines. */
const definedBy = (template: Resolved): string[] => [
  ...[STACK, BOUNDARY, `${STACK}-boundary`, arn('iam', 'root'), arn('cloudformation', `stack/${STACK}/1`)],
  arn('ssm', `parameter${template.outputs.SecretsPath}/`),
  ...VAULTS,
  ...template.resources.flatMap(({ name, ref, arn }) => [name, ref, arn]),
  // After a restore.
  ...ofType(template, 'AWS::DynamoDB::Table').map(({ arn }) => `${arn}-2`),
  ...ofType(template, 'AWS::Lambda::Function').map(({ arn }) => `${arn}:1`),
  ...ofType(template, 'AWS::S3::Bucket').map(({ arn }) => `${arn}/object`),
  ...ofType(template, 'AWS::ApiGatewayV2::Api').map(({ name }) => arn('execute-api', `${name}/route`)),
  ...ofType(template, 'AWS::DynamoDB::Table').flatMap(({ arn, Properties }) =>
    Properties.GlobalSecondaryIndexes.map(({ IndexName }) => `${arn}/index/${IndexName}`),
  ),
]

/** The template defines every resource that it, the functions' calls or a policy of docs/iam names. */
export function* references({ resolved: template, recording, policies }: Checked) {
  const defined = definedBy(template)
  const isDefined = (given: string) =>
    defined.includes(given) ||
    given.startsWith(arn('ssm', `parameter${template.outputs.SecretsPath}/`)) ||
    given === '*' ||
    // A pattern without the stack's name would match other stages.
    (/\*/.test(given) && OF_STACK.test(given) && defined.some(each => covers(given, each)))
  const named = [
    ...template.resources.flatMap(({ id, Properties }) => [...textsIn(Properties, id)]),
    ...textsIn(template.outputs, 'Outputs'),
  ].flatMap(([path, text]) =>
    [NAMED.test(path) ? text : [], text.match(ARN_OR_URL) ?? [], text.match(NAME) ?? []]
      .flat()
      .map(name => [path, name] as const),
  )
  const called = Object.entries(recording.uses).flatMap(([name, { calls }]) =>
    calls.map(({ action, resource }) => [`${action} of ${name}`, resource] as const),
  )
  const allowed = (['operator', 'boundary'] as const).flatMap(name =>
    policies[name].Statement.flatMap(({ Resource, Condition }) =>
      Resource.map(pattern => [`docs/iam/${name}.json`, pattern, JSON.stringify(Condition)] as const),
    ),
  )
  for (const [where, name] of [...named, ...called, ...allowed])
    if (!isDefined(name)) yield `${where}: names ${name}, which is no resource of the template`
  for (const { id, type, name } of template.resources)
    if (ACCOUNT_WIDE.test(type) && !name.includes(STACK))
      yield `${id}: another stage would have the name ${name}, too`
  for (const [where, pattern, condition] of allowed)
    for (const other of inOtherStage(defined))
      if (pattern !== '*' && !condition.includes(OWN_TAG) && covers(pattern, other))
        yield `${where}: ${pattern} covers ${other} of another stage`
}
