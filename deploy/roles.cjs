const { feedsOf } = require('./feeds.cjs')

const arnOf = id => ({ 'Fn::GetAtt': [id, 'Arn'] })
const allow = (actions, resources) => ({ Effect: 'Allow', Action: actions, Resource: resources })

const parameterArn = name => ({
  'Fn::Sub': `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter${name}`,
})

/** The parameters below a path; SecureString with the account's own aws/ssm key needs no further right. */
const readParameters = path => allow(['ssm:GetParametersByPath'], [parameterArn(path)])

/** The role of one function: what it does, its own log group, and traces. */
const roleOf = (functionId, statements) => ({
  Type: 'AWS::IAM::Role',
  Properties: {
    Description: `What the function ${functionId} of order-relay may do`,
    AssumeRolePolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' },
      ],
    },
    Policies: [
      {
        PolicyName: 'exactly-this',
        PolicyDocument: {
          Version: '2012-10-17',
          Statement: [
            ...statements,
            allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [arnOf(`${functionId}LogGroup`)]),
            // X-Ray knows no resources: AWS gives these two actions on everything or not at all.
            allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], ['*']),
          ],
        },
      },
    ],
  },
})

const READ_QUEUE = [
  'sqs:ReceiveMessage',
  'sqs:DeleteMessage',
  'sqs:ChangeMessageVisibility',
  'sqs:GetQueueAttributes',
]

/** One role for each function, named after it: exact actions on exact resources. */
module.exports = async ({ resolveVariable }) => {
  const secrets = `/order-relay/${await resolveVariable('sls:stage')}`
  const stores = await feedsOf()
  const feeds = stores.map(({ id }) => arnOf(id))
  const httpFeeds = stores.filter(({ feed }) => feed !== 'sqs').map(({ id }) => arnOf(id))

  return {
    Resources: {
      WebhookRole: roleOf('Webhook', [
        allow(['dynamodb:GetItem', 'dynamodb:PutItem'], [arnOf('DeliveriesTable')]),
        allow(['sqs:SendMessage'], [arnOf('OrderLine'), arnOf('Quarantine')]),
        readParameters(`${secrets}/webhook-secrets`),
      ]),
      OrdersRole: roleOf('Orders', [
        allow(['dynamodb:GetItem'], [arnOf('OrdersTable')]),
        allow(['sqs:SendMessage'], [arnOf('OrderLine')]),
        readParameters(`${secrets}/store-keys`),
      ]),
      FeederRole: roleOf('Feeder', [
        // A statement without resources is not allowed.
        ...(httpFeeds.length > 0 ? [allow(READ_QUEUE, httpFeeds)] : []),
        allow(['sqs:SendMessage'], [arnOf('FeedsDead')]),
        readParameters(`${secrets}/feed-secrets`),
      ]),
      WorkerRole: roleOf('Worker', [
        allow(['dynamodb:GetItem', 'dynamodb:PutItem'], [arnOf('OrdersTable')]),
        allow(READ_QUEUE, [arnOf('OrderLine')]),
        allow(['sqs:SendMessage'], [arnOf('Quarantine'), ...feeds]),
        allow(['ssm:GetParameter'], [parameterArn(`${secrets}/accounting-key`)]),
      ]),
      ReconcileRole: roleOf('Reconcile', [
        allow(['dynamodb:Query'], [{ 'Fn::Join': ['/', [arnOf('OrdersTable'), 'index/unsettled']] }]),
        allow(['dynamodb:UpdateItem'], [arnOf('OrdersTable')]),
        allow(['sqs:SendMessage'], [arnOf('OrderLine')]),
      ]),
    },
  }
}
