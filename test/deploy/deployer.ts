import { grants } from './policies.ts'
import { arn, ofType, type PolicyDocument, type Resolved, STACK } from './resolve.ts'

const TAGS = 'TagResource UntagResource ListTagsForResource'
const API = 'GET POST PATCH DELETE'

/**
 * The actions that CloudFormation calls as the deployer to create, read, update, tag and delete a resource of a type,
 * in the resource's own service and in others.
 */
const NEEDED: Readonly<Record<string, string>> = {
  'AWS::ApiGatewayV2::Api': `${API} PUT`,
  'AWS::ApiGatewayV2::ApiMapping': API,
  // Includes the service-linked role that API Gateway creates with the first domain of an account.
  'AWS::ApiGatewayV2::DomainName': `${API} iam:CreateServiceLinkedRole`,
  'AWS::ApiGatewayV2::Integration': API,
  'AWS::ApiGatewayV2::Route': API,
  // Includes the access log.
  'AWS::ApiGatewayV2::Stage': `${API} logs:CreateLogDelivery logs:GetLogDelivery logs:UpdateLogDelivery
    logs:DeleteLogDelivery logs:ListLogDeliveries logs:PutResourcePolicy logs:DescribeResourcePolicies`,
  'AWS::Budgets::Budget': `ModifyBudget ViewBudget ${TAGS}`,
  // The nested stacks, and with osls and deploy/adopt-orders.ts the stack itself.
  'AWS::CloudFormation::Stack': `CreateStack UpdateStack DeleteStack DescribeStacks DescribeStackEvents
    DescribeStackResource DescribeStackResources ListStackResources GetTemplate CreateChangeSet DescribeChangeSet
    ExecuteChangeSet DeleteChangeSet ValidateTemplate SetStackPolicy UpdateTerminationProtection`,
  'AWS::CloudWatch::Alarm': `PutMetricAlarm DeleteAlarms DescribeAlarms ${TAGS}`,
  'AWS::CloudWatch::Dashboard': 'PutDashboard DeleteDashboards GetDashboard',
  'AWS::CodeDeploy::Application': `CreateApplication DeleteApplication GetApplication UpdateApplication
    ${TAGS}`,
  'AWS::CodeDeploy::DeploymentGroup': `CreateDeploymentGroup UpdateDeploymentGroup DeleteDeploymentGroup
    GetDeploymentGroup ${TAGS}`,
  'AWS::DynamoDB::Table': `CreateTable DescribeTable UpdateTable DeleteTable UpdateTimeToLive
    DescribeTimeToLive UpdateContinuousBackups DescribeContinuousBackups DescribeContributorInsights
    DescribeKinesisStreamingDestination GetResourcePolicy TagResource UntagResource ListTagsOfResource`,
  'AWS::Events::Rule':
    'PutRule DeleteRule DescribeRule PutTargets RemoveTargets ListTargetsByRule TagResource UntagResource',
  // Passed to functions and CodeDeploy.
  'AWS::IAM::Role': `PassRole CreateRole DeleteRole GetRole UpdateRole UpdateRoleDescription UpdateAssumeRolePolicy
    PutRolePolicy DeleteRolePolicy GetRolePolicy TagRole UntagRole ListRoleTags`,
  'AWS::KMS::Key': `CreateKey DescribeKey EnableKeyRotation GetKeyRotationStatus GetKeyPolicy PutKeyPolicy
    UpdateKeyDescription ScheduleKeyDeletion TagResource UntagResource ListResourceTags`,
  // Includes the traffic shift, which CloudFormation starts and monitors.
  'AWS::Lambda::Alias': `CreateAlias UpdateAlias DeleteAlias GetAlias codedeploy:CreateDeployment
    codedeploy:GetDeployment codedeploy:GetDeploymentConfig codedeploy:StopDeployment
    codedeploy:GetApplicationRevision codedeploy:RegisterApplicationRevision`,
  'AWS::Lambda::EventSourceMapping':
    'CreateEventSourceMapping UpdateEventSourceMapping DeleteEventSourceMapping GetEventSourceMapping',
  'AWS::Lambda::Function': `CreateFunction UpdateFunctionCode UpdateFunctionConfiguration DeleteFunction
    GetFunction GetFunctionConfiguration PutFunctionConcurrency DeleteFunctionConcurrency TagResource
    UntagResource ListTags`,
  'AWS::Lambda::Permission': 'AddPermission RemovePermission GetPolicy',
  'AWS::Lambda::Version': `PublishVersion DeleteFunction GetFunctionConfiguration
    GetProvisionedConcurrencyConfig GetRuntimeManagementConfig ListVersionsByFunction`,
  'AWS::Logs::LogGroup': `CreateLogGroup DeleteLogGroup DescribeLogGroups PutRetentionPolicy
    DeleteRetentionPolicy ${TAGS}`,
  'AWS::Logs::MetricFilter': 'PutMetricFilter DeleteMetricFilter DescribeMetricFilters',
  'AWS::Logs::QueryDefinition': 'PutQueryDefinition DeleteQueryDefinition DescribeQueryDefinitions',
  'AWS::Route53::RecordSet': 'ChangeResourceRecordSets GetChange GetHostedZone ListResourceRecordSets',
  'AWS::S3::Bucket': `CreateBucket DeleteBucket GetEncryptionConfiguration PutEncryptionConfiguration
    GetBucketPublicAccessBlock PutBucketPublicAccessBlock GetBucketTagging PutBucketTagging`,
  'AWS::S3::BucketPolicy': 'GetBucketPolicy PutBucketPolicy DeleteBucketPolicy',
  'AWS::SNS::Subscription': 'Subscribe Unsubscribe GetSubscriptionAttributes ListSubscriptionsByTopic',
  'AWS::SNS::Topic': `CreateTopic DeleteTopic GetTopicAttributes SetTopicAttributes
    ListSubscriptionsByTopic GetDataProtectionPolicy ${TAGS}`,
  'AWS::SNS::TopicPolicy': 'SetTopicAttributes',
  'AWS::SQS::Queue': `CreateQueue DeleteQueue GetQueueAttributes GetQueueUrl SetQueueAttributes TagQueue
    UntagQueue ListQueueTags`,
  'AWS::SQS::QueuePolicy': 'SetQueueAttributes',
}

