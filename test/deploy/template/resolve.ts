import * as v from 'valibot'
import type { FunctionName as CrashFunction } from '../../../proofs/crash/places.ts'
import type { Template } from './template-schema.ts'

/** The stage of the packaged template in the tests, and its stack. */
export const STAGE = 'crash'
export const STACK = `order-relay-${STAGE}`
export const ACCOUNT = '123456789012'
export const REGION = 'eu-central-1'

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::AccountId': ACCOUNT,
  'AWS::Region': REGION,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
}

/** Matches what names the stage: the stack, its resources and its paths, and those of a connector. */
export const OF_STAGE = RegExp(`order-relay(?:-woocommerce)?[-/]${STAGE}\\b`, 'g')

/** The value for a stage whose name begins with that of this stage, with another domain and zone. */
export const inOtherStage = <Value>(value: Value): Value =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(OF_STAGE, '$&-eu')
      .replaceAll(`"${STAGE}"`, `"${STAGE}-eu"`)
      .replaceAll(/(hostedzone|domainnames)\/[^"/]+/g, '$1/other'),
  )

/** The vaults of the backups and of their copies. */
export const BACKUP_REGION = 'eu-west-1'
export const VAULTS = [REGION, BACKUP_REGION].map(
  region => `arn:aws:backup:${region}:${ACCOUNT}:backup-vault:${STACK}`,
)

/** The permissions boundary of docs/iam. */
export const BOUNDARY = `arn:aws:iam::${ACCOUNT}:policy/${STACK}-boundary`

export const arn = (service: string, resource: string) =>
  `arn:aws:${service}:${service === 'iam' ? '' : REGION}:${ACCOUNT}:${resource}`

const oneOrMore = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform(value => [value].flat()),
)
const statement = v.looseObject({
  Effect: v.picklist(['Allow', 'Deny']),
  Principal: v.optional(v.union([v.string(), v.record(v.string(), oneOrMore)])),
  Action: oneOrMore,
  Resource: v.optional(oneOrMore, []),
  Condition: v.optional(v.record(v.string(), v.record(v.string(), v.unknown())), {}),
})
export const policyDocument = v.object({ Statement: v.array(statement) })
export type PolicyDocument = v.InferOutput<typeof policyDocument>

const text = v.optional(v.string(), '')
const texts = v.optional(v.array(v.string()), [])
const keys = v.optional(v.array(v.object({ AttributeName: v.string(), KeyType: v.string() })), [])
const values = v.optional(v.record(v.string(), v.unknown()), {})

/** Properties that are texts or lists of texts, empty if a resource has none. */
const TEXTS = [
  ...['QueueName', 'TableName', 'FunctionName', 'AlarmName', 'DomainName', 'Name', 'ApiId'],
  ...['DeploymentGroupName', 'LogGroupName', 'TopicArn', 'BackupPlanId', 'Bucket', 'Path'],
  ...['PermissionsBoundary', 'HostedZoneId', 'Handler', 'Role', 'ServiceRoleArn'],
  ...['EventSourceArn', 'Principal', 'SourceArn', 'KmsMasterKeyId', 'RouteKey', 'Target'],
  ...['IntegrationUri', 'FilterPattern', 'QueryString', 'DashboardBody', 'AlarmDescription'],
  ...['Namespace', 'MetricName', 'Statistic', 'ExtendedStatistic', 'ComparisonOperator'],
  ...['TreatMissingData', 'ScheduleExpression'],
] as const
const LISTS = ['LogGroupNames', 'Queues', 'Topics', 'AlarmActions', 'OKActions'] as const

/** The properties, of all types together, by which resources relate to each other. */
const properties = v.looseObject({
  ...v.entriesFromList(TEXTS, text),
  ...v.entriesFromList(LISTS, texts),
  FifoQueue: v.optional(v.boolean(), false),
  VisibilityTimeout: v.optional(v.number(), 30),
  RedrivePolicy: v.optional(v.looseObject({ deadLetterTargetArn: v.string() })),
  RedriveAllowPolicy: v.optional(v.looseObject({ sourceQueueArns: texts })),
  PolicyDocument: v.optional(policyDocument),
  KeyPolicy: v.optional(policyDocument),
  Policies: v.optional(v.array(v.looseObject({ PolicyDocument: policyDocument })), []),
  Timeout: v.optional(v.number(), 0),
  Environment: v.optional(v.object({ Variables: v.record(v.string(), v.string()) }), { Variables: {} }),
  RouteSettings: values,
  TimeoutInMillis: v.optional(v.number(), 0),
  AccessLogSettings: v.optional(v.object({ DestinationArn: v.string(), Format: v.string() })),
  Targets: v.optional(v.array(v.looseObject({ Arn: v.string() })), []),
  MetricTransformations: v.optional(
    v.array(v.looseObject({ MetricNamespace: v.string(), MetricName: v.string() })),
    [],
  ),
  Threshold: v.optional(v.number(), 0),
  Period: v.optional(v.number(), 0),
  AlarmConfiguration: v.optional(v.looseObject({ Alarms: v.array(v.object({ Name: v.string() })) })),
  Metrics: v.optional(
    v.array(
      v.object({
        Id: v.string(),
        Expression: text,
        ReturnData: v.boolean(),
        MetricStat: v.optional(
          v.object({
            Period: v.number(),
            Stat: v.string(),
            Metric: v.object({
              Namespace: v.string(),
              MetricName: v.string(),
              Dimensions: v.array(v.object({ Name: v.string(), Value: v.string() })),
            }),
          }),
        ),
      }),
    ),
    [],
  ),
  Dimensions: v.optional(v.array(v.object({ Name: v.string(), Value: v.string() })), []),
  KeySchema: keys,
  AttributeDefinitions: v.optional(
    v.array(v.object({ AttributeName: v.string(), AttributeType: v.string() })),
    [],
  ),
  TimeToLiveSpecification: v.optional(v.looseObject({ AttributeName: v.string() })),
  GlobalSecondaryIndexes: v.optional(
    v.array(
      v.object({
        IndexName: v.string(),
        KeySchema: keys,
        Projection: v.object({ ProjectionType: v.string(), NonKeyAttributes: texts }),
      }),
    ),
    [],
  ),
})
export type Properties = v.InferOutput<typeof properties>

