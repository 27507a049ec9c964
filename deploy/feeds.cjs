// The queues of the stores' feeds, one for each store of stores.yml, as CloudFormation resources.
module.exports = async ({ resolveVariable }) => {
  const { readStores } = await import('./stores.ts')
  const { feedQueueName } = await import('../lib/feeds/sqs.ts')
  const prefix = await resolveVariable('param:prefix')
  const Resources = {}
  for (const { source } of readStores('stores.yml')) {
    // Logical ids are letters and digits only; hex keeps two sources apart that differ in "-" or "_".
    Resources[`Feed${Buffer.from(source).toString('hex')}`] = {
      Type: 'AWS::SQS::Queue',
      Properties: {
        QueueName: `${prefix}${feedQueueName(source)}`,
        FifoQueue: true,
        DeduplicationScope: 'messageGroup',
        FifoThroughputLimit: 'perMessageGroupId',
        MessageRetentionPeriod: 1209600,
      },
    }
  }
  return { Resources }
}
