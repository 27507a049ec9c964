import { covers } from './policies.ts'
import { ACCOUNT, arn, ofType, type Resolved, STACK } from './resolve.ts'
import type { AwsCall } from './use.ts'

/** Every text in a value that is not empty, with its path. */
function* textsIn(value: unknown, path: string): Generator<[path: string, text: string]> {
  if (typeof value === 'string' && value !== '') yield [path, value]
  else if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value)) yield* textsIn(each, `${path}.${key}`)
}

/** ARNs of other accounts are those of consumers. */
const ARN_OR_URL = new RegExp(`(?:arn:aws:[\\w-]*:[\\w-]*:(?:${ACCOUNT})?:|https://sqs\\.)[^\\s"',]+`, 'g')
const NAME = new RegExp(`${STACK}(?:-[\\w.*-]*[\\w*])?`, 'g')
const OF_STACK = new RegExp(`${STACK}|:execute-api:`)
/** Where a name or URL must be one of the template, even if it has not the prefix of the stack. */
const NAMED =
  /(_TABLE|TableName|LogGroupName(s\.\d+)?|\.Alarms\.\d+\.Name|_QUEUE_URL|QueueUrl|KmsMasterKeyId)$/

/** Names, ARNs and URLs that the template defines. */
const definedBy = (template: Resolved): string[] => [
  ...[STACK, arn('iam', 'root'), arn('cloudformation', `stack/${STACK}/1`)],
  arn('ssm', `parameter${template.outputs.SecretsPath}/`),
  ...template.resources.flatMap(({ name, ref, arn }) => [name, ref, arn]),
  ...ofType(template, 'AWS::Lambda::Function').map(({ arn }) => `${arn}:1`),
  ...ofType(template, 'AWS::S3::Bucket').map(({ arn }) => `${arn}/object`),
  ...ofType(template, 'AWS::ApiGatewayV2::Api').map(({ name }) => arn('execute-api', `${name}/route`)),
  ...ofType(template, 'AWS::DynamoDB::Table').flatMap(({ arn, Properties }) =>
    Properties.GlobalSecondaryIndexes.map(({ IndexName }) => `${arn}/index/${IndexName}`),
  ),
]

/** Whatever the template, the functions' calls or the policy of the operator name is what the template defines. */
export function* referenceViolations(
  template: Resolved,
  calls: readonly AwsCall[],
  patterns: readonly string[],
) {
  const defined = definedBy(template)
  const isDefined = (given: string) =>
    defined.includes(given) ||
    given.startsWith(arn('ssm', `parameter${template.outputs.SecretsPath}/`)) ||
    given === '*' ||
    // A pattern without the name of the stack covers other stages.
    (/\*/.test(given) && OF_STACK.test(given) && defined.some(each => covers(given, each)))
  const places = [
    ...template.resources.flatMap(({ id, Properties }) => [...textsIn(Properties, id)]),
    ...textsIn(template.outputs, 'Outputs'),
  ]
  const named = places.flatMap(([path, text]) =>
    [NAMED.test(path) ? text : [], text.match(ARN_OR_URL) ?? [], text.match(NAME) ?? []]
      .flat()
      .map(name => [path, name] as const),
  )
  const called = calls.map(({ action, resource }) => [action, resource] as const)
  const allowed = patterns.map(pattern => ['the operator', pattern] as const)
  for (const [where, name] of [...named, ...called, ...allowed])
    if (!isDefined(name)) yield `${where}: nothing in the template is ${name}`
}
