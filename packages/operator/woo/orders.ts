import { compareOrders } from '@order-relay/woocommerce/lib/compare.ts'
import { attentionKey } from '@order-relay/woocommerce/lib/state.ts'
import type { Context } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { count, lines, type Report, shellWord, table } from '../core/output.ts'
import { progress } from '../core/terminal.ts'
import { connectorOf } from './connector.ts'
import { shopStatus } from './status.ts'

/** `relay woo list`: the connected shops, and the orders that need attention with the action for each. */
export const list = async (context: Context, source: string | undefined): Promise<Report> => {
  const connector = connectorOf(context)
  const connections =
    source === undefined ? await connector.connections() : [await connector.connection(source)]
  const shops = await Promise.all(
    connections.map(async connection => ({
      language: connection.language,
      ...(await shopStatus(context, connection)),
    })),
  )
  const total = shops.reduce((sum, { needs }) => sum + needs.length, 0)
  return {
    data: { shops },
    ok: total === 0,
    text: lines(
      shops.length === 0
        ? 'No shop is connected.'
        : table(
            ['SOURCE', 'SHOP', 'ACTIVE WEBHOOKS', 'POLLED', 'SYNCHRONISED', 'NEED ATTENTION'],
            shops.map(({ source, shop, failure, webhooks, polled, synchronized, needs }) => [
              source,
              shop,
              failure ?? webhooks.filter(({ status }) => status === 'active').length,
              polled,
              synchronized,
              needs.length,
            ]),
          ),
      ...shops.map(each => [
        ...(each.needs.length === 0 ? [] : ['', `Orders of "${each.source}" that need attention:`]),
        ...each.needs.map(({ order, since, action }) => `${order}, since ${since}: ${action[each.language]}`),
      ]),
      total > 0 && `\nOnce an order is done: relay woo done <source> <order>${context.flags}`,
    ),
  }
}

/** `relay woo done`: removes an order from the list until it needs attention again. */
export const done = async (context: Context, source: string, order: string): Promise<Report> => {
  const { states } = connectorOf(context)
  const { state, revision, since = '' } = await states.get(source, order)
  const { attention, ...others } = state
  if (attention === undefined)
    throw cannot(
      `mark the order "${order}" as done`,
      'it needs no attention',
      `see relay woo list ${shellWord(source)}${context.flags}`,
    )
  await states.save(source, order, { ...others, done: attentionKey(attention) }, revision, since)
  return { data: { source, order, done: attention.code }, text: `Order ${order} of "${source}" is done.` }
}

export type ImportOptions = { since: Date; until?: Date | undefined; dryRun?: boolean | undefined }

/**
 * `relay woo import`: reads the orders of a period, prints how many it sends, and sends them through the relay. Repeat it
 * to continue an import that ended early.
 */
export const importOrders = async (
  context: Context,
  source: string,
  { since, until = new Date(), dryRun = false }: ImportOptions,
): Promise<Report> => {
  const connector = connectorOf(context)
  const connection = await connector.connection(source)
  const ids: string[] = []
  using reading = progress(context.terminal, 'Orders read')
  async function* orders() {
    for await (const order of connector.shopOf(connection).orders(since, until)) {
      reading.advance()
      yield order
    }
  }
  const { read, send, note } = await compareOrders(orders(), connection, {
    states: connector.states,
    isImport: true,
    enqueue: async (_, order) => {
      ids.push(order)
    },
  })
  const data = { source, read, send, note, dryRun }
  const plan = `${count(read, 'order')} read: ${send} to send, ${note} that only get a note, ${read - send - note} up to date or without an invoice.`
  if (dryRun) return { data, text: plan }
  if (!context.json) context.terminal.stderr.write(`${plan}\n`)
  const enqueue = await connector.queue()
  using sending = progress(context.terminal, 'Orders queued', ids.length)
  for (const order of ids) {
    await enqueue({ source, order, isImport: true })
    sending.advance()
  }
  return {
    data,
    text: lines(
      `${count(ids.length, 'order')} queued.`,
      send > 0 && `Their progress: relay imports${context.flags}`,
      note > 0 && `Orders that need attention: relay woo list ${shellWord(source)}${context.flags}`,
    ),
  }
}
