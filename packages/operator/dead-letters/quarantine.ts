import { randomUUID } from 'node:crypto'
import { type OrderEvent, orderQueue, readOrderEvent } from '@order-relay/lib/orders/events.ts'
import { QUEUES, TABLES } from '@order-relay/lib/platform/names.ts'
import { quarantineEntry } from '@order-relay/lib/platform/quarantine.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { deliveryRepository } from '@order-relay/lib/webhook/deliveries.ts'
import { quarantineId, readWebhook } from '@order-relay/lib/webhook/receive.ts'
import * as v from 'valibot'
import type { Cli } from '../core/command.ts'
import type { Context } from '../core/context.ts'
import { shellWord } from '../core/output.ts'
import { depthOf } from '../core/queue.ts'
import { envelopeOf, nowSeconds } from '../core/webhook.ts'
import { collect, type Kind, type Message, type Reading, type Sent } from '../model/message.ts'
import { messageCommands } from './commands.ts'

const entry = v.pipe(v.string(), v.parseJson(), quarantineEntry)

/** Reads quarantined input with the current version of the relay. */
const readContent = (from: Message['from'], body: Buffer): Reading => {
  if (from !== 'webhook') return readOrderEvent(body)
  const reading = readWebhook(body)
  switch (reading.kind) {
    case 'order.updated':
      return { event: reading.webhook, text: reading.text }
    case 'other event':
      return { unreadable: `The relay does not handle the event "${reading.event}"` }
    case 'unreadable':
      return { unreadable: reading.reason }
  }
}

/**
 * The order may have changed since a webhook was quarantined, so a replay has the worker read it from the service: the
 * store is never notified of an outdated result. The check keeps the id of the delivery, by which it is found.
 */
const checkInstead = ({
  delivery,
  data: { source, external_id },
}: Extract<OrderEvent, { event: 'order.updated' }>) => {
  const event = { event: 'order.check', delivery, data: { source, external_id } } as const
  return { event, text: JSON.stringify(event) }
}

const shown = (body: Buffer, reason: string, reading: Reading) => ({
  details: { bytes: body.length, reason, readable: 'event' in reading },
  content: { body: body.toString('utf8'), body_base64: body.toString('base64') },
})

/** Authentic input that could not be read (promise P12). */
export const QUARANTINE: Kind = {
  command: 'quarantine',
  key: 'entries',
  none: 'Nothing in quarantine',
  where: 'in quarantine',
  queues: () => [QUEUES.quarantine],

  read: (raw, queue) => {
    const parsed = v.safeParse(entry, raw.body)
    if (!parsed.success) {
      const reading = { unreadable: 'It was not sent by the relay' }
      const body = Buffer.from(raw.body)
      const about = shown(body, reading.unreadable, reading)
      return { raw, queue, from: 'unknown', at: raw.sent, body, reading, ...about }
    }
    const { from, reason, body_base64, received_at: at, header_delivery } = parsed.output
    const body = Buffer.from(body_base64, 'base64')
    const reading = readContent(from, body)
    const { delivery = header_delivery, ...envelope } = envelopeOf(body)
    const known = { raw, queue, from, ...envelope, delivery, at: new Date(at), body, reading, error: reason }
    return { ...known, ...shown(body, reason, reading) }
  },

  columns: {
    ID: ({ raw }) => raw.id,
    FROM: ({ from }) => from,
    SINCE: ({ at }) => at,
    BYTES: ({ details }) => details.bytes,
    'READABLE NOW': ({ details }) => (details.readable ? 'yes' : 'no'),
    REASON: ({ details }) => details.reason,
  },

  // The rest of the receiving path (promise P3): send, then record.
  planner: ({ sqs, queueUrl, stores, dynamodb, nameOf }) => {
    const sources = new Set(stores().map(({ source }) => source))
    const deliveries = deliveryRepository(dynamodb, nameOf(TABLES.deliveries))
    return async ({ from, reading }) => {
      if ('unreadable' in reading) return { outcome: 'unreadable' }
      const { source, external_id } = reading.event.data
      if (!sources.has(source)) return { outcome: 'foreign' }
      const webhook =
        from === 'webhook' && reading.event.event === 'order.updated' ? reading.event : undefined
      const { event, text } = webhook === undefined ? reading : checkInstead(webhook)
      const recorded = webhook && (await deliveries.find(webhook.delivery, nowSeconds()))
      if (recorded?.source === source && recorded.external_id === external_id) return { outcome: 'duplicate' }
      const send = async (): Promise<Sent> => {
        const enqueue = orderQueue(sqs, await queueUrl(QUEUES.orders))
        await enqueue({ source, external_id }, { id: randomUUID(), json: text })
        // A delivery id of another order stays recorded for that order.
        if (webhook === undefined || recorded !== undefined) return 'replayed'
        const { delivery, data } = webhook
        await deliveries.record({ delivery, source, external_id, status: data.status }, nowSeconds())
        return 'replayed'
      }
      return { outcome: 'replayed', send, event, note: '' }
    }
  },

  // Otherwise, the webhook function would treat a repeated webhook as still quarantined. After a crash here, a webhook
  // may be kept twice.
  beforeDeletion: async ({ dynamodb, nameOf }, { from, body }) => {
    if (from !== 'webhook') return
    const Key = { delivery: { S: quarantineId(body) } }
    await dynamodb.deleteItem({ TableName: nameOf(TABLES.deliveries), Key })
  },
}

/** The ids of messages about an order. */
export const idsAbout = (messages: readonly Message[], { source, external_id }: OrderKey): string[] =>
  messages.flatMap(each => (each.source === source && each.external_id === external_id ? [each.raw.id] : []))

/** Maximum number of messages to search for those about an order. */
const SEARCHED = 1000

/** Sentences about the messages in quarantine that are about an order, and their ids. */
export const quarantinedAbout = async (context: Context, order: OrderKey) => {
  const { all } = await depthOf(context, QUEUES.quarantine)
  // Receives from the queue only if it is not empty, since SQS hides received messages.
  const { messages } = all === 0 ? { messages: [] } : await collect(context, QUARANTINE, { limit: SEARCHED })
  const ids = idsAbout(messages, order)
  const command = (id: string) => `relay quarantine show ${shellWord(id)}${context.flags}`
  return { ids, texts: ids.map(id => `The quarantine has a message about this order: ${command(id)}`) }
}

/** `relay quarantine`: authentic input that could not be read. */
export const quarantineCommands = (cli: Cli): void =>
  messageCommands(cli, QUARANTINE, {
    command: 'Inspect and replay the quarantine: authentic input that could not be read.',
    list: 'List the messages in quarantine and whether the relay can now read them.',
    show: 'Show a message in quarantine and its body.',
    replay:
      'Add the messages that can now be read to the order queue; the others are kept. For a webhook, the worker reads the order from the accounting service, since it may have changed in the meantime.',
    discard: 'A webhook that is sent again afterwards is quarantined again.',
  })
