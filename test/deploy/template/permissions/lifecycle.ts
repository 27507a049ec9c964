import * as v from 'valibot'
import { arn, REGION, type Resolved, type Resource, STAGE } from '../resolve.ts'
import handlers from './handlers.json' with { type: 'json' }
import type { Asked } from './simulate.ts'

const permissions = v.record(
  v.string(),
  v.object({
    create: v.string(),
    read: v.optional(v.string(), ''),
    update: v.optional(v.string(), ''),
    delete: v.string(),
  }),
)
/** The permissions of AWS's own resource schemas, which `npm run test:template` compares with those of cfn-lint. */
const HANDLERS = v.parse(permissions, handlers)

/** Permissions for properties that no resource of the type has. */
const UNUSED: Readonly<Record<string, string>> = {
  // Networks, file systems, streams, customer managed keys and roles of resources that have none.
  '*': `ec2:* elasticfilesystem:* s3files:* kinesis:* firehose:* s3tables:* s3:REST.PUT.OBJECT`,
  // An API defined by a file.
  'AWS::ApiGatewayV2::Api': 's3:*',
  'AWS::ApiGatewayV2::DomainName': 's3:*',
  'AWS::ApiGatewayV2::Integration': 'iam:PassRole',
  // A plan with a role that scans backups.
  'AWS::Backup::BackupPlan': 'iam:PassRole',
  'AWS::Budgets::Budget': 'billing:GetBillingViewData',
  'AWS::CloudFormation::Stack': 'iam:PassRole',
  'AWS::CodeDeploy::DeploymentGroup': 'codedeploy:RegisterOnPremisesInstance',
  // Imports, replicas, streams, policies and insights.
  'AWS::DynamoDB::Table': `dynamodb:*Import* dynamodb:*Item dynamodb:Scan dynamodb:Query dynamodb:*Replica
    dynamodb:EnableKinesis* dynamodb:DisableKinesis* dynamodb:UpdateKinesis* dynamodb:PutResourcePolicy
    dynamodb:DeleteResourcePolicy dynamodb:UpdateContributorInsights kms:* iam:* logs:* s3:*`,
  'AWS::Events::Rule': 'iam:PassRole',
  // Managed policies; the boundary is changed, but not removed.
  'AWS::IAM::Role': 'iam:AttachRolePolicy iam:DetachRolePolicy iam:DeleteRolePermissionsBoundary',
  // The key is always enabled and rotated.
  'AWS::KMS::Key': 'kms:DisableKey kms:EnableKey kms:DisableKeyRotation',
  'AWS::Lambda::Alias': 'lambda:PutProvisionedConcurrencyConfig lambda:DeleteProvisionedConcurrencyConfig',
  'AWS::Lambda::EventSourceMapping': 'kms:*',
  'AWS::Lambda::Function': `kms:* s3:GetObjectVersion lambda:GetCodeSigningConfig lambda:PutFunctionCodeSigningConfig
    lambda:DeleteFunctionCodeSigningConfig lambda:GetLayerVersion lambda:PutRuntimeManagementConfig
    lambda:PutFunctionRecursionConfig lambda:PutFunctionScalingConfig lambda:PassCapacityProvider
    lambda:AssociateRuntimeAlias`,
  'AWS::Lambda::Version':
    'lambda:PutProvisionedConcurrencyConfig lambda:PutRuntimeManagementConfig lambda:PutFunctionScalingConfig',
  'AWS::Logs::LogGroup': `logs:*KmsKey logs:PutDataProtectionPolicy logs:DeleteDataProtectionPolicy
    logs:*IndexPolicy logs:CreateLogDelivery logs:*ResourcePolicy logs:PutBearerTokenAuthentication
    logs:PutLogGroupDeletionProtection`,
  // All settings but encryption, public access and tags.
  'AWS::S3::Bucket': `s3:*Abac s3:*Analytics* s3:*CORS s3:*Cors s3:*Inventory* s3:*Lifecycle* s3:*Metrics*
    s3:*Notification s3:*Replication* s3:*Website s3:*Accelerate* s3:*Acl s3:*ObjectLock* s3:*Logging
    s3:*Versioning s3:*Ownership* s3:*Tiering* s3:*Metadata* s3:DeleteBucketEncryption s3:DeleteObject iam:PassRole`,
  'AWS::SNS::Subscription': 'iam:*',
  'AWS::SNS::Topic': 'iam:* sns:PutDataProtectionPolicy',
}