/** The actions that osls and deploy/adopt-orders.ts call directly; the deployment test shows that they suffice. */
const OWN = `s3:GetBucketLocation s3:ListBucket s3:ListBucketVersions s3:PutObject s3:GetObject s3:DeleteObject
  s3:DeleteObjectVersion`

const actions = (words: string, service = '') =>
  words.split(/\s+/).map(word => (word.includes(':') ? word : `${service}:${word}`))

const serviceOf = (type: string) => type.split('::')[1]?.toLowerCase().replace('v2', '')

/** Missing and unused actions of docs/iam/deployer.json for a deployment of the template. */
export function* deployerViolations(template: Resolved, policy: PolicyDocument) {
  const granted = new Set(policy.Statement.flatMap(({ Action }) => Action))
  const needed = new Set<string>()
  const bucket = ofType(template, 'AWS::S3::Bucket').map(({ arn }) => arn)
  const all = template.resources.map(({ type, arn, DeletionPolicy }) => ({ type, arn, DeletionPolicy }))
  const own = { type: 'AWS::CloudFormation::Stack', arn: arn('cloudformation', `stack/${STACK}/1`) }
  for (const { type, arn, DeletionPolicy } of [...all, { ...own, DeletionPolicy: '' }]) {
    if (NEEDED[type] === undefined) yield `what resources of the type ${type} need is not known`
    for (const action of actions(NEEDED[type] ?? '', serviceOf(type))) {
      needed.add(action)
      const isOwn = action.startsWith(`${serviceOf(type)}:`)
      // Retained resources are not deleted.
      const isWanted = action !== 'dynamodb:DeleteTable' || DeletionPolicy === 'Delete'
      if (isOwn ? grants(policy, action, arn) !== isWanted : !granted.has(action))
        yield `the deployer may${isWanted ? ' not' : ''} ${action} on ${arn}`
    }
  }
  for (const action of actions(OWN)) {
    needed.add(action)
    if (!bucket.every(arn => grants(policy, action, arn))) yield `the deployer may not ${action} on ${bucket}`
  }
  for (const action of granted)
    if (!needed.has(action)) yield `the deployer may ${action}, which nothing needs`
}
