import type { OrderEvent } from '../lib/orders/events.ts'
import { isProbed, METRICS_NAMESPACE } from '../lib/platform/names.ts'
import type { Dimensions, Metric } from '../lib/platform/telemetry.ts'
import type { Received } from '../lib/webhook/receive.ts'
import { type Alarm, alarmName, alarmsFor, feedAlarmsFor, labelOf } from './alarms.ts'
import { type Resources, type Stack, stackName, sub } from './cloudformation.ts'
import { tableAlarms, undeletedAlarms } from './math-alarms.ts'
import { fullFeedName, QUEUE_IDS } from './queues.ts'

/** Labels of outcomes and events. */
export const OUTCOMES: Record<Received['outcome'], string> = {
  queued: 'queued',
  duplicate: 'duplicate',
  ignored: 'ignored',
  forged: 'forged',
  contradictory: 'contradictory',
  unreadable: 'unreadable',
  too_large: 'too large',
}
export const EVENTS: Record<OrderEvent['event'], string> = {
  'order.updated': 'webhook',
  'order.create': 'create',
  'order.payment': 'payment',
  'order.refund': 'refund',
  'order.withdraw': 'withdrawal',
  'order.check': 'check',
  'order.resend': 'resend',
}
export const STATUSES = ['200', '201', '202', '400', '401', '403', '404', '409', '413', '429', '503']
const COLUMNS = 24

/** A metric in the syntax of a dashboard: namespace, name, dimension names and values, rendering options. */
type Series = (string | { label: string; stat?: string })[]
type Widget = { type: string; properties: { metrics?: Series[]; [property: string]: unknown } }
type Row = [height: number, ...widgets: Widget[]]

/** A placeholder for CloudFormation's Fn::Sub in the dashboard body. */
const placeholder = (name: string) => `\${${name}}`

const STACKED = { stacked: true }
const MAXIMUM = { stat: 'Maximum' }
const graph = (title: string, metrics: Series[], { stat = 'Sum', stacked = false } = {}): Widget => ({
  type: 'metric',
  properties: {
    title,
    region: placeholder('AWS::Region'),
    view: 'timeSeries',
    stat,
    period: 60,
    stacked,
    metrics,
  },
})

/** CloudWatch shows at most 100 alarms per widget, and a graph with more lines is unreadable. */
const PER_WIDGET = 100

/** Splits the items into widgets. */
const split = <Item>(
  items: readonly Item[],
  widget: (part: Item[], title: string) => Widget,
  title: string,
) =>
  Array.from({ length: Math.ceil(items.length / PER_WIDGET) }, (_, index) => {
    const from = index * PER_WIDGET
    const part = items.slice(from, from + PER_WIDGET)
    return widget(part, items.length > PER_WIDGET ? `${title}, ${from + 1} to ${from + part.length}` : title)
  })

const alarmWidget = (alarms: string[], title: string): Widget => ({
  type: 'alarm',
  properties: { title, states: ['ALARM'], alarms },
})

/** Series of a service's metrics: resource, metric name, label and rendering options. */
const seriesOf =
  (namespace: string, dimension: string, attribute = '') =>
  (id: string, name: string, label: string, options = {}): Series => [
    namespace,
    name,
    dimension,
    placeholder(id + attribute),
    { label, ...options },
  ]
const queueSeries = seriesOf('AWS/SQS', 'QueueName', '.QueueName')
const functionSeries = seriesOf('AWS/Lambda', 'FunctionName', 'LambdaFunction')
const apiSeries = seriesOf('AWS/ApiGateway', 'ApiId')

