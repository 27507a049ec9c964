import { Option } from '@commander-js/extra-typings'
import { PROBE_SOURCE, TABLES } from '@order-relay/lib/platform/names.ts'
import { type DeliveryRecord, deliveryOf, readDelivery } from '@order-relay/lib/webhook/deliveries.ts'
import * as v from 'valibot'
import type { Cli } from './core/command.ts'
import { assertFound, type Context } from './core/context.ts'
import { cannot } from './core/errors.ts'
import { newestOf } from './core/log.ts'
import { periodOption, positive, SOURCE } from './core/options.ts'
import { facts, lines, moreThan, type Report, shellWord, table } from './core/output.ts'
import { itemsOf } from './core/table.ts'
import { nowSeconds } from './core/webhook.ts'
import { QUARANTINE } from './dead-letters/quarantine.ts'
import { collect, type Message, summaryOf } from './model/message.ts'

/** Scans the deliveries table for deliveries since a time. */
export async function* deliveriesSince(context: Context, since: Date): AsyncGenerator<DeliveryRecord> {
  const deliveries = { TableName: context.nameOf(TABLES.deliveries), ConsistentRead: true }
  const filter = { 'received_at >=': Math.floor(since.getTime() / 1000) }
  for await (const item of itemsOf(context, deliveries, { filter })) yield deliveryOf(item)
}

/** The record of a delivery, if it was queued. */
export const deliveryWith = ({ dynamodb, nameOf }: Context, delivery: string) =>
  readDelivery(dynamodb, nameOf(TABLES.deliveries), delivery)

/** Maximum number of messages in quarantine to read. */
const QUARANTINED_MOST = 1000

/** The quarantined message with this delivery id, if the id could be read. */
const quarantinedWith = async (context: Context, delivery: string): Promise<Message | undefined> => {
  const selection = { ids: [delivery], limit: QUARANTINED_MOST }
  return (await collect(context, QUARANTINE, selection)).messages[0]
}

/** The command that shows a message in quarantine. */
const quarantineCommand = ({ flags }: Pick<Context, 'flags'>, delivery: string): string =>
  `relay quarantine show ${shellWord(delivery)}${flags}`

const isoDate = (seconds: number) => new Date(seconds * 1000).toISOString()

