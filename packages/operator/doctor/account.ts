import type { Context } from '../core/context.ts'
import { type Finding, say } from '../core/findings.ts'
import { judged, note, ok } from '../core/output.ts'

const alarms = async ({ aws }: Context, TopicArn: string): Promise<Finding> => {
  const { Attributes = {} } = await (await aws.sns()).getTopicAttributes({ TopicArn })
  const { SubscriptionsConfirmed, SubscriptionsPending } = Attributes
  const [confirmed, pending] = [Number(SubscriptionsConfirmed), Number(SubscriptionsPending)]
  if (confirmed) return ok(say('alarms-reach'), say('subscribed', { count: confirmed, topic: TopicArn }))
  return pending
    ? note(say('alarms-unheard'), say('unconfirmed'), say('confirm'))
    : note(say('alarms-unheard'), say('not-subscribed', { topic: TopicArn }), say('subscribe'))
}

/** Concurrency for the scheduled check, and for each endpoint without reserved concurrency. */
const OTHER_EXECUTIONS = { scheduled: 1, endpoints: 2 }

const executions = async ({ lambda, stack }: Context, reserved: number): Promise<Finding> => {
  const check = [say('concurrency'), say('no-concurrency')] as const
  const { functions } = await stack()
  let reading = 0
  for (const FunctionName of ['worker', 'feeder'].flatMap(key => functions[key]?.target ?? [])) {
    const pages = lambda.paginateListEventSourceMappings({ FunctionName })
    for await (const { EventSourceMappings = [] } of pages)
      for (const { ScalingConfig } of EventSourceMappings) reading += ScalingConfig?.MaximumConcurrency ?? 0
  }
  const { AccountLimit = {} } = await lambda.getAccountSettings({})
  const { ConcurrentExecutions: quota = 0, UnreservedConcurrentExecutions: unreserved = 0 } = AccountLimit
  const needed = reading + OTHER_EXECUTIONS.scheduled + (reserved > 0 ? 0 : OTHER_EXECUTIONS.endpoints)
  const found = say('concurrency-quota', { quota, unreserved, reading, reserved })
  return judged(unreserved >= needed, check, found, say('raise-concurrency'))
}

/** The alarms' subscriptions and the concurrency of the AWS account; nothing for the local stack. */
export const account = async (context: Context): Promise<Finding[]> => {
  const { aws } = await context.stack()
  if (aws === undefined) return []
  return [await alarms(context, aws.alarmTopic), await executions(context, aws.reserved)]
}
