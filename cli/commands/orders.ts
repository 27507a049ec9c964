import type { Intent } from '../../lib/orders/order.ts'
import { ordersTable } from '../../lib/orders/table.ts'
import { cannot } from '../failure.ts'
import type { Place } from '../place/place.ts'
import { act, type Relay } from '../relay-command.ts'
import type { Report } from '../report.ts'
import { positive, since } from '../since.ts'
import { isUnsettled, type OrderFilter, type OrderLine, ordersOf } from '../stored/orders.ts'
import { count, facts, table } from '../table.ts'

const LIMIT = 100

const intentText = (wish: string, { id, state, reason }: Intent) =>
  `${wish.padEnd(7)}  ${state}, asked for as ${id}${reason === undefined ? '' : `: ${reason.status} ${reason.message}`}`

const show = async (place: Place, source: string, external_id: string): Promise<Report> => {
  const held = await ordersTable(place.dynamodb, place.names.orders).get({ source, external_id })
  if (held === undefined) {
    throw cannot(
      'show the order',
      `the relay knows no order "${external_id}" of "${source}"`,
      `see relay orders list${place.flags}`,
    )
  }
  const { result, doubt, version, intents } = held.order
  const said = Object.entries(result ?? {}).filter(
    ([name]) => !['source', 'external_id', 'status'].includes(name),
  )
  const text = facts({
    source,
    external_id,
    status: result?.status ?? 'not known yet',
    ...Object.fromEntries(
      said.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    ),
    'told to the store': count(version, 'message'),
    'last change': held.updated_at,
    doubt: doubt ? 'the service must be asked; the next message of this order does' : undefined,
  })
  return {
    data: { source, external_id, result, doubt, version, intents, updated_at: held.updated_at },
    text: [text, ...Object.entries(intents).map(([wish, intent]) => intentText(wish, intent))].join('\n'),
  }
}

type Listing = OrderFilter & { limit: number; unsettled?: true | undefined }

const list = async (place: Place, { limit, unsettled, ...filter }: Listing): Promise<Report> => {
  const orders: OrderLine[] = []
  let more = false
  for await (const order of ordersOf(place, filter)) {
    if (unsettled === true && !isUnsettled(order)) continue
    more = orders.length === limit
    if (more) break
    orders.push(order)
  }
  orders.sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
  const rows = orders.map(({ source, external_id, status, intents, updated_at }) => [
    source,
    external_id,
    status,
    Object.entries(intents)
      .filter(([, state]) => state !== 'registered')
      .map(([wish, state]) => `${wish} ${state}`)
      .join(', '),
    updated_at,
  ])
  return {
    data: { orders, more },
    text:
      orders.length === 0
        ? `No such orders in ${place.title}.`
        : `${table(['SOURCE', 'ORDER', 'STATUS', 'REQUESTS', 'LAST CHANGE'], rows)}${more ? `\nThere are more: raise --limit (${limit}).` : ''}`,
  }
}

/** `relay orders`: what the relay knows of the stores' orders. */
export const ordersCommands = (relay: Relay): void => {
  const orders = relay.command('orders').description('What the relay knows of orders.')
  orders
    .command('show')
    .description('Show one order: what the service last said of it, and what the store asked for.')
    .argument('<source>', 'the store')
    .argument('<external_id>', "the order's number in the store")
    .action((source, external_id, _options, command) =>
      act(command, place => show(place, source, external_id)),
    )
  orders
    .command('list')
    .description('List orders, the last changed first.')
    .option('--source <source>', 'only of this store')
    .option('--status <status>', 'only in this status: needs_review, invoiced, paid, refunded')
    .option('--since <when>', 'only changed since: 2h, 7d, or a date', since)
    .option('--unsettled', 'only those of which something is still to come')
    .option('--limit <number>', 'at most so many', positive, LIMIT)
    .action((options, command) => act(command, place => list(place, options)))
}
