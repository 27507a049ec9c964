import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Attempt, attemptItem } from '@order-relay/lib/feeds/attempts.ts'
import { type OrderEvent, readOrderEvent } from '@order-relay/lib/orders/events.ts'
import type { StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { attributesForSqs } from '@order-relay/lib/platform/fifo.ts'
import { feedQueues, QUEUES, TABLES } from '@order-relay/lib/platform/names.ts'
import { queueNames } from '@order-relay/lib/platform/stores.ts'
import * as v from 'valibot'
import type { Cli } from '../core/command.ts'
import type { Context } from '../core/context.ts'
import { shellWord } from '../core/output.ts'
import { envelopeOf, jsonOf } from '../core/webhook.ts'
import { lastFailure } from '../model/attempts.ts'
import { hasEnded } from '../model/failing-event.ts'
import type { FailedReplay, Kind, Message, Sent } from '../model/message.ts'
import { commandFor, failedCallOf } from '../model/orders.ts'
import { announcementsOf, ordersOf } from '../model/read.ts'
import { isBeingWithdrawn, requestIn, whenDeleted } from '../model/reasons.ts'
import { say } from '../model/waiting-texts.ts'
import { checkOrders } from '../order-events.ts'
import { messageCommands } from './commands.ts'
import { failedReplays } from './history.ts'

/** The worker's response: the messages that failed. */
const answer = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ batchItemFailures: v.array(v.unknown()), failures: v.optional(v.array(v.string()), []) }),
)

/**
 * Has the worker process a dead letter immediately. In the order queue, it would end up behind later events of its order
 * that are still waiting to be retried.
 *
 * @returns for a message that remains a dead letter, `failed` or, if the worker has named it, the cause
 */
