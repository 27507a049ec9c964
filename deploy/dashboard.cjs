const { alarmsFor } = require('./alarms.cjs')
const { feedsOf } = require('./feeds.cjs')

/** A place in the body of a dashboard, which is text, where CloudFormation puts in what it knows. */
const fill = name => `\${${name}}`

const OUTCOMES = ['queued', 'duplicate', 'ignored', 'forged', 'contradictory', 'unreadable', 'too large']
const STATUSES = ['200', '202', '400', '401', '403', '404', '413', '503']
const EVENTS = ['order.updated', 'order.create', 'order.payment', 'order.refund', 'order.check']

const graph = (title, metrics, { stat = 'Sum', stacked = false } = {}) => ({
  type: 'metric',
  properties: { title, region: fill('AWS::Region'), view: 'timeSeries', stat, period: 60, stacked, metrics },
})
const words = markdown => ({ type: 'text', properties: { markdown } })

/** Rows of widgets, from the doors to the feeds. */
const rowsFor = (service, feeds) => {
  const ours = (name, ...dimensions) => ['order-relay', name, 'service', service, ...dimensions]
  const ofQueue = (id, name, label, more = {}) => [
    'AWS/SQS',
    name,
    'QueueName',
    fill(`${id}.QueueName`),
    { label, ...more },
  ]
  const ofFunction = (id, name, label, more = {}) => [
    'AWS/Lambda',
    name,
    'FunctionName',
    fill(`${id}LambdaFunction`),
    { label, ...more },
  ]
  const ofApi = (name, label) => ['AWS/ApiGateway', name, 'ApiId', fill('HttpApi'), { label }]

  return [
    {
      height: 2,
      widgets: [
        words(`# ${service}: doors, line, worker, feeds\nEach alarm has a page in \`docs/runbook\`.`),
        {
          type: 'alarm',
          properties: {
            title: 'What rings',
            states: ['ALARM'],
            alarms: Object.keys(alarmsFor(service, feeds)).map(id => fill(`${id}Alarm.Arn`)),
          },
        },
      ],
    },
    {
      height: 6,
      widgets: [
        graph(
          'Webhooks, by outcome',
          OUTCOMES.map(outcome => ours('Received', 'outcome', outcome, { label: outcome })),
          { stacked: true },
        ),
        graph(
          'Requests of stores, by answer',
          STATUSES.map(status => ours('Requests', 'status', status, { label: status })),
          { stacked: true },
        ),
        graph('Doors: answers', [
          ofApi('Count', 'requests'),
          ofApi('4xx', '4xx'),
          ofApi('5xx', '5xx'),
          ours('ReceiveFailed', { label: 'webhooks not kept' }),
          ours('RequestFailed', { label: 'requests not kept' }),
        ]),
        graph('Doors: time to answer, ms', [
          ['AWS/ApiGateway', 'Latency', 'ApiId', fill('HttpApi'), { label: 'median', stat: 'p50' }],
          ['AWS/ApiGateway', 'Latency', 'ApiId', fill('HttpApi'), { label: '99 of 100', stat: 'p99' }],
        ]),
      ],
    },
    {
      height: 6,
      widgets: [
        graph(
          'Order line: waiting, in work, dead, in quarantine',
          [
            ofQueue('OrderLine', 'ApproximateNumberOfMessagesVisible', 'waiting'),
            ofQueue('OrderLine', 'ApproximateNumberOfMessagesNotVisible', 'in work or put off'),
            ofQueue('OrderLineDead', 'ApproximateNumberOfMessagesVisible', 'dead letters'),
            ofQueue('Quarantine', 'ApproximateNumberOfMessagesVisible', 'quarantine'),
          ],
          { stat: 'Maximum' },
        ),
        graph(
          'Order line: how old, s',
          [
            ofQueue('OrderLine', 'ApproximateAgeOfOldestMessage', 'oldest'),
            ours('FailingAge', { label: 'oldest that fails' }),
          ],
          { stat: 'Maximum' },
        ),
        graph('Worker', [
          ofFunction('Worker', 'Invocations', 'runs'),
          ofFunction('Worker', 'Errors', 'errors'),
          ofFunction('Worker', 'Throttles', 'throttled'),
          ofFunction('Worker', 'ConcurrentExecutions', 'side by side', { stat: 'Maximum' }),
          ours('Quarantined', 'from', 'line', { label: 'could not read' }),
        ]),
      ],
    },
    {
      height: 6,
      widgets: [
        graph(
          'Orders: moved on, by what moved them',
          EVENTS.map(event => ours('Advanced', 'event', event, 'changed', 'true', { label: event })),
          { stacked: true },
        ),
        graph('Accounting service', [
          ours('Retried', { label: 'tried again later' }),
          ours('ServiceUnauthorized', { label: 'refuses our key' }),
          ours('BreakerOpened', { label: 'left alone' }),
        ]),
        graph('Checks for webhooks that never came', [
          ofFunction('Reconcile', 'Invocations', 'runs'),
          ofFunction('Reconcile', 'Errors', 'errors'),
        ]),
      ],
    },
    {
      height: 6,
      widgets: [
        graph(
          'Feeds: how old is what stores have not taken, s',
          [
            ...feeds.map(({ source, id }) => ofQueue(id, 'ApproximateAgeOfOldestMessage', source)),
            ours('FeedFailingAge', { label: 'oldest that fails by HTTP' }),
          ],
          { stat: 'Maximum' },
        ),
        graph(
          'Feeds: taken by stores',
          feeds.map(({ source, id }) => ofQueue(id, 'NumberOfMessagesDeleted', source)),
        ),
        graph('Feeds by HTTP', [
          ours('FeedRetried', { label: 'tried again later' }),
          ours('FeedDisabled', { label: 'found disabled' }),
          ours('FeedPutAside', { label: 'put aside' }),
          ofQueue('FeedsDead', 'ApproximateNumberOfMessagesVisible', 'dead letters', { stat: 'Maximum' }),
        ]),
      ],
    },
  ]
}

const COLUMNS = 24

/** Places rows below each other, the widgets of a row side by side. */
const layOut = rows => {
  let y = 0
  return rows.flatMap(({ height, widgets }) => {
    const width = COLUMNS / widgets.length
    const placed = widgets.map((widget, index) => ({ ...widget, x: index * width, y, width, height }))
    y += height
    return placed
  })
}

/** One dashboard that shows the flow from the doors to the feeds. */
module.exports = async ({ resolveVariable }) => {
  const service = `order-relay-${await resolveVariable('sls:stage')}`
  const widgets = layOut(rowsFor(service, await feedsOf()))
  return {
    Resources: {
      Dashboard: {
        Type: 'AWS::CloudWatch::Dashboard',
        Properties: {
          DashboardName: service,
          DashboardBody: { 'Fn::Sub': JSON.stringify({ widgets }) },
        },
      },
    },
  }
}
module.exports.rowsFor = rowsFor
