import { paginateScan } from '@aws-sdk/client-dynamodb'
import { TABLES } from '../lib/platform/names.ts'
import { type DeliveryRecord, deliveryOf, readDelivery } from '../lib/webhook/deliveries.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { cannot } from './core/errors.ts'
import { facts, type Report } from './core/output.ts'
import { nowSeconds } from './core/webhook.ts'

/** Scans the deliveries table for what was received since a time. */
export async function* deliveriesSince(context: Context, since: Date): AsyncGenerator<DeliveryRecord> {
  const pages = paginateScan(
    { client: context.dynamodb },
    {
      TableName: context.nameOf(TABLES.deliveries),
      ConsistentRead: true,
      FilterExpression: 'received_at >= :since',
      ExpressionAttributeValues: { ':since': { N: String(Math.floor(since.getTime() / 1000)) } },
    },
  )
  for await (const { Items = [] } of pages) yield* Items.map(deliveryOf)
}

/** The record of a delivery, if it was queued. */
export const deliveryWith = ({ dynamodb, nameOf }: Context, delivery: string) =>
  readDelivery(dynamodb, nameOf(TABLES.deliveries), delivery)

const isoDate = (seconds: number) => new Date(seconds * 1000).toISOString()

const show = async (context: Context, delivery: string): Promise<Report> => {
  const found = await deliveryWith(context, delivery)
  if (found === undefined) {
    throw cannot(
      'show the delivery',
      `no delivery "${delivery}" was queued in the last thirty days`,
      `it may have been refused, ignored or quarantined: relay quarantine list${context.flags}`,
    )
  }
  const { received_at, expires_at, ...record } = found
  const data = {
    ...record,
    received_at: isoDate(received_at),
    remembered_until: isoDate(expires_at),
    // DynamoDB deletes expired items late; to the receiver this delivery would be new.
    forgotten: expires_at <= nowSeconds(),
  }
  return { data, text: facts(data) }
}

/** `relay deliveries`: the webhooks that were queued. */
export const deliveriesCommands = ({ program, run }: Cli): void => {
  const deliveries = program.command('deliveries').description('Look up webhooks that were queued.')
  deliveries
    .command('show')
    .description('Show the order and status of a delivery and when it was queued.')
    .argument('<id>', 'UUID of the delivery, as in X-Service-Delivery')
    .action(run(show))
}