const processNow = async (
  context: Context,
  { raw: { id, body, group, sent }, reading }: Pick<Message, 'raw' | 'reading'>,
): Promise<Sent | FailedReplay> => {
  const { lambda, stack, nameOf, region } = context
  const { functions } = await stack()
  const record = {
    messageId: id,
    body,
    receiptHandle: '',
    messageAttributes: {},
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:${region}::${nameOf(QUEUES.ordersDead)}`,
    attributes: {
      MessageGroupId: group ?? id,
      SentTimestamp: String(sent.getTime()),
      // Not the first receive: an earlier call may have taken effect.
      ApproximateReceiveCount: '2',
    },
  }
  const { Payload, FunctionError } = await lambda.invoke({
    FunctionName: functions.worker?.target,
    Payload: JSON.stringify({ Records: [record] }),
  })
  if (FunctionError !== undefined) return 'failed'
  const { batchItemFailures, failures } = v.parse(answer, Buffer.from(Payload ?? []).toString())
  const [failed] = failures
  if (batchItemFailures.length > 0) return failed === undefined ? 'failed' : { failed }
  return 'event' in reading ? 'replayed' : 'quarantined'
}

/** Whether an order shows that an event is already done, because a check or a later event had the same effect. */
const isAlreadyDone = ({ event, delivery, data }: OrderEvent, stored: StoredOrder): boolean =>
  event === 'order.updated'
    ? stored.outbox?.cause.delivery !== delivery && isDeepStrictEqual(stored.order.result, data)
    : hasEnded(stored, delivery)

const versioned = v.looseObject({ version: v.number() })

/** The version of a feed message, which one to an exact store has as an attribute. */
const versionOf = ({ raw, body }: Message): number | undefined => {
  const json = jsonOf(body)
  if (v.is(versioned, json)) return json.version
  return raw.attributes.version === undefined ? undefined : Number(raw.attributes.version)
}

/**
 * Records that the dead letter of a feed message is deleted or replayed, so that its order no longer shows it as failing or as a
 * dead letter.
 */
const record = async (
  { dynamodb, nameOf }: Context,
  { raw: { receives }, source, external_id, delivery = '' }: Message,
  outcome: 'deleted' | 'replayed',
  at = new Date().toISOString(),
) => {
  if (source === undefined || external_id === undefined || delivery === '') return
  const attempt: Attempt = { at, delivery, receives, outcome }
  const Item = attemptItem({ source, external_id }, attempt)
  await dynamodb.putItem({ TableName: nameOf(TABLES.history), Item })
}

/** Messages of the order queue and of feeds that exhausted their retries (promise P8). */
export const DEAD_LETTERS: Kind = {
  command: 'dead',
  key: 'letters',
  none: 'No dead letters',
  where: 'among the visible dead letters',
  queues: ({ stores }) => [
    QUEUES.ordersDead,
    QUEUES.feedsDead,
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
    // `version` and `cause` of a message to an exact store.
    details: raw.attributes,
    content: { receives: raw.receives, body: raw.body },
  }),

  columns: {
    ID: ({ raw }) => raw.id,
    FROM: ({ from }) => from,
    SOURCE: ({ source }) => source,
    ORDER: ({ external_id }) => external_id,
    EVENT: ({ event }) => event,
    SINCE: ({ at }) => at,
    STATE: ({ done, superseded_by }) =>
      done
        ? 'already done'
        : superseded_by === undefined
          ? undefined
          : `superseded by version ${superseded_by}`,
  },

  explain: context => {
    let replays: ReturnType<typeof failedReplays> | undefined
    return async message => {
      const { raw, from, source, external_id, delivery } = message
      if (source === undefined || external_id === undefined) return message
      const stored = await (await ordersOf(context)).get({ source, external_id })
      if (from === 'feed') {
        const { version = 0 } = stored?.order ?? {}
        const isSuperseded = (versionOf(message) ?? version) < version
        const last = await lastFailure(context, message)
        return {
          ...message,
          ...(isSuperseded && { superseded_by: version }),
          ...(last && { error: last.error }),
        }
      }
      replays ??= failedReplays(context)
      const replayed = (await replays).get(raw.id)
      if (stored === undefined) return { ...message, error: replayed }
      // The next save of the order removes its error. The error of a replay is newer than that of the queue's attempts.
      const failed = stored.failing?.delivery === delivery ? stored.failing?.message : undefined
      const error = replayed ?? failed ?? (await failedCallOf(context, stored, delivery))
      const isDone = 'event' in message.reading && isAlreadyDone(message.reading.event, stored)
      const done = isDone ? { done: true as const } : {}
      return { ...message, error, ...done }
    }
  },

  whenDeleted: async (context, message) => {
    const { from, source, external_id, delivery = '' } = message
    if (source === undefined || external_id === undefined) return undefined
    const key = { source, external_id }
    const stored = await (await ordersOf(context)).get(key)
    if (from === 'feed') {
      if (stored === undefined) return { deletion: say('discard/feed-unknown') }
      const command = `relay stores resend ${shellWord(source)} --order ${shellWord(external_id)}${context.flags}`
      return { deletion: say('discard/feed', { command }) }
    }
    const announced = await announcementsOf(context).get(key, true)
    const deletion = whenDeleted(message, stored, announced)
    const request = stored && requestIn(stored, delivery)
    return stored === undefined || request === undefined || isBeingWithdrawn(request, stored, announced)
      ? { deletion }
      : { deletion, prevention: commandFor('orders withdraw', key, context, request.kind) }
  },

  planner: context => {
    const { sqs, queueUrl, stores } = context
    const sources = new Set(stores().map(({ source }) => source))
    const queueOf = feedQueues(stores())
    return async message => {
      const { raw, from, source, reading, superseded_by } = message
      // A feed message names its store, to whose queue it is returned.
      if (from === 'feed') {
        if (source === undefined || !sources.has(source)) return { outcome: 'foreign' }
        const sendToFeed = async (): Promise<Sent> => {
          // The record must precede the next attempt, which may begin before it is written.
          const at = new Date().toISOString()
          await sqs.sendMessage({
            QueueUrl: await queueUrl(queueOf(source)),
            MessageBody: raw.body,
            MessageGroupId: raw.group ?? raw.id,
            // With its old deduplication id, SQS might drop the message as a duplicate.
            MessageDeduplicationId: randomUUID(),
            ...attributesForSqs(raw.attributes),
          })
          await record(context, message, 'replayed', at)
          return 'replayed'
        }
        const note =
          superseded_by === undefined
            ? 'no call: the store is notified again'
            : `no call: the store is notified again, although version ${superseded_by} has superseded this message`
        return { outcome: 'replayed', send: sendToFeed, note }
      }
      return {
        outcome: 'replayed',
        send: () => processNow(context, { raw, reading }),
        ...('event' in reading && { event: reading.event }),
        note: 'no call: the worker cannot read it and quarantines it',
      }
    }
  },

  // Until the worker saves the order again, the order still describes the deleted event, and may contain its request. A feed
  // message would still be shown as failing because of its last attempt.
  beforeDeletion: async (context, message) => {
    const { from, source, external_id, delivery = '' } = message
    if (from === 'feed') return record(context, message, 'deleted')
    if (source === undefined || external_id === undefined) return
    const key = { source, external_id }
    const stored = await (await ordersOf(context)).get(key)
    if (stored?.failing?.delivery === delivery || (stored && requestIn(stored, delivery)))
      await checkOrders(context, [key])
  },
}

/** `relay dead`: messages that exhausted their retries. */
export const deadCommands = (cli: Cli): void =>
  messageCommands(cli, DEAD_LETTERS, {
    command: 'Inspect and replay dead letters: messages that exhausted their retries.',
    list: 'List the dead letters of the order queue and of feeds.',
    show: 'Show a dead letter and its body.',
    replay:
      'Have the worker handle dead letters now, in sequence within each order; return feed messages to their feed. Messages that fail again remain dead letters. Repeating a replay is safe.',
    discard:
      'A request that is saved with its order is still sent, usually with a check right after the deletion, unless it is withdrawn first; any other request is lost with its message. A deleted feed message never reaches its store.',
  })
