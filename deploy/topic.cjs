const ACCOUNT = { Ref: 'AWS::AccountId' }
const ACCOUNT_ROOT = { 'Fn::Join': [':', ['arn', { Ref: 'AWS::Partition' }, 'iam:', ACCOUNT, 'root']] }
const FROM_HERE = { StringEquals: { 'aws:SourceAccount': ACCOUNT } }
const CLOUDWATCH = { Service: 'cloudwatch.amazonaws.com' }

/** Where alarms go: an encrypted topic, and an e-mail address of it when one is given. */
module.exports = async ({ resolveVariable }) => {
  const stage = await resolveVariable('sls:stage')
  const email = await resolveVariable('param:alarmEmail')
  const Resources = {
    // Of its own, because CloudWatch may not use the account's aws/sns key.
    AlarmKey: {
      Type: 'AWS::KMS::Key',
      DeletionPolicy: 'Delete',
      UpdateReplacePolicy: 'Delete',
      Properties: {
        Description: `Alarms of order-relay ${stage}`,
        EnableKeyRotation: true,
        PendingWindowInDays: 7,
        KeyPolicy: {
          Version: '2012-10-17',
          Statement: [
            { Effect: 'Allow', Principal: { AWS: ACCOUNT_ROOT }, Action: 'kms:*', Resource: '*' },
            {
              Effect: 'Allow',
              Principal: CLOUDWATCH,
              Action: ['kms:Decrypt', 'kms:GenerateDataKey'],
              Resource: '*',
              Condition: FROM_HERE,
            },
          ],
        },
      },
    },
    AlarmTopic: {
      Type: 'AWS::SNS::Topic',
      Properties: { TopicName: `order-relay-${stage}-alarms`, KmsMasterKeyId: { Ref: 'AlarmKey' } },
    },
    AlarmTopicPolicy: {
      Type: 'AWS::SNS::TopicPolicy',
      Properties: {
        Topics: [{ Ref: 'AlarmTopic' }],
        PolicyDocument: {
          Version: '2012-10-17',
          Statement: [
            {
              Sid: 'AlarmsOfThisAccount',
              Effect: 'Allow',
              Principal: CLOUDWATCH,
              Action: 'sns:Publish',
              Resource: { Ref: 'AlarmTopic' },
              Condition: FROM_HERE,
            },
            {
              Sid: 'TlsOnly',
              Effect: 'Deny',
              Principal: '*',
              Action: 'sns:Publish',
              Resource: { Ref: 'AlarmTopic' },
              Condition: { Bool: { 'aws:SecureTransport': 'false' } },
            },
          ],
        },
      },
    },
  }
  if (email !== '') {
    Resources.AlarmEmail = {
      Type: 'AWS::SNS::Subscription',
      Properties: { TopicArn: { Ref: 'AlarmTopic' }, Protocol: 'email', Endpoint: email },
    }
  }
  return { Resources }
}
