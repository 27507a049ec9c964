const { feedsOf } = require('./feeds.cjs')

// The feeder's event sources: the queue of each store with an HTTP feed; none without such a store.
module.exports = async () =>
  (await feedsOf())
    .filter(({ feed }) => feed !== 'sqs')
    .map(({ id }) => ({
      sqs: {
        arn: { 'Fn::GetAtt': [id, 'Arn'] },
        batchSize: 10,
        functionResponseType: 'ReportBatchItemFailures',
        // A slow shop shall not take the account's concurrency from the order line.
        maximumConcurrency: 10,
      },
    }))