const STACK_ACTIONS = `cloudformation:CreateChangeSet cloudformation:DescribeChangeSet
  cloudformation:ExecuteChangeSet cloudformation:DeleteChangeSet cloudformation:DescribeStackEvents
  cloudformation:DescribeStackResource cloudformation:DescribeStackResources cloudformation:ListStackResources
  cloudformation:ValidateTemplate`
const LOG_DELIVERY = `logs:CreateLogDelivery logs:GetLogDelivery logs:UpdateLogDelivery logs:DeleteLogDelivery
  logs:ListLogDeliveries logs:PutResourcePolicy logs:DescribeResourcePolicies`

/** Permissions that the schemas lack, and those of osls and deploy/adopt-orders.ts. */
const MORE: Readonly<Record<string, Partial<Record<'create' | 'update' | 'delete', string>>>> = {
  // The service-linked role of an account's first domain.
  'AWS::ApiGatewayV2::DomainName': { create: 'iam:CreateServiceLinkedRole' },
  // The access log.
  'AWS::ApiGatewayV2::Stage': { create: LOG_DELIVERY, update: LOG_DELIVERY, delete: LOG_DELIVERY },
  'AWS::CloudFormation::Stack': {
    create: STACK_ACTIONS,
    // The last one continues a rollback that has failed.
    update: `${STACK_ACTIONS} cloudformation:ContinueUpdateRollback`,
  },
  'AWS::CodeDeploy::Application': { update: 'codedeploy:UpdateApplication' },
  // docs/runbook/reconcile-missing.md
  'AWS::Events::Rule': { update: 'events:EnableRule' },
  'AWS::IAM::Role': { create: 'iam:ListRoleTags' },
  // The traffic shift, which CloudFormation starts and monitors.
  'AWS::Lambda::Alias': {
    update: 'codedeploy:GetApplicationRevision codedeploy:RegisterApplicationRevision',
  },
  'AWS::Lambda::Function': { update: 'lambda:GetFunctionConfiguration' },
  'AWS::S3::Bucket': {
    create: 's3:GetBucketLocation s3:PutObject s3:GetObject',
    update: 's3:PutObject s3:GetObject s3:ListBucketVersions s3:DeleteObject s3:DeleteObjectVersion',
    delete: 's3:ListBucketVersions s3:DeleteObject s3:DeleteObjectVersion',
  },
}

/** Actions that have no resource. */
const WITHOUT_RESOURCE = `cloudformation:ValidateTemplate codedeploy:StopDeployment kms:CreateKey
  lambda:CreateEventSourceMapping logs:*LogDeliver* logs:*QueryDefinition* logs:*ResourcePolic*
  logs:DescribeIndexPolicies logs:DescribeLogGroups route53:ListHostedZones`

const covered = (patterns: string, action: string) =>
  patterns.split(/\s+/).some(each => new RegExp(`^${each.replaceAll('*', '.*')}$`).test(action))

const RECORD = {
  names: 'route53:ChangeResourceRecordSetsNormalizedRecordNames',
  types: 'route53:ChangeResourceRecordSetsRecordTypes',
}
const TAGS = { project: 'order-relay', stage: STAGE }
const tagged = (kind: 'Request' | 'Resource', tags: object = TAGS) =>
  Object.fromEntries(Object.entries(tags).map(([name, value]) => [`aws:${kind}Tag/${name}`, value]))

const API = `arn:aws:apigateway:${REGION}::`
const TAGGED_API = /^AWS::ApiGatewayV2::(Api|DomainName|Stage)$/
/** Types whose resources are matched by tags, since AWS generates their names. */
const NAMELESS = /::(Key|EventSourceMapping|Api|Stage|DomainName|Alarm|BackupPlan|BackupSelection)$/

/** The service of the service-linked role that the first resource of a type needs. */
const linkedTo = (type: string) =>
  type === 'AWS::Backup::BackupSelection' ? 'backup.amazonaws.com' : 'ops.apigateway.amazonaws.com'

/** The service to which a resource passes a role. */
const passedTo = (type: string) =>
  `${/Backup|CodeDeploy/.exec(type)?.[0].toLowerCase() ?? 'lambda'}.amazonaws.com`

