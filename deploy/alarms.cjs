const { feedsOf } = require('./feeds.cjs')

const MINUTE = 60
const HOUR = 60 * MINUTE

const ref = id => ({ Ref: id })
const nameOf = queueId => ({ 'Fn::GetAtt': [queueId, 'QueueName'] })
const dimensions = values => Object.entries(values).map(([Name, Value]) => ({ Name, Value }))

const metric = (Namespace, MetricName, values) => ({ Namespace, MetricName, Dimensions: dimensions(values) })
const ofQueue = (queueId, name) => metric('AWS/SQS', name, { QueueName: nameOf(queueId) })
const ofFunction = (functionId, name) => metric('AWS/Lambda', name, { FunctionName: ref(functionId) })

/** One metric, compared with a threshold. */
const when = (source, Statistic, Period, ComparisonOperator, Threshold) => ({
  ...source,
  Statistic,
  Period,
  EvaluationPeriods: 1,
  ComparisonOperator,
  Threshold,
})
const above = (source, statistic, period, threshold) =>
  when(source, statistic, period, 'GreaterThanThreshold', threshold)
const any = source => above(source, 'Sum', 5 * MINUTE, 0)
const notEmpty = queueId =>
  above(ofQueue(queueId, 'ApproximateNumberOfMessagesVisible'), 'Maximum', 5 * MINUTE, 0)

/** Each alarm: the page of its runbook, what has happened, and when it rings. */
const alarmsFor = (service, feeds) => {
  const ours = (name, values = {}) => metric('order-relay', name, { service, ...values })
  return {
    DeadLetters: {
      page: 'dead-letters',
      happened: 'Something that happened to an order was tried for days in vain and waits for a replay',
      rings: above(ofQueue('OrderLineDead', 'ApproximateNumberOfMessagesVisible'), 'Maximum', 5 * MINUTE, 0),
    },
    Quarantined: {
      page: 'quarantine',
      happened: 'Something authentic came in that the relay cannot read',
      rings: notEmpty('Quarantine'),
    },
    LineAge: {
      page: 'line-age',
      happened: 'Something has waited in the order line for over 15 minutes',
      rings: above(ofQueue('OrderLine', 'ApproximateAgeOfOldestMessage'), 'Maximum', 5 * MINUTE, 15 * MINUTE),
    },
    // SQS leaves a message out of its age once it was received three times in vain, so the worker says how old
    // a message is each time it fails. It comes again at least every 15 minutes.
    LineStuck: {
      page: 'line-stuck',
      happened: 'An order fails again and again and is over 30 minutes behind',
      rings: above(ours('FailingAge'), 'Maximum', 30 * MINUTE, 30 * MINUTE),
    },
    DoorErrors: {
      page: 'door-errors',
      happened: 'The webhook or the API of the stores answered with a server error',
      rings: any(metric('AWS/ApiGateway', '5xx', { ApiId: ref('HttpApi') })),
    },
    DeliveriesNotKept: {
      page: 'deliveries-not-kept',
      happened: 'DynamoDB or SQS did not answer, and the accounting service was asked to send again',
      rings: any(ours('ReceiveFailed')),
    },
    RequestsNotKept: {
      page: 'requests-not-kept',
      happened: 'DynamoDB or SQS did not answer, and a store was asked to send its request again',
      rings: any(ours('RequestFailed')),
    },
    // One delivery with a wrong signature comes five times within a quarter of an hour, so this rings at the
    // first of a secret that is wrong, and not at a stray request.
    SignatureFailures: {
      page: 'signature-failures',
      happened: 'Many webhooks are not signed with a secret that the relay knows',
      rings: when(
        ours('Received', { outcome: 'forged' }),
        'Sum',
        15 * MINUTE,
        'GreaterThanOrEqualToThreshold',
        5,
      ),
    },
    ServiceUnauthorized: {
      page: 'service-unauthorized',
      happened: 'The accounting service refuses the API key, so no order can be served',
      rings: any(ours('ServiceUnauthorized')),
    },
    BreakerOpen: {
      page: 'breaker-open',
      happened: 'The accounting service is unavailable; orders wait',
      rings: any(ours('BreakerOpened')),
    },
    WorkerErrors: {
      page: 'worker-errors',
      happened: 'The worker crashed or ran out of time',
      rings: any(ofFunction('WorkerLambdaFunction', 'Errors')),
    },
    WorkerThrottles: {
      page: 'worker-throttles',
      happened: 'AWS does not let as many workers run as there is work',
      rings: any(ofFunction('WorkerLambdaFunction', 'Throttles')),
    },
    ReconcileErrors: {
      page: 'reconcile-errors',
      happened: 'Orders whose webhook never came could not be looked for',
      rings: any(ofFunction('ReconcileLambdaFunction', 'Errors')),
    },
    FeederErrors: {
      page: 'feeder-errors',
      happened: 'The function that tells stores by HTTP crashed or ran out of time',
      rings: any(ofFunction('FeederLambdaFunction', 'Errors')),
    },
    FeedDisabled: {
      page: 'feed-disabled',
      happened: 'A store has not taken its messages by HTTP for so long that it is only probed now and then',
      // Counted at each probe, every 25 minutes at the latest.
      rings: above(ours('FeedDisabled'), 'Sum', 30 * MINUTE, 0),
    },
    // As LineStuck, for what waits in a store's queue for its HTTP endpoint.
    FeedStuck: {
      page: 'feed-stuck',
      happened: 'A store refuses a message by HTTP again and again, for over an hour',
      rings: above(ours('FeedFailingAge'), 'Maximum', 30 * MINUTE, HOUR),
    },
    FeedDeadLetters: {
      page: 'feed-dead-letters',
      happened: 'A message for a store was tried for days in vain and waits for a replay',
      rings: notEmpty('FeedsDead'),
    },
    ...Object.fromEntries(
      feeds.map(({ source, id }) => [
        `${id}Age`,
        {
          page: 'feed-age',
          name: `feed-age-${source}`,
          happened: `The store "${source}" has not taken its messages for over an hour`,
          rings: above(ofQueue(id, 'ApproximateAgeOfOldestMessage'), 'Maximum', 15 * MINUTE, HOUR),
        },
      ]),
    ),
  }
}

/** The alarms of the stack; each says where its page of the runbook is. */
module.exports = async ({ resolveVariable }) => {
  const service = `order-relay-${await resolveVariable('sls:stage')}`
  const alarms = alarmsFor(service, await feedsOf())
  return {
    Resources: Object.fromEntries(
      Object.entries(alarms).map(([id, { page, name = page, happened, rings }]) => [
        `${id}Alarm`,
        {
          Type: 'AWS::CloudWatch::Alarm',
          Properties: {
            AlarmName: `${service}-${name}`,
            AlarmDescription: `${happened}. What to do: docs/runbook/${page}.md`,
            AlarmActions: [ref('AlarmTopic')],
            OKActions: [ref('AlarmTopic')],
            // No metric means that nothing of the kind has happened.
            TreatMissingData: 'notBreaching',
            ...rings,
          },
        },
      ]),
    ),
  }
}
module.exports.alarmsFor = alarmsFor
