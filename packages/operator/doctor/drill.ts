import { setTimeout } from 'node:timers/promises'
import type { CloudWatch } from '@aws-sdk/client-cloudwatch'
import type { Context } from '../core/context.ts'
import { usageError } from '../core/errors.ts'
import { type Finding, say } from '../core/findings.ts'
import { note, ok, problem } from '../core/output.ts'
import { progress } from '../core/terminal.ts'

/** How often the history of an alarm is read, one second apart. */
const READS = 30

/** The latest action of an alarm: its result, and its time by AWS's clock. */
const latestAction = async (cloudWatch: CloudWatch, AlarmName: string) => {
  const { AlarmHistoryItems: [latest] = [] } = await cloudWatch.describeAlarmHistory({
    AlarmName,
    HistoryItemType: 'Action',
    ScanBy: 'TimestampDescending',
    MaxRecords: 1,
  })
  return { at: Number(latest?.Timestamp ?? 0), result: latest?.HistorySummary }
}

/** The result of a raised alarm's action; undefined if it has no action. */
const actionAfter = async (cloudWatch: CloudWatch, name: string, before: number) => {
  for (let reads = 1; reads <= READS; reads++) {
    const { at, result } = await latestAction(cloudWatch, name)
    if (at > before) return result
    if (reads < READS) await setTimeout(1000)
  }
  return undefined
}

/** Raises an alarm, reads whether its action was executed, and restores its state. */
const tryAlarm = async (
  cloudWatch: CloudWatch,
  { name, state }: { name: string; state: 'OK' | 'INSUFFICIENT_DATA' },
): Promise<Finding> => {
  const fails = say('drill-failed', { alarm: name })
  const change = (StateValue: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA') =>
    cloudWatch.setAlarmState({ AlarmName: name, StateValue, StateReason: 'relay doctor --drill' })
  const { at: before } = await latestAction(cloudWatch, name)
  try {
    await change('ALARM')
    const result = await actionAfter(cloudWatch, name, before)
    if (result === undefined)
      return problem(fails, say('drill-silent', { count: READS }), say('deploy-again'))
    return result.startsWith('Success')
      ? ok(say('drill', { alarm: name }), result)
      : problem(fails, result, say('check-topic'))
  } finally {
    await change(state)
  }
}

/**
 * Raises each alarm of the stack briefly and shows whether CloudWatch notified the topic.
 *
 * @throws Failure for the local stack, which has no CloudWatch
 */
export const drill = async (context: Context): Promise<Finding[]> => {
  const { aws } = await context.stack()
  if (aws === undefined)
    throw usageError('use --drill with --local', 'the local stack has no CloudWatch', 'omit one')
  const cloudWatch = await context.aws.cloudWatch()
  const found: { name: string; state: string }[] = []
  // Another stage can have the same prefix, but not the same topic.
  for await (const { MetricAlarms = [] } of cloudWatch.paginateDescribeAlarms({
    AlarmNamePrefix: `${context.service}-`,
  }))
    for (const { AlarmName: name = '', StateValue: state = '', AlarmActions = [] } of MetricAlarms)
      if (AlarmActions.includes(aws.alarmTopic)) found.push({ name, state })

  using shown = progress(context.terminal, 'Raising alarms', found.length)
  const findings: Finding[] = []
  for (const { name, state } of found) {
    const isTried = state === 'OK' || state === 'INSUFFICIENT_DATA'
    findings.push(
      isTried
        ? await tryAlarm(cloudWatch, { name, state })
        : note(say('drill', { alarm: name }), say('drill-raised')),
    )
    shown.advance()
  }
  return findings
}
