import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import type { Template } from './packaged.ts'
import { ROOT } from './project.ts'

const tags = (service: string) =>
  `${service}:TagResource ${service}:UntagResource ${service}:ListTagsForResource`

const API = 'apigateway:GET apigateway:POST apigateway:PATCH apigateway:DELETE'

/** What CloudFormation calls, as the deployer, to create, read, update, tag and delete a resource of a type. */
const NEEDED: Readonly<Record<string, string>> = {
  'AWS::ApiGatewayV2::Api': `${API} apigateway:PUT`,
  'AWS::ApiGatewayV2::ApiMapping': API,
  // With the role that API Gateway creates for itself with the first domain of an account.
  'AWS::ApiGatewayV2::DomainName': `${API} iam:CreateServiceLinkedRole`,
  'AWS::ApiGatewayV2::Integration': API,
  'AWS::ApiGatewayV2::Route': API,
  // With an access log.
  'AWS::ApiGatewayV2::Stage': `${API} logs:CreateLogDelivery
    logs:GetLogDelivery logs:UpdateLogDelivery logs:DeleteLogDelivery logs:ListLogDeliveries logs:PutResourcePolicy
    logs:DescribeResourcePolicies`,
  // With the actions of the stack itself.
  'AWS::CloudFormation::Stack': '',
  'AWS::CloudWatch::Alarm': `cloudwatch:PutMetricAlarm cloudwatch:DeleteAlarms cloudwatch:DescribeAlarms ${tags('cloudwatch')}`,
  'AWS::CloudWatch::Dashboard': 'cloudwatch:PutDashboard cloudwatch:DeleteDashboards cloudwatch:GetDashboard',
  'AWS::CodeDeploy::Application': `codedeploy:CreateApplication codedeploy:DeleteApplication codedeploy:GetApplication
    codedeploy:UpdateApplication ${tags('codedeploy')}`,
  'AWS::CodeDeploy::DeploymentGroup': `codedeploy:CreateDeploymentGroup codedeploy:UpdateDeploymentGroup
    codedeploy:DeleteDeploymentGroup codedeploy:GetDeploymentGroup ${tags('codedeploy')} iam:PassRole`,
  'AWS::DynamoDB::Table': `dynamodb:CreateTable dynamodb:DescribeTable dynamodb:UpdateTable dynamodb:DeleteTable
    dynamodb:UpdateTimeToLive dynamodb:DescribeTimeToLive dynamodb:UpdateContinuousBackups
    dynamodb:DescribeContinuousBackups dynamodb:DescribeContributorInsights
    dynamodb:DescribeKinesisStreamingDestination dynamodb:GetResourcePolicy dynamodb:TagResource
    dynamodb:UntagResource dynamodb:ListTagsOfResource`,
  'AWS::Events::Rule': `events:PutRule events:DeleteRule events:DescribeRule events:PutTargets events:RemoveTargets
    events:ListTargetsByRule events:TagResource events:UntagResource`,
  'AWS::IAM::Role': `iam:CreateRole iam:DeleteRole iam:GetRole iam:UpdateRole iam:UpdateRoleDescription
    iam:UpdateAssumeRolePolicy iam:PutRolePolicy iam:DeleteRolePolicy iam:GetRolePolicy iam:TagRole iam:UntagRole
    iam:ListRoleTags`,
  'AWS::KMS::Key': `kms:CreateKey kms:DescribeKey kms:EnableKeyRotation kms:GetKeyRotationStatus kms:GetKeyPolicy
    kms:PutKeyPolicy kms:UpdateKeyDescription kms:ScheduleKeyDeletion kms:TagResource kms:UntagResource
    kms:ListResourceTags`,
  // With its shift, which CloudFormation starts and watches.
  'AWS::Lambda::Alias': `lambda:CreateAlias lambda:UpdateAlias lambda:DeleteAlias lambda:GetAlias
    codedeploy:CreateDeployment codedeploy:GetDeployment codedeploy:GetDeploymentConfig codedeploy:StopDeployment
    codedeploy:GetApplicationRevision codedeploy:RegisterApplicationRevision`,
  'AWS::Lambda::EventSourceMapping': `lambda:CreateEventSourceMapping lambda:UpdateEventSourceMapping
    lambda:DeleteEventSourceMapping lambda:GetEventSourceMapping`,
  'AWS::Lambda::Function': `lambda:CreateFunction lambda:UpdateFunctionCode lambda:UpdateFunctionConfiguration
    lambda:DeleteFunction lambda:GetFunction lambda:GetFunctionConfiguration lambda:PutFunctionConcurrency
    lambda:DeleteFunctionConcurrency lambda:TagResource lambda:UntagResource lambda:ListTags iam:PassRole`,
  'AWS::Lambda::Permission': 'lambda:AddPermission lambda:RemovePermission lambda:GetPolicy',
  'AWS::Lambda::Version': `lambda:PublishVersion lambda:DeleteFunction lambda:GetFunctionConfiguration
    lambda:GetProvisionedConcurrencyConfig lambda:GetRuntimeManagementConfig lambda:ListVersionsByFunction`,
  'AWS::Logs::LogGroup': `logs:CreateLogGroup logs:DeleteLogGroup logs:DescribeLogGroups logs:PutRetentionPolicy
    logs:DeleteRetentionPolicy ${tags('logs')}`,
  'AWS::Logs::MetricFilter': 'logs:PutMetricFilter logs:DeleteMetricFilter logs:DescribeMetricFilters',
  'AWS::Logs::QueryDefinition':
    'logs:PutQueryDefinition logs:DeleteQueryDefinition logs:DescribeQueryDefinitions',
  'AWS::Route53::RecordSet': `route53:ChangeResourceRecordSets route53:GetChange route53:GetHostedZone
    route53:ListResourceRecordSets`,
  'AWS::S3::Bucket': `s3:CreateBucket s3:DeleteBucket s3:GetEncryptionConfiguration s3:PutEncryptionConfiguration
    s3:GetBucketPublicAccessBlock s3:PutBucketPublicAccessBlock s3:GetBucketTagging s3:PutBucketTagging`,
  'AWS::S3::BucketPolicy': 's3:GetBucketPolicy s3:PutBucketPolicy s3:DeleteBucketPolicy',
  'AWS::SNS::Subscription':
    'sns:Subscribe sns:Unsubscribe sns:GetSubscriptionAttributes sns:ListSubscriptionsByTopic',
  'AWS::SNS::Topic': `sns:CreateTopic sns:DeleteTopic sns:GetTopicAttributes sns:SetTopicAttributes
    sns:ListSubscriptionsByTopic sns:GetDataProtectionPolicy ${tags('sns')}`,
  'AWS::SNS::TopicPolicy': 'sns:SetTopicAttributes',
  'AWS::SQS::Queue': `sqs:CreateQueue sqs:DeleteQueue sqs:GetQueueAttributes sqs:GetQueueUrl sqs:SetQueueAttributes
    sqs:TagQueue sqs:UntagQueue sqs:ListQueueTags`,
  'AWS::SQS::QueuePolicy': 'sqs:SetQueueAttributes',
}

