import { orderName } from '@order-relay/lib/protocol/order.ts'
import type { Cli } from '../core/command.ts'
import type { Context } from '../core/context.ts'
import { count, lines, type Report, shellWord } from '../core/output.ts'
import { DEAD_LETTERS } from '../dead-letters/dead.ts'
import { QUARANTINE } from '../dead-letters/quarantine.ts'
import { asRetried } from '../model/failing-event.ts'
import { collect, type Kind, type Message, summaryOf, withId } from '../model/message.ts'
import { announcedOf, sourcesOf } from '../model/read.ts'
import { deadLettersOf } from './dead-letters.ts'
import { BLOCKED, CHANGES, type Found, findOrders, MOST } from './search.ts'
import { ordersText, summary } from './summary.ts'

/** Maximum number of messages to read from each queue. */
const MESSAGES = 1000

const readNow = async (context: Context, kind: Kind) =>
  (await collect(context, kind, { limit: MESSAGES })).messages

/**
 * Finds dead letters and messages in quarantine by the beginning of their id or that of their delivery or request. If
 * the text matches orders, searches only the quarantine, and only if the text is their delivery id: a quarantined
 * webhook may have the delivery id of another order.
 *
 * @param read reads the messages of a kind. @default up to 1000 from each queue
 */
export const findMessages = async (
  context: Context,
  text: string,
  orders: readonly Found[],
  read: (kind: Kind) => Promise<readonly Message[]> = kind => readNow(context, kind),
): Promise<{ kind: Kind; message: Message }[]> => {
  if (text.trim() === '' || orders.some(({ match }) => match.by !== 'delivery')) return []
  const kinds = orders.length === 0 ? [DEAD_LETTERS, QUARANTINE] : [QUARANTINE]
  const found = kinds.map(async kind => withId(await read(kind), text).map(message => ({ kind, message })))
  return (await Promise.all(found)).flat().slice(0, MOST)
}

const messageText = (context: Context, { kind, message }: { kind: Kind; message: Message }) => {
  const { command } = kind
  return `${command === 'dead' ? 'Dead letter' : 'In quarantine'}: relay ${command} show ${shellWord(message.raw.id)}${context.flags}`
}

const COST = `
The beginning of an order number is enough, in lower or upper case; the store may precede it: "web-shop 1001".
Complete ids and invoice numbers are found regardless of age; "#27" and "invoice 27" find the invoice. If nothing is
found, the latest ${CHANGES} changes, and the requests of up to ${BLOCKED} orders that wait behind an earlier event, are searched for
the beginning of an id, an invoice number or the reference of a payment. Dead letters and the quarantine are searched for
the beginning of the id of a message, delivery or request. A webhook that changed no order is found only by its complete
delivery id. Orders are searched in the stores of stores.yml, with up to four reads each; "relay orders show" finds an
order of a removed store.`

const find = async (context: Context, text: string): Promise<Report> => {
  const { found, searched } = await findOrders(context, text)
  const listed = found.map(({ stored }) => stored)
  const dead = await deadLettersOf(context, { sources: sourcesOf(listed) })
  const announced = await announcedOf(context, listed)
  const orders = found.map(({ stored, match: { by, text: match } }) => ({
    ...summary(asRetried(stored, dead), dead(stored.order), announced.get(orderName(stored.order))),
    found_by: by,
    match,
  }))
  const messages = await findMessages(context, text, found)
  const kept = messages.map(each => messageText(context, each))
  const data = {
    orders,
    messages: messages.map(({ kind, message }) => ({ in: kind.command, ...summaryOf(message) })),
    searched,
  }
  if (orders.length === 0 && kept.length > 0) return { data, text: lines(kept) }
  return {
    data,
    ok: orders.length > 0,
    text: lines(
      orders.length === 0
        ? `Nothing found in ${context.title}. A payment is found by its reference only in the latest changes, or while it waits behind an earlier event of its order. For an order of a store that is no longer in stores.yml, run: relay orders show <source> <number>${context.flags}`
        : ordersText(orders, { 'FOUND BY': ({ found_by, match }) => `${found_by} ${match}` }),
      orders.length === MOST && `There may be more than ${count(MOST, 'order')}: type more of the number.`,
      kept,
      searched !== undefined && `Searched the latest ${CHANGES} changes, back to ${searched}.`,
    ),
  }
}

/** `relay find`: finds orders by any of their identifiers. */
export const findCommand = ({ program, run }: Cli): void => {
  program
    .command('find')
    .description(
      'Find orders by order number, request id, delivery id, invoice number, or the reference of a payment; and dead letters and messages in quarantine by id.',
    )
    .argument('<text>', 'the number, id or reference, or its beginning')
    .addHelpText('after', COST)
    .action(run(find))
}
