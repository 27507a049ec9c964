import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { readOrderEvent } from '../../lib/orders/events.ts'
import { feedQueues, QUEUES } from '../../lib/platform/names.ts'
import { queueNames } from '../../lib/platform/stores.ts'
import type { Cli } from '../core/command.ts'
import type { Context } from '../core/context.ts'
import type { QueueMessage } from '../core/queue.ts'
import { envelopeOf } from '../core/webhook.ts'
import { ordersOf } from '../orders/orders.ts'
import { messageCommands } from './commands.ts'
import type { Kind } from './message.ts'

/** What the worker answers: the messages that failed. */
const answer = v.pipe(v.string(), v.parseJson(), v.object({ batchItemFailures: v.array(v.unknown()) }))

/**
 * Has the worker process a dead letter at once. Sent to the order queue, it would end up behind later events of its
 * order that still wait there to be retried.
 *
 * @returns whether it succeeded; otherwise it remains a dead letter
 */
const processNow = async (
  { lambda, stack, nameOf, region }: Context,
  { id, body, group, sent }: QueueMessage,
) => {
  const { functions } = await stack()
  const record = {
    ...{ messageId: id, body, receiptHandle: '', messageAttributes: {}, eventSource: 'aws:sqs' },
    eventSourceARN: `arn:aws:sqs:${region}::${nameOf(QUEUES.ordersDead)}`,
    attributes: {
      MessageGroupId: group ?? id,
      SentTimestamp: String(sent.getTime()),
      // Not the first time: a call made then may have taken effect.
      ApproximateReceiveCount: '2',
    },
  }
  const { Payload, FunctionError } = await lambda.invoke({
    FunctionName: functions.worker?.target,
    Payload: JSON.stringify({ Records: [record] }),
  })
  if (FunctionError !== undefined) return false
  return v.parse(answer, Buffer.from(Payload ?? []).toString()).batchItemFailures.length === 0
}

/** Messages of the order queue and of feeds that exhausted their retries (promise P8). */
export const DEAD_LETTERS: Kind = {
  command: 'dead',
  key: 'letters',
  none: 'No dead letters',
  where: 'among the visible dead letters',
  queues: ({ stores }) => [
    ...[QUEUES.ordersDead, QUEUES.feedsDead],
    ...stores().flatMap(store => queueNames(store).slice(1)),
  ],

  read: (raw, queue) => ({
    raw,
    queue,
    from: queue === QUEUES.ordersDead ? 'order queue' : 'feed',
    ...envelopeOf(raw.body),
    at: raw.sent,
    body: Buffer.from(raw.body),
    reading: readOrderEvent(raw.body),
    details: {},
    content: { receives: raw.receives, body: raw.body },
  }),

  columns: {
    ID: ({ raw }) => raw.id,
    FROM: ({ from }) => from,
    SOURCE: ({ source }) => source,
    ORDER: ({ external_id }) => external_id,
    EVENT: ({ event }) => event,
    SINCE: ({ at }) => at.toISOString(),
  },

  // The next save of the order forgets it.
  explain: async (context, message) => {
    const { from, source, external_id, delivery } = message
    if (from === 'feed' || source === undefined || external_id === undefined) return message
    const { failing } = (await (await ordersOf(context)).get({ source, external_id })) ?? {}
    return failing?.delivery === delivery ? { ...message, error: failing?.message } : message
  },

  planner: context => {
    const { sqs, queueUrl, stores } = context
    const sources = new Set(stores().map(({ source }) => source))
    const queueOf = feedQueues(stores())
    return async ({ raw, from, source, reading }) => {
      // A feed message names the store whose queue it goes back to.
      if (from === 'feed') {
        if (source === undefined || !sources.has(source)) return { outcome: 'foreign' }
        const sendToFeed = async () => {
          await sqs.sendMessage({
            QueueUrl: await queueUrl(queueOf(source)),
            MessageBody: raw.body,
            MessageGroupId: raw.group ?? raw.id,
            // Under its old id, SQS might drop the message as a duplicate.
            MessageDeduplicationId: randomUUID(),
          })
          return true
        }
        return { outcome: 'replayed', send: sendToFeed, note: 'no call: the store is notified again' }
      }
      return {
        ...{ outcome: 'replayed', send: () => processNow(context, raw) },
        ...('event' in reading && { event: reading.event }),
        note: 'no call: the worker cannot read it and quarantines it',
      }
    }
  },
}

/** `relay dead`: messages that exhausted their retries. */
export const deadCommands = (cli: Cli): void =>
  messageCommands(cli, DEAD_LETTERS, {
    command: 'Inspect and replay dead letters: messages that exhausted their retries.',
    list: 'List the dead letters of the order queue and of feeds.',
    show: 'Show a dead letter and its body.',
    replay:
      'Have the worker process dead letters now, in order within each order; return messages of feeds to their feed. What fails again remains a dead letter. Repeating a replay is safe.',
  })