/** What osls and deploy/adopt-orders.ts call themselves; the deployment test shows that it suffices. */
const OWN = `cloudformation:CreateStack cloudformation:UpdateStack cloudformation:DeleteStack
  cloudformation:DescribeStacks cloudformation:DescribeStackEvents cloudformation:DescribeStackResource
  cloudformation:DescribeStackResources cloudformation:ListStackResources cloudformation:GetTemplate
  cloudformation:CreateChangeSet cloudformation:DescribeChangeSet cloudformation:ExecuteChangeSet
  cloudformation:DeleteChangeSet cloudformation:ValidateTemplate s3:GetBucketLocation s3:ListBucket
  s3:ListBucketVersions s3:PutObject s3:GetObject s3:DeleteObject s3:DeleteObjectVersion`

const policy = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ Statement: v.array(v.looseObject({ Action: v.array(v.string()) })) }),
)

const words = (text: string) => text.split(/\s+/)

/** Actions that docs/iam/deployer.json lacks for the resources of a package, or grants without need. */
export const deployerProblems = async (resources: Template['Resources']): Promise<string[]> => {
  const types = [...new Set(Object.values(resources).map(({ Type }) => Type))]
  const file = await readFile(join(ROOT, 'docs/iam/deployer.json'), 'utf8')
  const granted = new Set(v.parse(policy, file).Statement.flatMap(({ Action }) => Action))
  const needed = new Set([...words(OWN), ...types.flatMap(type => words(NEEDED[type] ?? ''))])
  return [
    ...types
      .filter(type => NEEDED[type] === undefined)
      .map(type => `test/deploy/deployer.ts does not know ${type}`),
    ...[...needed]
      .filter(action => action !== '' && !granted.has(action))
      .map(action => `a deployer may not ${action}`),
    ...[...granted].filter(action => !needed.has(action)).map(action => `a deployer need not ${action}`),
  ]
}
