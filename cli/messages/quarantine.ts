import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { orderQueue, readOrderEvent } from '../../lib/orders/events.ts'
import { QUEUES, TABLES } from '../../lib/platform/names.ts'
import { quarantineEntry } from '../../lib/platform/quarantine.ts'
import { deliveryRepository } from '../../lib/webhook/deliveries.ts'
import { readWebhook } from '../../lib/webhook/receive.ts'
import type { Cli } from '../core/command.ts'
import { envelopeOf, nowSeconds } from '../core/webhook.ts'
import { messageCommands } from './commands.ts'
import type { Kind, Message, Reading } from './message.ts'

const entry = v.pipe(v.string(), v.parseJson(), quarantineEntry)

/** Reads what was quarantined as the relay, perhaps a newer one by now, reads it. */
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
      const reason = 'It was not sent by the relay'
      const body = Buffer.from(raw.body)
      const reading = { unreadable: reason }
      return { raw, queue, from: 'unknown', at: raw.sent, body, reading, ...shown(body, reason, reading) }
    }
    const { from, reason, body_base64, received_at } = parsed.output
    const body = Buffer.from(body_base64, 'base64')
    const reading = readContent(from, body)
    const at = new Date(received_at)
    const known = { raw, queue, from, ...envelopeOf(body), at, body, reading, error: reason }
    return { ...known, ...shown(body, reason, reading) }
  },

  columns: {
    ID: ({ raw }) => raw.id,
    FROM: ({ from }) => from,
    SINCE: ({ at }) => at.toISOString(),
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
      const { event, text } = reading
      if (!sources.has(event.data.source)) return { outcome: 'foreign' }
      const { source, external_id } = event.data
      const webhook = from === 'webhook' && event.event === 'order.updated' ? event : undefined
      const recorded = webhook && (await deliveries.find(webhook.delivery, nowSeconds()))
      if (recorded?.source === source && recorded.external_id === external_id) return { outcome: 'duplicate' }
      const send = async () => {
        const enqueue = orderQueue(sqs, await queueUrl(QUEUES.orders))
        await enqueue(event.data, { id: randomUUID(), json: text })
        // A delivery id that belongs to another order stays recorded for that one.
        if (webhook === undefined || recorded !== undefined) return true
        const { delivery, data } = webhook
        await deliveries.record({ delivery, source, external_id, status: data.status }, nowSeconds())
        return true
      }
      return { outcome: 'replayed', send, event, note: '' }
    }
  },
}

/** `relay quarantine`: authentic input that could not be read. */
export const quarantineCommands = (cli: Cli): void =>
  messageCommands(cli, QUARANTINE, {
    command: 'Inspect and replay the quarantine: authentic input that could not be read.',
    list: 'List the messages in quarantine and whether the relay can read them by now.',
    show: 'Show a message in quarantine and its body.',
    replay: 'Add messages to the order queue that can be read by now; the others are kept.',
  })