const resource = v.object({
  DependsOn: v.optional(oneOrMore, []),
  DeletionPolicy: text,
  UpdateReplacePolicy: text,
  Properties: properties,
  UpdatePolicy: v.optional(
    v.object({ CodeDeployLambdaAliasUpdate: v.looseObject({ DeploymentGroupName: v.string() }) }),
    { CodeDeployLambdaAliasUpdate: { DeploymentGroupName: '' } },
  ),
})

const API = `arn:aws:apigateway:${REGION}::`
const ofFunction = (name: string) => arn('lambda', `function:${name}`)
const ofLog = (name: string) => arn('logs', `log-group:${name}:*`)
const nameIn = (urlOrArn = '') => urlOrArn.slice(urlOrArn.search(/[^/:]*$/))

/** The ARN that IAM evaluates for a resource: its own, or that of its parent. */
const ARNS: Readonly<Record<string, (name: string, properties: Properties) => string>> = {
  'AWS::ApiGatewayV2::Api': name => `${API}/apis/${name}`,
  'AWS::ApiGatewayV2::ApiMapping': (name, { DomainName }) =>
    `${API}/domainnames/${DomainName}/apimappings/${name}`,
  'AWS::ApiGatewayV2::DomainName': name => `${API}/domainnames/${name}`,
  'AWS::ApiGatewayV2::Integration': (name, { ApiId }) => `${API}/apis/${ApiId}/integrations/${name}`,
  'AWS::ApiGatewayV2::Route': (name, { ApiId }) => `${API}/apis/${ApiId}/routes/${name}`,
  'AWS::ApiGatewayV2::Stage': (name, { ApiId }) => `${API}/apis/${ApiId}/stages/${name}`,
  'AWS::Backup::BackupPlan': name => arn('backup', `backup-plan:${name}`),
  'AWS::Backup::BackupSelection': (_, { BackupPlanId }) => arn('backup', `backup-plan:${BackupPlanId}`),
  'AWS::Budgets::Budget': () => `arn:aws:budgets::${ACCOUNT}:budget/${STACK}`,
  'AWS::CloudFormation::Stack': name => arn('cloudformation', `stack/${name}/1`),
  'AWS::CloudWatch::Alarm': name => arn('cloudwatch', `alarm:${name}`),
  'AWS::CloudWatch::Dashboard': name => `arn:aws:cloudwatch::${ACCOUNT}:dashboard/${name}`,
  'AWS::CodeDeploy::Application': name => arn('codedeploy', `application:${name}`),
  'AWS::CodeDeploy::DeploymentGroup': name => arn('codedeploy', `deploymentgroup:${STACK}/${name}`),
  'AWS::DynamoDB::Table': name => arn('dynamodb', `table/${name}`),
  'AWS::Events::Rule': name => arn('events', `rule/${name}`),
  'AWS::IAM::Role': (name, { Path }) => arn('iam', `role${Path || '/'}${name}`),
  'AWS::KMS::Key': name => arn('kms', `key/${name}`),
  'AWS::Lambda::Alias': (_, { FunctionName, Name }) => ofFunction(`${FunctionName}:${Name}`),
  'AWS::Lambda::EventSourceMapping': name => arn('lambda', `event-source-mapping:${name}`),
  'AWS::Lambda::Function': ofFunction,
  'AWS::Lambda::Permission': (_, { FunctionName }) => FunctionName,
  'AWS::Lambda::Version': (_, { FunctionName }) => ofFunction(`${FunctionName}:1`),
  'AWS::Logs::LogGroup': ofLog,
  'AWS::Logs::MetricFilter': (_, { LogGroupName }) => ofLog(LogGroupName),
  'AWS::Logs::QueryDefinition': name => arn('logs', `query-definition:${name}`),
  'AWS::Route53::RecordSet': (_, { HostedZoneId }) => `arn:aws:route53:::hostedzone/${HostedZoneId}`,
  'AWS::S3::Bucket': name => `arn:aws:s3:::${name}`,
  'AWS::S3::BucketPolicy': (_, { Bucket }) => `arn:aws:s3:::${Bucket}`,
  'AWS::SNS::Subscription': (name, { TopicArn }) => `${TopicArn}:${name}`,
  'AWS::SNS::Topic': name => arn('sns', name),
  'AWS::SNS::TopicPolicy': (_, { Topics: [topic = ''] }) => topic,
  'AWS::SQS::Queue': name => arn('sqs', name),
  'AWS::SQS::QueuePolicy': (_, { Queues: [queue] }) => arn('sqs', nameIn(queue)),
}

