import { Argument, Option } from '@commander-js/extra-typings'
import { announcedRequests } from '@order-relay/lib/orders/announcements.ts'
import type { HistoryEntry } from '@order-relay/lib/orders/history.ts'
import { isSettled, REQUEST_KINDS, type RequestView, requestViews } from '@order-relay/lib/orders/order.ts'
import type { StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { type OrderKey, orderName } from '@order-relay/lib/protocol/order.ts'
import { STATUSES } from '@order-relay/lib/protocol/status.ts'
import type { Cli } from '../core/command.ts'
import { assertFound, type Context } from '../core/context.ts'
import { durationOption, positive, SOURCE, since } from '../core/options.ts'
import { facts, lines, moreThan, type Report, shellWord, table } from '../core/output.ts'
import { progress } from '../core/terminal.ts'
import { operationsReport } from '../dead-letters/commands.ts'
import { quarantinedAbout } from '../dead-letters/quarantine.ts'
import { type FeedMessageView, messagesOf, STORE_REMOVED } from '../feeds/messages.ts'
import { OUTCOME_SECONDS } from '../feeds/retry.ts'
import { undeliveredTexts } from '../feeds/undelivered.ts'
import { asRetried } from '../model/failing-event.ts'
import { keyNamed, timelineOf } from '../model/orders.ts'
import { announcedOf, type OrderFilter, ordersWhere, sourcesOf } from '../model/read.ts'
import { checkOrder } from './check.ts'
import { deadLettersOf } from './dead-letters.ts'
import { erase } from './erase.ts'
import { failingOrders, listOrders } from './list.ts'
import { RETRY_RATE, retryOrders } from './retry.ts'
import { ordersText, stateText, summary } from './summary.ts'
import { waitingInWords, waitsForAccountant, whyWaiting } from './why-waiting.ts'
import { withdrawRequest } from './withdraw.ts'

const requestText = ({ id, kind, of, state, reason }: RequestView) =>
  `${kind.padEnd(10)}  ${of === undefined ? '' : `of the ${of}: `}${stateText(state)}, request ${id}${reason === undefined ? '' : `: ${reason.status} ${reason.message}`}`

const callText = ({ to, outcome, status, code, ms }: HistoryEntry['calls'][number]) =>
  `${to}: ${[status ?? outcome, code].filter(Boolean).join(' ')}, ${ms} ms`

const publishedText = (
  { event, delivery }: HistoryEntry['published'][number],
  version: number,
  messages: readonly FeedMessageView[],
) => {
  const replayed = messages.find(each => each.delivery === delivery)?.replayed_at
  const replay = replayed === undefined ? '' : ` (an operator replayed its dead letter at ${replayed})`
  return `published: ${event} v${version}${replay}`
}

const entryRow = (entry: HistoryEntry, messages: readonly FeedMessageView[]) => [
  entry.at,
  entry.event,
  entry.delivery,
  entry.status,
  [
    ...(entry.bulk === undefined ? [] : ['moved to the bulk queue']),
    ...entry.calls.map(callText),
    ...entry.requests.map(({ kind, state }) => `${kind} ${stateText(state)}`),
    ...entry.published.map(each => publishedText(each, entry.version, messages)),
    ...(entry.cut ? ['and more'] : []),
  ].join('; ') || 'no change',
]

const show = async (context: Context, key: OrderKey): Promise<Report> => {
  const { source, external_id } = key
  const { stored, announced, entries, complete } = await timelineOf(context, key)
  const dead = await deadLettersOf(context, { sources: [source] })
  const { order, updated_at, failing, erased_at } = asRetried(stored, dead)
  const { result, doubt, version } = order
  const requests = [...requestViews(order), ...announcedRequests(order, announced)]
  const letters = dead(order)
  const { messages, feed } = await messagesOf(context, order, entries)
  const quarantined = await quarantinedAbout(context, key)
  const undelivered = undeliveredTexts(context, order, messages, letters.undelivered)
  const waiting = waitingInWords(whyWaiting(stored, Date.now(), letters, announced, undelivered))
  const others = Object.entries({ ...result, source, external_id, status: result?.status ?? 'unknown' })
  const text = facts({
    // First, regardless of their position in the service's response.
    source,
    external_id,
    status: '',
    ...Object.fromEntries(
      others.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    ),
    'feed version': version,
    'last change': updated_at,
    erased: erased_at,
    doubt: doubt === 'now' ? 'the next event of this order reads it from the service' : undefined,
  })
  return {
    data: {
      source,
      external_id,
      result,
      doubt,
      version,
      requests,
      updated_at,
      failing,
      erased_at,
      waiting,
      quarantined: quarantined.ids,
      feed,
      history: { entries, complete },
    },
    text: lines(
      text,
      requests.map(requestText),
      ['', ...(feed === 'removed' ? [STORE_REMOVED] : []), ...quarantined.texts, waiting.summary],
      waiting.actions.flatMap(({ action, of, effect }) => [
        `  ${[action, of].filter(Boolean).join(' ')}: ${effect}`,
        ...(action === 'replay' || action === 'discard'
          ? [
              `    relay dead ${action} --source ${shellWord(source)} --order ${shellWord(external_id)}${context.flags}`,
            ]
          : []),
      ]),
      entries.length > 0 && [
        '',
        table(
          ['CHANGE', 'EVENT', 'ID', 'STATUS', 'WHAT HAPPENED'],
          entries.map(entry => entryRow(entry, messages)),
        ),
      ],
      !complete && 'Earlier changes are not in the history.',
    ),
  }
}

/** One order more than `limit` shows that there are others. */
const cut = (orders: readonly StoredOrder[], limit: number) => ({
  orders: orders.slice(0, limit),
  more: orders.length > limit,
})

/** The table is not sorted by time, so it is read completely; at most twice the limit is held in memory. */
const scanned = async (context: Context, { limit, unsettled, accountant, until, ...filter }: ListOptions) => {
  let orders: StoredOrder[] = []
  const newest = () => orders.sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)).slice(0, limit + 1)
  using shown = progress(context.terminal, 'Reading orders')
  for await (const stored of ordersWhere(context, filter)) {
    shown.advance()
    if (unsettled && isSettled(stored.order)) continue
    if (accountant && !waitsForAccountant(stored)) continue
    if (until !== undefined && stored.updated_at > until.toISOString()) continue
    if (orders.push(stored) > 2 * limit) orders = newest()
  }
  return cut(newest(), limit)
}

