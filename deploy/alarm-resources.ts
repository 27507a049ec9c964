import { type Alarm, alarmName, alarmsFor, feedAlarmsFor, THROTTLED } from './alarms.ts'
import {
  denyWithoutTls,
  FUNCTION_IDS,
  nestedStack,
  policy,
  type Resource,
  type Resources,
  ref,
  type Stack,
  stackName,
} from './cloudformation.ts'
import { type MathAlarm, tableAlarms, undeletedAlarms } from './math-alarms.ts'
import { QUEUE_IDS } from './queues.ts'

const ACCOUNT = ref('AWS::AccountId')
const ACCOUNT_ROOT = { 'Fn::Join': [':', ['arn', ref('AWS::Partition'), 'iam:', ACCOUNT, 'root']] }
/** Allows CloudWatch to act for the alarms of this account. */
const fromAlarms = (Action: unknown, Resource: unknown) => ({
  Effect: 'Allow',
  Principal: { Service: 'cloudwatch.amazonaws.com' },
  Action,
  Resource,
  Condition: { StringEquals: { 'aws:SourceAccount': ACCOUNT } },
})

/** The encrypted topic for alarms, with a subscription if there is an e-mail address. */
const topic = (service: string, email: string): Resources => ({
  // A customer managed key: CloudWatch may not use the account's aws/sns key.
  AlarmKey: {
    Type: 'AWS::KMS::Key',
    DeletionPolicy: 'Delete',
    UpdateReplacePolicy: 'Delete',
    Properties: {
      Description: `Alarms of ${service}`,
      EnableKeyRotation: true,
      PendingWindowInDays: 7,
      KeyPolicy: policy(
        { Effect: 'Allow', Principal: { AWS: ACCOUNT_ROOT }, Action: 'kms:*', Resource: '*' },
        fromAlarms(['kms:Decrypt', 'kms:GenerateDataKey'], '*'),
      ),
    },
  },
  AlarmTopic: {
    Type: 'AWS::SNS::Topic',
    Properties: { TopicName: `${service}-alarms`, KmsMasterKeyId: ref('AlarmKey') },
  },
  AlarmTopicPolicy: {
    Type: 'AWS::SNS::TopicPolicy',
    Properties: {
      Topics: [ref('AlarmTopic')],
      PolicyDocument: policy(
        fromAlarms('sns:Publish', ref('AlarmTopic')),
        denyWithoutTls('sns:Publish', ref('AlarmTopic')),
      ),
    },
  },
  ...(email !== '' && {
    AlarmEmail: {
      Type: 'AWS::SNS::Subscription',
      Properties: { TopicArn: ref('AlarmTopic'), Protocol: 'email', Endpoint: email },
    },
  }),
})

/** Counts throttled requests: API Gateway has no metric for them. */
const throttledRequests = (service: string): Resource => ({
  Type: 'AWS::Logs::MetricFilter',
  Properties: {
    LogGroupName: ref('HttpApiLogGroup'),
    // Excludes the default route, which only scanners use and which has a low limit, and the function's own 429.
    FilterPattern: '{ ($.status = "429") && ($.route != "$default") && ($.integrationLatency = "-") }',
    // A metric filter takes dimensions only from the log, so the stack's name is the namespace.
    MetricTransformations: [
      { MetricNamespace: service, MetricName: THROTTLED, MetricValue: '1', Unit: 'Count' },
    ],
  },
})

/** @param condition the properties that define when it is raised */
export const alarmWith = (
  service: string,
  alarm: Omit<Alarm, 'condition'>,
  condition: Readonly<Record<string, unknown>>,
): Resource => ({
  Type: 'AWS::CloudWatch::Alarm',
  Properties: {
    AlarmName: alarmName(service, alarm),
    AlarmDescription: `${alarm.summary}. Runbook: docs/runbook/${alarm.page}.md`,
    AlarmActions: [ref('AlarmTopic')],
    OKActions: [ref('AlarmTopic')],
    ...condition,
  },
})

const alarmResource = (service: string, alarm: Alarm): Resource => {
  const { Statistic, ...condition } = alarm.condition
  const statistic = Statistic === 'p99' ? { ExtendedStatistic: Statistic } : { Statistic }
  return alarmWith(service, alarm, { ...statistic, ...condition })
}

/** The resources that the stack's own alarms measure, by the names used in their conditions. */
const MEASURED = {
  HttpApi: ref('HttpApi'),
  ...Object.fromEntries(FUNCTION_IDS.map(id => `${id}LambdaFunction`).map(id => [id, ref(id)])),
  ...Object.fromEntries(Object.values(QUEUE_IDS).map(id => [id, { 'Fn::GetAtt': [id, 'QueueName'] }])),
}

/** @param email the recipient of the alarms, if any */
export const alarmResources = (stack: Stack, email: string): Resources => {
  const service = stackName(stack.stage)
  const resources = (alarms: Record<string, Alarm>) =>
    Object.entries(alarms).map(([id, alarm]) => [`${id}Alarm`, alarmResource(service, alarm)] as const)
  const math = (alarms: Record<string, MathAlarm>) =>
    Object.entries(alarms).map(
      ([id, { condition, ...alarm }]) => [`${id}Alarm`, alarmWith(service, alarm, condition)] as const,
    )
  const AlarmTopic = ref('AlarmTopic')
  return {
    ...topic(service, email),
    ThrottledRequests: throttledRequests(service),
    // One stack holds 500 resources, and the main one has the stores' queues.
    ...nestedStack('Alarms', { AlarmTopic, ...MEASURED }, [
      ...resources(alarmsFor(service, stack.stores)),
      ...math(tableAlarms(stack)),
    ]),
    ...nestedStack('UndeletedAlarms', { AlarmTopic }, math(undeletedAlarms(stack))),
    ...nestedStack('FeedAlarms', { AlarmTopic }, resources(feedAlarmsFor(stack))),
  }
}