/** A resource as CloudFormation would deploy it; `ref` is the result of `Ref`. */
export type Resource = v.InferOutput<typeof resource> & Record<'id' | 'type' | 'name' | 'ref' | 'arn', string>
export type Resolved = { resources: readonly Resource[]; outputs: Readonly<Record<string, string>> }

/**
 * The template as CloudFormation would deploy it, with names and ARNs in place of references.
 *
 * @param stack name of the stack, with which generated names begin
 * @throws for a reference to something that does not exist
 */
export const resolved = ({ Resources, Outputs }: Template, stack = STACK): Resolved => {
  const known = new Map<string, Resource>()
  const resourceOf = (id: string): Resource => {
    const { Type: type, ...definition } = Resources[id] ?? {}
    if (type === undefined) throw new Error(`Cannot refer to ${id}: there is no such resource`)
    const found = known.get(id) ?? v.parse(resource, plain(definition))
    // CloudFormation generates other names, for buckets in lower case.
    const generated = type.startsWith('AWS::ApiGatewayV2') ? id.toLowerCase() : `${stack}-${id}-0a1b2c`
    const property =
      type === 'AWS::Events::Rule' ? 'Name' : `${type.split('::')[2]?.replace(/Name$/, '')}Name`
    const named = String(found.Properties[property] || generated)
    const name = type === 'AWS::S3::Bucket' ? named.toLowerCase() : named
    const own = ARNS[type]?.(name, found.Properties) ?? ''
    const url = `https://sqs.${REGION}.amazonaws.com/${ACCOUNT}/${name}`
    const ref = type === 'AWS::SQS::Queue' ? url : /(Topic|Alias)$/.test(type) ? own : name
    const made = { ...found, id, type, name, ref, arn: own }
    known.set(id, made)
    return made
  }
  const attribute = (id: string, name = '') => {
    if (name === '') return PSEUDO[id] ?? resourceOf(id).ref
    const { ref, [name === 'Arn' ? 'arn' : 'name']: value } = resourceOf(id)
    return name === 'Arn' || name === 'QueueName' ? value : `${ref}#${name}`
  }
  const call = (name: string, argument: unknown): unknown => {
    const parts = Array.isArray(argument) ? argument : [argument]
    if (name === 'Ref' || name === 'Fn::GetAtt') return attribute(String(parts[0]), parts[1])
    if (name === 'Fn::Join') return v.parse(v.array(v.string()), plain(parts[1])).join(parts[0])
    // The tests package with every setting.
    if (name === 'Fn::If') return plain(parts[1])
    if (name !== 'Fn::Sub') throw new Error(`Cannot resolve ${name}: it is not known`)
    return String(argument).replace(/\$\{([^}.]+)\.?([^}]*)\}/g, (_, id, name) => attribute(id, name))
  }
  const plain = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(plain)
    const [[key = '', argument] = []] = Object.entries(value)
    if (key === 'Ref' || key.startsWith('Fn::')) return call(key, argument)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
  }
  const outputs = v.parse(v.record(v.string(), v.looseObject({ Value: v.string() })), plain(Outputs))
  return {
    resources: Object.keys(Resources).map(resourceOf),
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, { Value }]) => [name, Value])),
  }
}

/** The resources of a type. */
export const ofType = ({ resources }: Resolved, type: string) => resources.filter(each => each.type === type)

/** The functions of the crash harness, and the probe. */
export type FunctionName = CrashFunction | 'probe'
export const FUNCTIONS: readonly FunctionName[] = [
  ...(['webhook', 'api', 'worker', 'feeder', 'reconcile', 'probe'] as const),
]

/** The logical id of a function's resource without its suffix. */
export const idOf = (name: FunctionName) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`

/** @throws when the template has no such function */
export const functionOf = ({ resources }: Resolved, name: FunctionName): Resource => {
  const found = resources.find(({ id }) => id === `${idOf(name)}LambdaFunction`)
  if (found === undefined) throw new Error(`Cannot find the function ${name}: it is not in the template`)
  return found
}

/** The target of a function's triggers: its alias, if any. */
export const aliasOf = (template: Resolved, name: FunctionName): Resource =>
  template.resources.find(({ id }) => id === `${idOf(name)}LiveAlias`) ?? functionOf(template, name)
