import { randomUUID } from 'node:crypto'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { readOrderEvent } from '../../lib/orders/events.ts'
import { feedQueues, QUEUES } from '../../lib/platform/names.ts'
import type { Cli } from '../core/command.ts'
import { envelopeOf } from '../core/webhook.ts'
import { messageCommands } from './commands.ts'
import type { Kind } from './kind.ts'

/** Messages of the order queue and of HTTP feeds that exhausted their retries (promise P8). */
export const DEAD_LETTERS: Kind = {
  command: 'dead',
  key: 'letters',
  none: 'No dead letters',
  where: 'among the visible dead letters',
  queues: [QUEUES.ordersDead, QUEUES.feedsDead],

  read: (raw, queue) => ({
    raw,
    queue,
    from: queue === QUEUES.feedsDead ? 'feed' : 'order queue',
    ...envelopeOf(raw.body),
    at: raw.sent,
    body: Buffer.from(raw.body),
    reading: readOrderEvent(raw.body),
  }),

  details: () => ({}),

  columns: {
    ID: ({ raw }) => raw.id,
    FROM: ({ from }) => from,
    SOURCE: ({ source }) => source,
    ORDER: ({ external_id }) => external_id,
    EVENT: ({ event }) => event,
    SINCE: ({ at }) => at.toISOString(),
  },

  content: ({ raw }) => ({ receives: raw.receives, body: raw.body }),

  planner: ({ sqs, queueUrl, stores }) => {
    const sources = new Set(stores().map(({ source }) => source))
    const queueOf = feedQueues(stores())
    return async ({ raw, from, source, reading }) => {
      // A feed message names the store whose queue it goes back to.
      if (from === 'feed' && (source === undefined || !sources.has(source))) return { outcome: 'foreign' }
      const target = from === 'feed' ? queueOf(source ?? '') : QUEUES.orders
      const send = async () => {
        await sqs.send(
          new SendMessageCommand({
            QueueUrl: await queueUrl(target),
            MessageBody: raw.body,
            MessageGroupId: raw.group ?? raw.id,
            // Under its old id, SQS might drop the message as a duplicate.
            MessageDeduplicationId: randomUUID(),
          }),
        )
      }
      if (from === 'feed') return { outcome: 'replayed', send, note: 'no call: the store is notified again' }
      if ('unreadable' in reading) {
        return { outcome: 'replayed', send, note: 'no call: the worker cannot read it and quarantines it' }
      }
      return { outcome: 'replayed', send, event: reading.event, note: '' }
    }
  },
}

/** `relay dead`: messages that exhausted their retries. */
export const deadCommands = (cli: Cli): void =>
  messageCommands(cli, DEAD_LETTERS, {
    command: 'Inspect and replay dead letters: messages that exhausted their retries.',
    list: 'List the dead letters of the order queue and of HTTP feeds.',
    show: 'Show a dead letter and its body.',
    replay: 'Send dead letters again, in order within each order. Repeating a replay is safe.',
  })
