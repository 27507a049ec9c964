const { feedsOf } = require('./feeds.cjs')

/** A policy for each queue that refuses whoever does not speak TLS. */
module.exports = async () => {
  const feeds = (await feedsOf()).map(({ id }) => id)
  const queues = ['OrderLine', 'OrderLineDead', 'Quarantine', 'FeedsDead', ...feeds]
  return {
    Resources: Object.fromEntries(
      queues.map(id => [
        `${id}TlsOnly`,
        {
          Type: 'AWS::SQS::QueuePolicy',
          Properties: {
            Queues: [{ Ref: id }],
            PolicyDocument: {
              Version: '2012-10-17',
              Statement: [
                {
                  Sid: 'TlsOnly',
                  Effect: 'Deny',
                  Principal: '*',
                  Action: 'sqs:*',
                  Resource: { 'Fn::GetAtt': [id, 'Arn'] },
                  Condition: { Bool: { 'aws:SecureTransport': 'false' } },
                },
              ],
            },
          },
        },
      ]),
    ),
  }
}
