import { HOUR, MINUTE } from '../lib/platform/environment.ts'
import { type Alarm, labelOf } from './alarms.ts'
import { pascal, type Stack } from './cloudformation.ts'
import { feedQueueId, fullFeedName } from './queues.ts'
import { tablesOf } from './tables.ts'

/** An alarm over several metrics. */
export type MathAlarm = Omit<Alarm, 'condition'> & { condition: Readonly<Record<string, unknown>> }

/** A statistic of a metric, its sum by default, over a period in seconds, for use in expressions. */
export const statisticOf = (
  Id: string,
  [Namespace, MetricName, dimensions]: readonly [
    namespace: string,
    name: string,
    dimensions: Readonly<Record<string, unknown>>,
  ],
  { Period = 5 * MINUTE, Stat = 'Sum' }: { Period?: number; Stat?: 'Sum' | 'SampleCount' } = {},
) => {
  const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }))
  const Metric = { Namespace, MetricName, Dimensions }
  return { Id, MetricStat: { Metric, Period, Stat }, ReturnData: false }
}

/**
 * The condition that an expression is positive.
 *
 * @param Metrics the metrics it refers to
 */
export const positive = (Expression: string, Metrics: readonly object[]) => ({
  Metrics: [{ Id: 'condition', Expression, ReturnData: true }, ...Metrics],
  EvaluationPeriods: 1,
  ComparisonOperator: 'GreaterThanThreshold',
  Threshold: 0,
  TreatMissingData: 'notBreaching',
})

/**
 * One alarm per table, over the table and its indexes, whose throttled reads and writes are not among the table's.
 * Alarms on DynamoDB's metrics keep their state while data is missing, and DynamoDB reports nothing without throttles:
 * only the zeros end the alarm.
 */
export const tableAlarms = (stack: Pick<Stack, 'prefix' | 'ordersTable'>): Record<string, MathAlarm> =>
  Object.fromEntries(
    tablesOf(stack).map(({ name: TableName, schema }) => {
      const name = TableName.slice(stack.prefix.length)
      const indexes = schema.GlobalSecondaryIndexes ?? []
      const sums = [
        { TableName },
        ...indexes.map(({ IndexName }) => ({ TableName, GlobalSecondaryIndexName: IndexName })),
      ]
        .flatMap(dimensions =>
          ['ReadThrottleEvents', 'WriteThrottleEvents'].map(event => [event, dimensions] as const),
        )
        .map(([event, dimensions], index) =>
          statisticOf(`throttles_${index}`, ['AWS/DynamoDB', event, dimensions]),
        )
      const alarm: MathAlarm = {
        code: 'table-throttles',
        page: 'table-throttles',
        name: `${name}-throttles`,
        summary: 'DynamoDB has throttled a table or one of its indexes',
        condition: positive('SUM(FILL(METRICS(), 0))', sums),
      }
      return [`${pascal(name.replaceAll(/\W/g, '-'))}Throttles`, alarm]
    }),
  )

/** Fewer messages are an ordinary failure. */
const MIN_RECEIVED = 10

/**
 * One alarm per SQS feed: SQS excludes a message from the age metric after its third receive,
 * so a consumer that receives messages and never deletes them raises no alarm on age.
 */
export const undeletedAlarms = ({
  prefix,
  stores,
}: Pick<Stack, 'prefix' | 'stores'>): Record<string, MathAlarm> =>
  Object.fromEntries(
    stores
      .filter(store => store.feed === 'sqs')
      .map(store => {
        const label = labelOf(store)
        const sum = (id: string, name: string) =>
          statisticOf(id, ['AWS/SQS', name, { QueueName: fullFeedName(prefix, store) }], { Period: HOUR })
        const alarm: MathAlarm = {
          code: 'store-feed-undeleted',
          page: 'feed-undeleted',
          name: `feed-${label}-undeleted`,
          store: label,
          summary: `In an hour, the store "${label}" received messages and did not delete most of them`,
          condition: positive(`IF(received >= ${MIN_RECEIVED} AND received > 2 * FILL(deleted, 0), 1, 0)`, [
            sum('received', 'NumberOfMessagesReceived'),
            sum('deleted', 'NumberOfMessagesDeleted'),
          ]),
        }
        return [`${feedQueueId(store.source)}Undeleted`, alarm]
      }),
  )