/** The dashboard's rows of widgets, from the endpoints to the feeds. */
export const dashboardRows = (
  { stage, prefix, stores, ordersTable }: Stack,
  more: readonly Pick<Alarm, 'name'>[],
): Row[] => {
  const service = stackName(stage)
  const tables = tableAlarms({ prefix, ...(ordersTable !== undefined && { ordersTable }) })
  const own = <Name extends Metric>(name: Name, label: string, dimensions?: Dimensions<Name>): Series => {
    const pairs = Object.entries<string>(dimensions ?? {}).flat()
    return [METRICS_NAMESPACE, name, 'service', service, ...pairs, { label }]
  }
  const feedGraphs = (title: string, name: string, stat: string) =>
    split(
      stores.map(store => [
        'AWS/SQS',
        name,
        'QueueName',
        fullFeedName(prefix, store),
        { label: labelOf(store) },
      ]),
      (metrics, part) => graph(part, metrics, { stat }),
      title,
    )
  const alarmArn = (alarm: Pick<Alarm, 'name'>) =>
    `arn:${placeholder('AWS::Partition')}:cloudwatch:${placeholder('AWS::Region')}:` +
    `${placeholder('AWS::AccountId')}:alarm:${alarmName(service, alarm)}`
  const markdown = `# ${service}: endpoints, order queue, worker, feeds\nEvery alarm has a page in \`docs/runbook\`.`
  return [
    [
      2,
      { type: 'text', properties: { markdown } },
      alarmWidget(
        [...Object.values({ ...alarmsFor(service, stores), ...tables }), ...more].map(alarmArn),
        'Alarms',
      ),
    ],
    [
      2,
      ...split(
        Object.values({ ...feedAlarmsFor({ prefix, stores }), ...undeletedAlarms({ prefix, stores }) }).map(
          alarmArn,
        ),
        alarmWidget,
        'Alarms of feeds',
      ),
    ],
    [
      6,
      graph(
        'Webhook deliveries by outcome',
        Object.entries(OUTCOMES).map(([outcome, label]) => own('Deliveries', label, { outcome })),
        STACKED,
      ),
      graph(
        'Store requests by status',
        STATUSES.map(status => own('Requests', status, { status })),
        STACKED,
      ),
      graph('Endpoint errors', [
        apiSeries('HttpApi', 'Count', 'requests'),
        apiSeries('HttpApi', '4xx', '4xx'),
        apiSeries('HttpApi', '5xx', '5xx'),
        own('DeliveryFailed', 'deliveries failed'),
        own('RequestFailed', 'requests failed'),
        own('Quarantined', 'webhooks quarantined', { from: 'webhook' }),
      ]),
      graph('Endpoint latency (ms)', [
        apiSeries('HttpApi', 'Latency', 'p50', { stat: 'p50' }),
        apiSeries('HttpApi', 'Latency', 'p99', { stat: 'p99' }),
      ]),
    ],
    [
      6,
      graph(
        'Order queue: messages',
        [
          queueSeries(QUEUE_IDS.orders, 'ApproximateNumberOfMessagesVisible', 'waiting'),
          queueSeries(QUEUE_IDS.orders, 'ApproximateNumberOfMessagesNotVisible', 'in flight or delayed'),
          queueSeries(QUEUE_IDS.bulk, 'ApproximateNumberOfMessagesVisible', 'waiting in the bulk queue'),
          queueSeries(QUEUE_IDS.ordersDead, 'ApproximateNumberOfMessagesVisible', 'dead letters'),
          queueSeries(QUEUE_IDS.quarantine, 'ApproximateNumberOfMessagesVisible', 'quarantine'),
        ],
        MAXIMUM,
      ),
      graph(
        'Order queue: oldest message (s)',
        [
          queueSeries(QUEUE_IDS.orders, 'ApproximateAgeOfOldestMessage', 'oldest'),
          queueSeries(QUEUE_IDS.bulk, 'ApproximateAgeOfOldestMessage', 'oldest in the bulk queue'),
          own('FailingEventAge', 'oldest failing'),
        ],
        MAXIMUM,
      ),
      graph('Worker', [
        functionSeries('Worker', 'Invocations', 'invocations'),
        functionSeries('Worker', 'Errors', 'errors'),
        functionSeries('Worker', 'Throttles', 'throttles'),
        functionSeries('Worker', 'ConcurrentExecutions', 'concurrency', MAXIMUM),
        own('Quarantined', 'quarantined', { from: 'worker' }),
        own('HistoryThrottled', 'changes not in the history'),
      ]),
    ],
    [
      6,
      graph(
        'Orders changed, by event',
        Object.entries(EVENTS).map(([event, label]) =>
          own('EventsProcessed', label, { event, changed: 'true' }),
        ),
        STACKED,
      ),
      graph('Accounting service', [
        own('EventRetried', 'events retried'),
        own('ServiceUnauthorized', 'API key rejected'),
        own('ServiceUnavailable', 'calls paused: service unavailable'),
      ]),
      graph('Checks for missed webhooks', [
        functionSeries('Reconcile', 'Invocations', 'invocations'),
        functionSeries('Reconcile', 'Errors', 'errors'),
      ]),
      graph('Oldest due check (s)', [own('DueCheckAge', 'oldest')], MAXIMUM),
    ],
    [
      6,
      ...feedGraphs('Feeds: oldest message (s)', 'ApproximateAgeOfOldestMessage', 'Maximum'),
      ...feedGraphs('Feeds: messages received by stores', 'NumberOfMessagesDeleted', 'Sum'),
    ],
    [
      6,
      graph('HTTP feeds: oldest failing message (s)', [own('FeedFailingAge', 'oldest')], MAXIMUM),
      graph('HTTP feeds', [
        own('FeedRetried', 'retried'),
        own('FeedDisabled', 'probes of disabled endpoints'),
        own('FeedDeadLettered', 'dead-lettered'),
        queueSeries(QUEUE_IDS.feedsDead, 'ApproximateNumberOfMessagesVisible', 'dead letters', MAXIMUM),
      ]),
      ...(isProbed(stores) ? [graph('Probes that went through the relay', [own('ProbeSeen', 'seen')])] : []),
    ],
  ]
}

/** Stacks the rows, with up to four widgets of a row side by side. */
const layOut = (rows: readonly Row[]) => {
  let top = 0
  return rows.flatMap(([height, ...widgets]) => {
    const across = Math.min(widgets.length, 4)
    const [width, y] = [COLUMNS / across, top]
    top += height * Math.ceil(widgets.length / across)
    return widgets.map((widget, index) => ({
      ...widget,
      x: (index % across) * width,
      y: y + Math.floor(index / across) * height,
      width,
      height,
    }))
  })
}

/** @param more additional alarms, that only some stacks have */
export const dashboardResources = (stack: Stack, more: readonly Pick<Alarm, 'name'>[]): Resources => ({
  Dashboard: {
    Type: 'AWS::CloudWatch::Dashboard',
    Properties: {
      DashboardName: stackName(stack.stage),
      DashboardBody: sub(JSON.stringify({ widgets: layOut(dashboardRows(stack, more)) })),
    },
  },
})