/** The record of a delivery. */
export const showDelivery = async (context: Context, delivery: string) => {
  const found = await deliveryWith(context, delivery)
  if (found === undefined) {
    const remedy = `it may have been refused or ignored, or its id could not be read: relay quarantine list${context.flags}`
    throw cannot('show the delivery', `no delivery "${delivery}" was queued in the last thirty days`, remedy)
  }
  const { received_at, expires_at, headers, body, cut, ...record } = found
  const data = {
    ...record,
    received_at: isoDate(received_at),
    remembered_until: isoDate(expires_at),
    // DynamoDB deletes expired items late; the webhook function would treat this delivery as new.
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

/** The record of a delivery or, if it is in quarantine, its message. */
const show = async (context: Context, delivery: string): Promise<Report> => {
  const isQueued = (await deliveryWith(context, delivery)) !== undefined
  const message = isQueued ? undefined : await quarantinedWith(context, delivery)
  if (message === undefined) return showDelivery(context, delivery)
  const data = { outcome: 'quarantined', ...summaryOf(message) }
  return { data, text: lines(facts(data), '', `For its body: ${quarantineCommand(context, delivery)}`) }
}

export const OUTCOMES = ['queued', 'duplicate', 'ignored', 'refused', 'quarantined', 'failed'] as const

type Outcome = (typeof OUTCOMES)[number]

const FAILED = ['delivery failed', 'delivery deferred']

/** Outcomes that have other names in the log. Contradictory webhooks of known stores are quarantined, others refused. */
const LOGGED: Partial<Record<Outcome, readonly string[]>> = {
  refused: ['forged', 'contradictory', 'too_large'],
  quarantined: ['unreadable', 'contradictory'],
}

const REASONS: Readonly<Record<string, string>> = {
  malformed: 'the signature header is malformed',
  stale: 'the signature is too old, or in the future',
  mismatch: 'not signed with a known secret',
  header: 'a header contradicts the signed body',
  'delivery id': 'its delivery id belongs to another order',
  too_large: 'the body is too large',
  // Its signature is valid.
  unreadable: 'the signature is valid, but the body cannot be read',
}

type Logged = { outcome: string; why?: string | undefined; source?: string | undefined }

/** The outcome of a delivery and its reason, in plain words. */
export const outcomeOf = ({ outcome, why, source }: Logged): { outcome: string; why?: string } => {
  const isRefused = LOGGED.refused?.includes(outcome)
  const isQuarantined = outcome === 'unreadable' || (outcome === 'contradictory' && source !== undefined)
  const kind = isQuarantined ? 'quarantined' : isRefused ? 'refused' : outcome
  const reason = why ?? (isQuarantined || isRefused ? outcome : undefined)
  return { outcome: kind, ...(reason !== undefined && { why: REASONS[reason] ?? reason }) }
}

/** The log line of a delivery; the webhook function records only deliveries that it queued or quarantined. */
const received = v.object({
  outcome: v.string(),
  why: v.optional(v.string()),
  delivery: v.optional(v.string()),
  source: v.optional(v.string()),
  external_id: v.optional(v.string()),
})

type ListOptions = { since: Date; limit: number; outcome?: Outcome | undefined; source?: string | undefined }

/** The deliveries in the log with any outcome, newest first. */
export const listDeliveries = async (context: Context, { since, limit, outcome, source }: ListOptions) => {
  const newest = {
    since,
    messages: outcome === 'failed' ? FAILED : ['delivery received', ...FAILED],
    fields: {
      ...(outcome !== undefined && outcome !== 'failed' && { outcome: LOGGED[outcome] ?? [outcome] }),
      ...(source !== undefined && { source: [source] }),
    },
  }
  const found = await newestOf(context, newest, limit, ({ at, message, fields }) => {
    const line = v.safeParse(received, fields)
    const {
      outcome: name = 'failed',
      why,
      ...about
    }: Partial<v.InferOutput<typeof received>> = line.success ? line.output : {}
    // The identifying fields are missing if they could not be read or are not trusted.
    const known = outcomeOf({ outcome: name, why: line.success ? why : message, source: about.source })
    const row = { at, ...known, ...about }
    if (why === 'probe' || (source === undefined && row.source === PROBE_SOURCE)) return undefined
    if ((outcome ?? row.outcome) !== row.outcome || (source ?? row.source) !== row.source) return undefined
    return row
  })
  const deliveries = found.slice(0, limit)
  const more = found.length > limit
  const rows = deliveries.map(({ at, outcome, why, source, external_id, delivery }) => [
    at,
    outcome,
    why,
    source,
    external_id,
    delivery,
  ])
  return {
    data: { deliveries, more },
    text:
      rows.length === 0
        ? `No matching deliveries in the log of ${context.title}.`
        : lines(
            table(['RECEIVED', 'OUTCOME', 'WHY', 'SOURCE', 'ORDER', 'DELIVERY'], rows),
            more && moreThan(limit),
          ),
  }
}

/** `relay deliveries`: the received webhooks. */
export const deliveriesCommands = ({ program, run }: Cli): void => {
  const deliveries = program.command('deliveries').description('Look up received webhooks.')
  deliveries
    .command('list')
    .description(
      'List the deliveries in the log, newest first, with their outcomes, such as queued or refused, and the reasons.',
    )
    .addOption(periodOption('1h'))
    .addOption(new Option('--outcome <outcome>', 'only this outcome').choices(OUTCOMES))
    .addOption(SOURCE)
    .option('--limit <number>', 'maximum number of deliveries to list', positive, 100)
    .action(
      run(async (context, options) => {
        const report = await listDeliveries(context, options)
        assertFound(context, options.source, report.data.deliveries.length)
        return report
      }),
    )
  deliveries
    .command('show')
    .description(
      'Show a delivery: its order and status, when it was queued, its headers and its body; or, if it is in quarantine, why.',
    )
    .argument('<id>', 'UUID of the delivery, as in X-Service-Delivery')
    .action(run(show))
}