type ListOptions = OrderFilter & {
  limit: number
  cursor?: string | undefined
  failing?: true | undefined
  scan?: true | undefined
}

const list = async (context: Context, { failing, scan, ...options }: ListOptions): Promise<Report> => {
  const { limit } = options
  const read = failing ? failingOrders : scan ? scanned : listOrders
  const page: Awaited<ReturnType<typeof listOrders>> & { more?: boolean } = await read(context, options)
  if (options.cursor === undefined) assertFound(context, options.source, page.orders.length)
  const dead = await deadLettersOf(context, { sources: sourcesOf(page.orders) })
  const announced = await announcedOf(context, page.orders)
  const orders = page.orders.map(stored =>
    summary(asRetried(stored, dead), dead(stored.order), announced.get(orderName(stored.order))),
  )
  const { cursor, searched, more } = page
  return {
    data: { orders, cursor, searched, more },
    text: lines(
      orders.length === 0 ? `No matching orders in ${context.title}.` : ordersText(orders),
      more === true && moreThan(limit),
      cursor !== undefined &&
        `${searched === undefined ? 'There are more' : `Searched back to ${searched}`}; continue with --cursor ${cursor}`,
    ),
  }
}

const check = async (context: Context, source: string, external_id: string): Promise<Report> => {
  const { effect } = await checkOrder(context, { source, external_id })
  const order = `${shellWord(source)} ${shellWord(external_id)}${context.flags}`
  const text = `${effect.text} See relay orders show ${order}`
  return { data: { source, external_id, effect: effect.text }, text }
}

const LIMIT = 100
const FAILING = new Option(
  '--failing',
  'only orders with a failing event that is retried, longest failing first',
)
FAILING.conflicts(['scan', 'status', 'since', 'until', 'unsettled', 'accountant'])

