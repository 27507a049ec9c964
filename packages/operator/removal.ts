import { tablesOf } from '@order-relay/deploy/tables.ts'
import { requestViews } from '@order-relay/lib/orders/order.ts'
import { keyOf } from '@order-relay/lib/orders/stored.ts'
import { UNSETTLED_INDEX } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { count, lines, type Report, table } from './core/output.ts'
import { queuesOf, totalOf } from './core/queue.ts'
import { indexItems, storedOrders } from './model/read.ts'

type OpenOrder = OrderKey & { waiting: number; held: number }

/** The orders with open requests. Every such order is in the index of unsettled orders. */
const openOrders = async (context: Context): Promise<OpenOrder[]> => {
  const items = await indexItems(context, UNSETTLED_INDEX)
  const found: OpenOrder[] = []
  for await (const { order } of storedOrders(context, items.map(keyOf))) {
    const states = requestViews(order).map(({ state }) => state)
    const waiting = states.filter(state => state === 'waiting').length
    const held = states.filter(state => state === 'held').length
    const { source, external_id } = order
    if (waiting + held > 0) found.push({ source, external_id, waiting, held })
  }
  return found
}

type Loss = { queue: string; messages: number }

/** The number of messages in each queue of the stack that has any. */
const messagesOf = async (context: Context): Promise<Loss[]> => {
  const { feeds, ...own } = await queuesOf(context)
  return [
    { queue: 'order queue', depth: own.orders },
    { queue: 'bulk queue', depth: own.bulk },
    { queue: 'dead letters of orders', depth: own.ordersDead },
    { queue: 'dead letters of HTTP feeds', depth: own.feedsDead },
    { queue: 'quarantine', depth: own.quarantine },
    ...feeds.map(({ source, depth }) => ({ queue: `feed ${source}`, depth })),
    ...feeds.map(({ source, dead }) => ({ queue: `dead letters of ${source}`, depth: dead })),
  ]
    .map(({ queue, depth }) => ({ queue, messages: totalOf(depth) }))
    .filter(({ messages }) => messages > 0)
}

const isProtected = async ({ aws, service }: Context): Promise<boolean> => {
  const { Stacks: [stack] = [] } = await (await aws.cloudFormation()).describeStacks({ StackName: service })
  return stack?.EnableTerminationProtection === true
}

/** The commands that remove the stack, in their order. */
const commandsFor = async (context: Context): Promise<string[]> => {
  const { local, flags, region, service, stage } = context
  if (local) return []
  const protection = `aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${service} --region ${region}`
  return [
    `npx relay unregister${flags}`,
    ...((await isProtected(context)) ? [protection] : []),
    `npx serverless remove --stage ${stage} --region ${region} --param="remove=${stage}"`,
  ]
}

/** The number of orders in the text; `--json` has all of them. */
const SHOWN = 20

const preview = async (context: Context): Promise<Report> => {
  const { ordersTable } = await context.stack()
  const prefix = context.nameOf('')
  const tables = tablesOf({ prefix, ordersTable: ordersTable.slice(prefix.length) }).map(
    ({ name, retained }) => ({ name, retained }),
  )
  const [messages, orders, commands] = await Promise.all([
    messagesOf(context),
    openOrders(context),
    commandsFor(context),
  ])
  const stores = [...Map.groupBy(orders, ({ source }) => source)].map(([source, each]) => ({
    source,
    orders: each.length,
    waiting: each.reduce((sum, { waiting }) => sum + waiting, 0),
    held: each.reduce((sum, { held }) => sum + held, 0),
  }))
  const ok = messages.length === 0 && orders.length === 0
  return {
    data: { ok, messages, stores, orders, tables, commands },
    ok,
    text: lines(
      messages.length === 0
        ? 'No queue has messages.'
        : [
            'Deleted messages:',
            table(
              ['QUEUE', 'MESSAGES'],
              messages.map(({ queue, messages }) => [queue, messages]),
            ),
          ],
      '',
      orders.length === 0
        ? 'No order has an open request.'
        : [
            'Requests that are no longer carried out; their orders remain in the orders table:',
            table(
              ['SOURCE', 'ORDERS', 'WAITING', 'HELD'],
              stores.map(({ source, orders, waiting, held }) => [source, orders, waiting, held]),
            ),
            '',
            table(
              ['SOURCE', 'ORDER', 'WAITING', 'HELD'],
              orders
                .slice(0, SHOWN)
                .map(({ source, external_id, waiting, held }) => [source, external_id, waiting, held]),
            ),
          ],
      orders.length > SHOWN && `${count(orders.length - SHOWN, 'more order')}: see --json.`,
      '',
      table(
        ['TABLE', 'WITH THE STACK'],
        tables.map(({ name, retained }) => [name, retained ? 'retained' : 'deleted']),
      ),
      commands.length > 0 && ['', 'To remove the stack anyway:', ...commands.map(each => `  ${each}`)],
    ),
  }
}

/** `relay preview-remove`: what `npx serverless remove` would destroy. */
export const previewRemoveCommand = ({ program, run }: Cli): void => {
  program
    .command('preview-remove')
    .description(
      'Show what npx serverless remove would destroy: messages, dead letters, open requests and tables; and the commands that remove the stack. Changes nothing. The exit code is 1 if a queue has messages or an order has an open request.',
    )
    .action(run(preview))
}
