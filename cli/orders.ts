import { paginateQuery, paginateScan } from '@aws-sdk/client-dynamodb'
import { Option } from '@commander-js/extra-typings'
import { type Intent, isSettled } from '../lib/orders/order.ts'
import { orderOf, orderRepository, type StoredOrder } from '../lib/orders/repository.ts'
import { STATUSES } from '../lib/protocol/status.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { cannot } from './core/errors.ts'
import { positive, SOURCE, since } from './core/options.ts'
import { count, facts, lines, type Report, table } from './core/output.ts'
import { progress } from './core/terminal.ts'

/** The orders table, for reading single orders. */
export const ordersOf = async ({ dynamodb, stack }: Context) =>
  orderRepository(dynamodb, (await stack()).ordersTable, { random: Math.random })

type Filter = { source?: string | undefined; status?: string | undefined; since?: Date | undefined }

/** Scans the orders table, or queries one store's part of it. */
export async function* ordersWhere(
  { dynamodb, stack }: Context,
  { source, status, since: from }: Filter,
): AsyncGenerator<StoredOrder> {
  const given = Object.entries({ source, status, updated_at: from?.toISOString() }).flatMap(([name, S]) =>
    S === undefined ? [] : [{ name, S }],
  )
  const filters = given
    .filter(({ name }) => name !== 'source')
    .map(({ name }) => `#${name} ${name === 'updated_at' ? '>=' : '='} :${name}`)
  const input = {
    TableName: (await stack()).ordersTable,
    ConsistentRead: true,
    ...(filters.length > 0 && { FilterExpression: filters.join(' AND ') }),
    ...(given.length > 0 && {
      // Some are reserved words of DynamoDB.
      ExpressionAttributeNames: Object.fromEntries(given.map(({ name }) => [`#${name}`, name])),
      ExpressionAttributeValues: Object.fromEntries(given.map(({ name, S }) => [`:${name}`, { S }])),
    }),
  }
  const client = { client: dynamodb }
  const pages =
    source === undefined
      ? paginateScan(client, input)
      : paginateQuery(client, { ...input, KeyConditionExpression: '#source = :source' })
  for await (const { Items = [] } of pages) yield* Items.map(orderOf)
}

const intentText = ({ id, kind, of, state, reason }: Intent) =>
  `${kind.padEnd(10)}  ${of === undefined ? '' : `of the ${of}: `}${state}, request ${id}${reason === undefined ? '' : `: ${reason.status} ${reason.message}`}`

const show = async (context: Context, source: string, external_id: string): Promise<Report> => {
  const stored = await (await ordersOf(context)).get({ source, external_id })
  if (stored === undefined) {
    throw cannot(
      'show the order',
      `the relay has no order "${external_id}" of "${source}"`,
      `see relay orders list${context.flags}`,
    )
  }
  const { order, updated_at } = stored
  const { result, doubt, version, intents } = order
  const others = Object.entries(result ?? {}).filter(
    ([name]) => !['source', 'external_id', 'status'].includes(name),
  )
  const text = facts({
    source,
    external_id,
    status: result?.status ?? 'unknown',
    ...Object.fromEntries(
      others.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    ),
    'feed version': version,
    'last change': updated_at,
    doubt: doubt === 'now' ? 'the next event of this order reads it from the service' : undefined,
  })
  return {
    data: { source, external_id, result, doubt, version, intents, updated_at },
    text: lines(text, intents.map(intentText)),
  }
}

const summary = ({ order, updated_at }: StoredOrder) => ({
  source: order.source,
  external_id: order.external_id,
  status: order.result?.status,
  doubt: order.doubt,
  intents: order.intents.map(({ kind, state }) => ({ kind, state })),
  updated_at,
})

type ListOptions = Filter & { limit: number; unsettled?: true | undefined }

const list = async (context: Context, { limit, unsettled, ...filter }: ListOptions): Promise<Report> => {
  const orders: ReturnType<typeof summary>[] = []
  const keepNewest = () => {
    orders.sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
    orders.length = Math.min(orders.length, limit)
  }
  using shown = progress(context.terminal, 'Reading orders')
  let matching = 0
  // The table is not sorted by time, so all of it is read; no more than twice the limit is held.
  for await (const stored of ordersWhere(context, filter)) {
    shown.advance()
    if (unsettled && isSettled(stored.order)) continue
    matching++
    orders.push(summary(stored))
    if (orders.length === 2 * limit) keepNewest()
  }
  keepNewest()
  const more = matching > limit
  const rows = orders.map(({ source, external_id, status, intents, updated_at }) => [
    source,
    external_id,
    status,
    intents
      .filter(({ state }) => state !== 'registered')
      .map(({ kind, state }) => `${kind} ${state}`)
      .join(', '),
    updated_at,
  ])
  return {
    data: { orders, more },
    text:
      orders.length === 0
        ? `No matching orders in ${context.title}.`
        : lines(
            table(['SOURCE', 'ORDER', 'STATUS', 'REQUESTS', 'LAST CHANGE'], rows),
            more && `${count(matching, 'order')} match; raise --limit to see more.`,
          ),
  }
}

const LIMIT = 100

const COST = `
Reads the whole table, or the part of the store with --source: a million orders of 1 KB take a minute or two and
cost about 0.03 dollars.`

/** `relay orders`: the orders as the relay has them. */
export const ordersCommands = ({ program, run }: Cli): void => {
  const orders = program.command('orders').description('Look up orders.')
  orders
    .command('show')
    .description('Show one order: its last result from the service and the requests of its store.')
    .argument('<source>', 'source of the store')
    .argument('<external_id>', "the order's number in the store")
    .action(run(show))
  orders
    .command('list')
    .description('List orders, the most recently changed first.')
    .addOption(SOURCE)
    .addOption(new Option('--status <status>', 'only this status').choices(STATUSES))
    .option('--since <when>', 'only orders changed since: 2h, 7d, or a date', since)
    .option('--unsettled', 'only orders in review, in doubt, or with an open request')
    .option('--limit <number>', 'maximum number of orders to list', positive, LIMIT)
    .addHelpText('after', COST)
    .action(run(list))
}
