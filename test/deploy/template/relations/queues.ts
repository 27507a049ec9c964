import { isDeepStrictEqual } from 'node:util'
import { fullFeedName } from '../../../../deploy/queues.ts'
import { MAX_BODY_BYTES } from '../../../../lib/api/request.ts'
import type { Checked } from '../checked.ts'
import { STORES } from '../packaged.ts'
import { aliasOf, FUNCTIONS, functionOf, ofType, type Properties, STACK } from '../resolve.ts'

/** Whether messages stay in a queue: it is neither consumed nor a feed. */
export const isLast = (name: string, { RedrivePolicy }: Properties): boolean =>
  RedrivePolicy === undefined && !STORES.some(store => fullFeedName(`${STACK}-`, store) === name)

/** A dead-letter queue admits exactly the queues that use it. */
export function* deadLetters({ resolved: template }: Checked) {
  const queues = ofType(template, 'AWS::SQS::Queue')
  for (const { id, arn, Properties } of queues) {
    const sources = queues.filter(each => each.Properties.RedrivePolicy?.deadLetterTargetArn === arn)
    const admitted = Properties.RedriveAllowPolicy?.sourceQueueArns ?? []
    if (!isDeepStrictEqual(new Set(admitted), new Set(sources.map(each => each.arn))))
      yield `${id}: admits dead letters of ${admitted}, but those that send them are ${sources.map(each => each.id)}`
  }
}

/** A queue accepts every body that the API accepts, each character of which may have to be escaped. */
export function* messageSizes({ resolved: template }: Checked) {
  for (const { id, Properties } of ofType(template, 'AWS::SQS::Queue'))
    if (!(Number(Properties.MaximumMessageSize) >= 2 * MAX_BODY_BYTES))
      yield `${id}: set MaximumMessageSize to ${2 * MAX_BODY_BYTES} or more, twice the limit of the API`
}

/** An alarm reports old messages, or any message in a queue that nothing consumes. */
export function* queueAlarms({ resolved: template }: Checked) {
  const watched = ofType(template, 'AWS::CloudWatch::Alarm').map(
    ({ Properties: { MetricName, Dimensions } }) => `${MetricName} ${Dimensions[0]?.Value}`,
  )
  for (const { id, name, Properties } of ofType(template, 'AWS::SQS::Queue')) {
    const metric = isLast(name, Properties)
      ? 'ApproximateNumberOfMessagesVisible'
      : 'ApproximateAgeOfOldestMessage'
    if (!watched.includes(`${metric} ${name}`))
      yield `${id}: no alarm watches its ${metric}; add one in deploy/alarms.ts`
  }
}

/**
 * Lambda polls a queue for the function that extends the visibility of its messages. The queue's visibility timeout is
 * six times the timeout of that function.
 */
export function* consumers({ resolved: template, recording: { uses } }: Checked) {
  const mappings = ofType(template, 'AWS::Lambda::EventSourceMapping').map(
    ({ Properties: { EventSourceArn, FunctionName } }) => `${EventSourceArn} ${FunctionName}`,
  )
  const scheduled = ofType(template, 'AWS::Events::Rule').flatMap(({ Properties }) =>
    Properties.Targets.map(({ Arn }) => Arn),
  )
  for (const { id, arn, Properties } of ofType(template, 'AWS::SQS::Queue'))
    for (const reader of FUNCTIONS) {
      const target = aliasOf(template, reader).arn
      // A scheduled function releases messages that other functions received.
      if (scheduled.includes(target)) continue
      const isRead = mappings.includes(`${arn} ${target}`)
      const isExtended = uses[reader].calls.some(
        ({ action, resource }) => action === 'sqs:ChangeMessageVisibility' && resource === arn,
      )
      if (isExtended && !isRead) yield `${id}: ${reader} processes its messages, but no event source reads it`
      if (isRead && !isExtended) yield `${id}: an event source invokes ${reader}, which does not know it`
      // AWS's recommendation; a longer timeout would only delay messages after a crash.
      const visibility = 6 * functionOf(template, reader).Properties.Timeout
      if (isRead && Properties.VisibilityTimeout !== visibility)
        yield `${id}: set VisibilityTimeout to ${visibility}, six times the timeout of ${reader}`
    }
}
