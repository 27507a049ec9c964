import { MINUTE } from '../lib/platform/environment.ts'
import { ref } from './cloudformation.ts'

type Source = { Namespace: string; MetricName: string; Dimensions: { Name: string; Value: unknown }[] }

/** When an alarm is raised: the CloudWatch properties that depend on its cause. */
export type Condition = Source & {
  Statistic: 'Sum' | 'Maximum' | 'p99'
  /** Seconds. */
  Period: number
  EvaluationPeriods: 1
  ComparisonOperator: 'GreaterThanThreshold' | 'GreaterThanOrEqualToThreshold' | 'LessThanThreshold'
  Threshold: number
  TreatMissingData: 'notBreaching' | 'breaching' | 'ignore'
}

export const metric = (
  Namespace: string,
  MetricName: string,
  dimensions: Record<string, unknown>,
): Source => ({
  Namespace,
  MetricName,
  Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
})
const queueMetric = (QueueName: unknown, name: string) => metric('AWS/SQS', name, { QueueName })
export const functionMetric = (functionId: string, name: string) =>
  metric('AWS/Lambda', name, { FunctionName: ref(`${functionId}LambdaFunction`) })

/** A statistic of one period, in seconds, is above the threshold. */
export const above = (
  source: Source,
  Statistic: Condition['Statistic'],
  Period: number,
  Threshold: number,
): Condition => ({
  ...source,
  Statistic,
  Period,
  EvaluationPeriods: 1,
  ComparisonOperator: 'GreaterThanThreshold',
  Threshold,
  // Missing data means that nothing happened, except for queues: SQS stops reporting a queue that is idle for six
  // hours, even if it contains messages, so its alarms keep their state.
  TreatMissingData: source.Namespace === 'AWS/SQS' ? 'ignore' : 'notBreaching',
})
/** At least one in five minutes. */
export const any = (source: Source) => above(source, 'Sum', 5 * MINUTE, 0)
/** For causes that `reconcile` detects every 15 seconds while they last: the alarm clears soon after them. */
export const lasting = (source: Source) => above(source, 'Sum', MINUTE, 0)
/** For causes that only attempts detect, up to 30 minutes apart: keeps the alarm raised between attempts. */
export const recurring = (source: Source) => above(source, 'Sum', 30 * MINUTE, 0)
/** Messages wait in the queue with this name. */
export const notEmpty = (name: unknown) =>
  above(queueMetric(name, 'ApproximateNumberOfMessagesVisible'), 'Maximum', MINUTE, 0)
/** The oldest message in the queue with this name exceeds this age, in seconds. */
export const olderThan = (name: unknown, period: number, seconds: number) =>
  above(queueMetric(name, 'ApproximateAgeOfOldestMessage'), 'Maximum', period, seconds)