/** The target of a request that CloudFormation makes for a resource of the template in one part of its life. */
const targetOf = (template: Resolved, part: string, action: string, self: Resource): string => {
  const of = (type: string) => template.resources.filter(each => each.type === type)
  if (covered(WITHOUT_RESOURCE, action)) return '*'
  if (self.type === 'AWS::Backup::BackupSelection' && /^iam:(Pass|Get)Role$/.test(action))
    return of('AWS::IAM::Role').find(({ id }) => id === 'BackupRole')?.arn ?? ''
  if (action === 'iam:PassRole')
    return self.Properties.Role || self.Properties.ServiceRoleArn || of('AWS::IAM::Role')[0]?.arn || ''
  if (action === 'iam:CreateServiceLinkedRole')
    return arn('iam', `role/aws-service-role/${linkedTo(self.type)}/AWSServiceRole`)
  if (/^s3:.*Object/.test(action)) return `${of('AWS::S3::Bucket')[0]?.arn}/object`
  if (action === 'route53:GetChange') return 'arn:aws:route53:::change/C1'
  if (action === 'codedeploy:GetDeploymentConfig')
    return arn('codedeploy', `deploymentconfig:CodeDeployDefault.LambdaAllAtOnce`)
  if (/^codedeploy:.*(Application|Revision)$/.test(action))
    return of('AWS::CodeDeploy::Application')[0]?.arn ?? ''
  if (action.startsWith('codedeploy:') && !self.type.startsWith('AWS::CodeDeploy'))
    return of('AWS::CodeDeploy::DeploymentGroup')[0]?.arn ?? ''
  if (self.type === 'AWS::SNS::Subscription') return self.Properties.TopicArn
  // Only requests for tags name a log group without its streams.
  if (/^logs:.*Tag/.test(action)) return self.arn.replace(/:\*$/, '')
  if (!action.startsWith('apigateway:')) return self.arn
  if (
    TAGGED_API.test(self.type) &&
    (action === 'apigateway:PUT' || (part === 'update' && action === 'apigateway:POST'))
  )
    return `${API}/tags/${encodeURIComponent(self.arn)}`
  // An element is created in its collection.
  return action === 'apigateway:POST' ? self.arn.replace(/\/[^/]*$/, '') : self.arn
}

/** Requests that tag a resource, most of which create it. */
const REQUEST_TAGS = /:(Create|POST|PUT|Tag|PutMetricAlarm)/

const contextOf = (part: string, action: string, { type, Properties }: Resource) => ({
  ...(type === 'AWS::Lambda::EventSourceMapping' && { 'lambda:FunctionArn': Properties.FunctionName }),
  ...(type === 'AWS::IAM::Role' && { 'iam:PermissionsBoundary': Properties.PermissionsBoundary }),
  ...(type === 'AWS::Route53::RecordSet' && { [RECORD.names]: Properties.Name, [RECORD.types]: 'A' }),
  ...(action === 'iam:PassRole' && { 'iam:PassedToService': passedTo(type) }),
  ...(action === 'iam:CreateServiceLinkedRole' && { 'iam:AWSServiceName': linkedTo(type) }),
  ...(REQUEST_TAGS.test(action) && tagged('Request')),
  // A resource has no tags while it is created. A selection has those of its plan.
  ...(NAMELESS.test(type) &&
    (action === 'backup:CreateBackupSelection' || !(part === 'create' && REQUEST_TAGS.test(action))) &&
    tagged('Resource')),
})

/**
 * CloudFormation creates a resource, updates it and deletes it; a replacement creates the new one and deletes the old
 * one, and a rollback deletes what was created or restores what was updated.
 */
const partsOf = ({ DeletionPolicy, UpdateReplacePolicy }: Resource) => {
  const isRetained = DeletionPolicy === 'Retain' && UpdateReplacePolicy === 'Retain'
  return isRetained ? (['create', 'update'] as const) : (['create', 'update', 'delete'] as const)
}

/** CloudFormation's requests as the deployer over the whole lifecycle of a resource. @throws for an unknown type */
export const requestsFor = (template: Resolved, resource: Resource): Asked[] => {
  const schema = HANDLERS[resource.type]
  if (schema === undefined)
    throw new Error(
      `Cannot list the permissions for ${resource.id}: ${resource.type} is not in handlers.json`,
    )
  const unused = `${UNUSED['*']} ${UNUSED[resource.type] ?? ''}`
  return partsOf(resource).flatMap(part =>
    `${schema[part]} ${schema.read} ${MORE[resource.type]?.[part] ?? ''}`
      .replaceAll('s3:getObject', 's3:GetObject')
      .split(/\s+/)
      .filter(action => action !== '' && !covered(unused, action))
      .map(action => ({
        action,
        resource: targetOf(template, part, action, resource),
        context: contextOf(part, action, resource),
      })),
  )
}
