import { Option } from '@commander-js/extra-typings'
import * as v from 'valibot'
import { TABLES } from '../lib/platform/names.ts'
import { type DeliveryRecord, deliveryOf, readDelivery } from '../lib/webhook/deliveries.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { cannot } from './core/errors.ts'
import { logOf } from './core/log.ts'
import { periodOption, positive, SOURCE } from './core/options.ts'
import { count, facts, lines, table } from './core/output.ts'
import { itemsOf } from './core/table.ts'
import { nowSeconds } from './core/webhook.ts'

/** Scans the deliveries table for what was received since a time. */
export async function* deliveriesSince(context: Context, since: Date): AsyncGenerator<DeliveryRecord> {
  const deliveries = { TableName: context.nameOf(TABLES.deliveries), ConsistentRead: true }
  const filter = { 'received_at >=': Math.floor(since.getTime() / 1000) }
  for await (const item of itemsOf(context, deliveries, { filter })) yield deliveryOf(item)
}

/** The record of a delivery, if it was queued. */
export const deliveryWith = ({ dynamodb, nameOf }: Context, delivery: string) =>
  readDelivery(dynamodb, nameOf(TABLES.deliveries), delivery)

const isoDate = (seconds: number) => new Date(seconds * 1000).toISOString()

/** The record of a delivery. */
export const showDelivery = async (context: Context, delivery: string) => {
  const found = await deliveryWith(context, delivery)
  if (found === undefined) {
    throw cannot(
      'show the delivery',
      `no delivery "${delivery}" was queued in the last thirty days`,
      `it may have been refused, ignored or quarantined: relay quarantine list${context.flags}`,
    )
  }
  const { received_at, expires_at, headers, body, cut, ...record } = found
  const data = {
    ...record,
    received_at: isoDate(received_at),
    remembered_until: isoDate(expires_at),
    // DynamoDB deletes expired items late; to the receiver this delivery would be new.
    forgotten: expires_at <= nowSeconds(),
  }
  return {
    data: { ...data, headers, body, cut },
    text: lines(
      facts({ ...data, ...headers }),
      body !== undefined && ['', body],
      cut === true && ['', 'The body is not kept: it does not fit into a record of 1 KB.'],
    ),
  }
}

const REFUSED = ['forged', 'contradictory', 'too_large']

/** What became of a delivery, and why, in the words of people. */
export const outcomeOf = (outcome: string, why?: string): { outcome: string; why?: string } => {
  if (outcome === 'unreadable') return { outcome: 'quarantined' }
  if (!REFUSED.includes(outcome)) return { outcome, ...(why !== undefined && { why }) }
  const kind = outcome.replace('_', ' ')
  return { outcome: 'refused', why: why === undefined ? kind : `${kind}, ${why}` }
}

/** What the receiver writes about a delivery to the log; it records only those that it queued or quarantined. */
const received = v.object({
  outcome: v.string(),
  why: v.optional(v.string()),
  delivery: v.optional(v.string()),
  source: v.optional(v.string()),
  external_id: v.optional(v.string()),
})

/** A delivery as the log shows it: what identifies it is missing where it could not be read, or is not trusted. */
type Received = Omit<v.InferOutput<typeof received>, 'outcome'> & { at: Date; outcome: string }

export const OUTCOMES = ['queued', 'duplicate', 'ignored', 'refused', 'quarantined', 'failed'] as const

type ListOptions = { since: Date; limit: number; outcome?: string | undefined; source?: string | undefined }

/** The deliveries of the log, whatever became of them, the newest first. */
export const listDeliveries = async (context: Context, { since, limit, outcome, source }: ListOptions) => {
  const found: Received[] = []
  let matching = 0
  const messages = ['delivery received', 'delivery failed', 'delivery deferred']
  for await (const { at, message, fields } of logOf(context, { since, follow: false, messages })) {
    const line = v.safeParse(received, fields)
    const { outcome: name = 'failed', why, ...about } = line.success ? line.output : {}
    const row = { at, ...outcomeOf(name, line.success ? why : message), ...about }
    if (why === 'probe' || (outcome ?? row.outcome) !== row.outcome || (source ?? row.source) !== row.source)
      continue
    matching++
    found.push(row)
    if (found.length > 2 * limit) found.splice(0, found.length - limit)
  }
  const deliveries = found.slice(-limit).reverse()
  const rows = deliveries.map(({ at, outcome, why, source, external_id, delivery }) => [
    ...[at.toISOString(), outcome, why, source, external_id, delivery],
  ])
  return {
    data: { deliveries, matching },
    text:
      rows.length === 0
        ? `No matching deliveries in the log of ${context.title}.`
        : lines(
            table(['RECEIVED', 'OUTCOME', 'WHY', 'SOURCE', 'ORDER', 'DELIVERY'], rows),
            matching > limit &&
              `${count(matching, 'delivery', 'deliveries')} match; raise --limit to see more.`,
          ),
  }
}

/** `relay deliveries`: the webhooks that came in. */
export const deliveriesCommands = ({ program, run }: Cli): void => {
  const deliveries = program.command('deliveries').description('Look up webhooks that came in.')
  deliveries
    .command('list')
    .description(
      'List the deliveries in the log, the newest first: queued, duplicate, ignored, refused and why.',
    )
    .addOption(periodOption('1h'))
    .addOption(new Option('--outcome <outcome>', 'only this outcome').choices(OUTCOMES))
    .addOption(SOURCE)
    .option('--limit <number>', 'maximum number of deliveries to list', positive, 100)
    .action(run(listDeliveries))
  deliveries
    .command('show')
    .description('Show a delivery: its order and status, when it was queued, its headers and its body.')
    .argument('<id>', 'UUID of the delivery, as in X-Service-Delivery')
    .action(run(showDelivery))
}