const COST = `
Reads the history of all stores in stores.yml, newest change first, and prints the cursor of the next page.
With --scan, reads the whole orders table instead, including orders without a history: they last changed before
this version of the relay, or the history was lost. A million orders of 1 KB then take a minute or two and cost
about 0.03 dollars.`

const ERASE = `
Refused while the order has an open request, a failing event, or messages among the dead letters or in quarantine,
and in the five minutes after its last change. Reads the whole history of the store and all deliveries: a million
items of 1 KB take a minute or two and cost about 0.03 dollars. Repeat an interrupted erasure with the same command.`

/** `relay orders`: the orders stored by the relay. */
export const ordersCommands = ({ program, run }: Cli): void => {
  const orders = program.command('orders').description('Look up orders, and erase one on request.')
  const ofOrder = (name: string, description: string) =>
    orders
      .command(name)
      .description(description)
      .argument('<source>', 'source of the store')
      .argument('<external_id>', "the order's number in the store")
  orders
    .command('show')
    .description('Show an order: its result, its requests, why it waits, and its history.')
    .argument('<source>', 'source of the store; may be omitted if only one store has the number')
    .argument('[external_id]', "the order's number in the store")
    .action(
      run(async (context, name, external_id) => show(context, await keyNamed(context, name, external_id))),
    )
  ofOrder(
    'check',
    'Have the worker read an order from the service now. Fails if neither the relay nor the service has the order.',
  ).action(run(check))
  orders
    .command('retry')
    .description(
      'Retry waiting orders now: release failing events, resend refused requests, and report the outcomes. The exit code is 1 if one fails or is refused again.',
    )
    .argument('[source]', 'source of a store; with a number, only this order')
    .argument('[external_id]', "the order's number in the store")
    .option('--cause <code>', 'only this cause, such as unavailable, or the code of the refusal')
    .option('--all', 'all waiting orders')
    .option('--rate <number>', 'orders per second', positive, RETRY_RATE)
    .addOption(durationOption('--wait <duration>', 'maximum wait for the outcomes', `${OUTCOME_SECONDS}s`))
    .action(run(retryOrders))
  ofOrder(
    'withdraw',
    'Withdraw an open request on behalf of its store, which is notified. Asks for the order number to confirm.',
  )
    .addArgument(new Argument('<request>', 'the request').choices(REQUEST_KINDS))
    .option('--yes <name>', 'the number, for scripts')
    .action(run(withdrawRequest))
  ofOrder(
    'erase',
    'Erase the data of a settled order on request, after confirmation by typing its number, and print where data remains. Erase it in the accounting service first.',
  )
    .option('--dry-run', 'only show what would be erased, and what would remain')
    .option('--force', 'also erase an order that is in review or in doubt')
    .option('--reason <text>', 'reason, for the history; without personal data')
    .option('--yes <name>', 'the number, for scripts')
    .addHelpText('after', ERASE)
    .action(run(erase))
  orders
    .command('erasures')
    .description('List past erasures: when, of which order, by whom and why.')
    .option('--limit <number>', 'maximum number of erasures to list', positive, LIMIT)
    .action(run((context, { limit }) => operationsReport(context, 'orders', limit)))
  orders
    .command('list')
    .description(
      'List orders, most recently changed first; with --failing, those with the oldest failing event first.',
    )
    .addOption(SOURCE)
    .addOption(new Option('--status <status>', 'only this status').choices(STATUSES))
    .option('--since <when>', 'only orders changed since: 2h, 7d, or a date', since)
    .option('--until <when>', 'only orders last changed before: 2h, 7d, or a date', since)
    .option('--unsettled', 'only orders in review, in doubt, or with an open request')
    .option('--accountant', 'only orders that wait for an accountant')
    .option('--limit <number>', 'maximum number of orders to list', positive, LIMIT)
    .option('--cursor <cursor>', 'cursor printed with the previous page')
    .addOption(FAILING)
    .addOption(new Option('--scan', 'read the orders table instead of the history').conflicts('cursor'))
    .addHelpText('after', COST)
    .action(run(list))
}
