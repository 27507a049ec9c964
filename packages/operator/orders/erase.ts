import { BACKUP_DAYS } from '@order-relay/deploy/backup.ts'
import { RETENTION_SECONDS } from '@order-relay/deploy/queues.ts'
import { ATTEMPT_TTL_SECONDS, attemptsPartition } from '@order-relay/lib/feeds/attempts.ts'
import { announcementKey } from '@order-relay/lib/orders/announcements.ts'
import { UNACKNOWLEDGED_MS } from '@order-relay/lib/orders/handle-event.ts'
import { entryKeyItem, entryKeyOf, partitionsOf } from '@order-relay/lib/orders/history.ts'
import { isSettled, openRequests, REQUEST_KINDS } from '@order-relay/lib/orders/order.ts'
import { erasedItem, type StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { type Item, unlessConditionFails } from '@order-relay/lib/platform/dynamodb.ts'
import { DAY } from '@order-relay/lib/platform/environment.ts'
import { TABLES } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { DELIVERY_TTL_SECONDS, deliveryOf } from '@order-relay/lib/webhook/deliveries.ts'
import { type Context, unknownOrder } from '../core/context.ts'
import { cannot, explain, Failure } from '../core/errors.ts'
import { count, lines, type Report, shellWord, table } from '../core/output.ts'
import { itemsOf } from '../core/table.ts'
import { confirmName, progress } from '../core/terminal.ts'
import { DEAD_LETTERS } from '../dead-letters/dead.ts'
import { beginOperation } from '../dead-letters/history.ts'
import { QUARANTINE } from '../dead-letters/quarantine.ts'
import { collect } from '../model/message.ts'
import { commandFor } from '../model/orders.ts'
import { ordersOf } from '../model/read.ts'

/** @throws Failure if an event or message of the order may still be in a queue, or the order is about to change */
const requireSettled = (context: Context, stored: StoredOrder, force: boolean) => {
  const { order, bulk, failing, updated_at } = stored
  const show = `see ${commandFor('orders show', order, context)}`
  if (failing !== undefined || bulk !== undefined)
    throw cannot('erase the order', 'one of its events is in a queue', show)
  if (openRequests(order).length > 0) throw cannot('erase the order', 'it has an open request', show)
  // The outbox stays after it is published: only time shows that the event that caused it is acknowledged.
  const quiet = (Date.parse(updated_at) || 0) + UNACKNOWLEDGED_MS
  if (quiet > Date.now()) {
    const found = 'it changed less than five minutes ago, and its messages may not be published yet'
    throw cannot('erase the order', found, `run it again after ${new Date(quiet).toISOString()}`)
  }
  if (!force && !isSettled(order)) {
    const found = 'it is in review or in doubt, and the service may still change it'
    throw cannot('erase the order', found, 'pass --force if it will not, such as after its erasure there')
  }
}

/** @throws Failure if dead letters or the quarantine have messages of the order */
const requireNoMessages = async (context: Context, { source, external_id: order }: OrderKey) => {
  for (const kind of [DEAD_LETTERS, QUARANTINE]) {
    const selection = { source, order, limit: Number.POSITIVE_INFINITY }
    const { messages } = await collect(context, kind, selection)
    if (messages.length === 0) continue
    const remedy = `relay ${kind.command} discard --source ${shellWord(source)} --order ${shellWord(order)}${context.flags}`
    throw cannot('erase the order', `${count(messages.length, 'message')} of it ${kind.where}`, remedy)
  }
}

/**
 * The order's other items: keys of history entries and attempts, and deliveries with content. Reads the store's whole
 * history and all deliveries: the timeline ends at an entry that is missing and lacks those of refused saves and of
 * webhooks that changed nothing.
 */
const findItems = async (context: Context, key: OrderKey) => {
  const { source, external_id } = key
  const [history, deliveries]: [Item[], string[]] = [[], []]
  using shown = progress(context.terminal, 'Reading the history and the deliveries')
  const entries = { TableName: context.nameOf(TABLES.history), ConsistentRead: true }
  const readPartition = async (partition: string) => {
    for await (const item of itemsOf(context, entries, { key: { 'partition =': partition } })) {
      const entry = entryKeyOf(item)
      if (entry.external_id === external_id) history.push(entryKeyItem(entry))
      shown.advance()
    }
  }
  await Promise.all(partitionsOf(source).map(readPartition))
  const attempts = { 'partition =': attemptsPartition(key) }
  for await (const { partition, at } of itemsOf(context, entries, { key: attempts }))
    history.push({ ...(partition && { partition }), ...(at && { at }) })
  const records = { TableName: context.nameOf(TABLES.deliveries), ConsistentRead: true }
  const filter = { 'source =': source, 'external_id =': external_id }
  for await (const item of itemsOf(context, records, { filter })) {
    const { delivery, body, headers } = deliveryOf(item)
    if (body !== undefined || headers !== undefined) deliveries.push(delivery)
    shown.advance()
  }
  return { history, deliveries }
}

/** Replaces the order's item, unless the worker has saved it or recorded a failure since it was read. */
const replaceOrder = async ({ dynamodb, stack }: Context, stored: StoredOrder): Promise<void> => {
  const replaced = await unlessConditionFails(
    dynamodb.putItem({
      TableName: (await stack()).ordersTable,
      Item: erasedItem(stored, Date.now()),
      ConditionExpression: 'revision = :read AND attribute_not_exists(failing)',
      ExpressionAttributeValues: { ':read': { N: String(stored.revision) } },
    }),
  )
  if (!replaced) throw cannot('erase the order', 'it has changed since it was read', 'run it again')
}

/** Removes attributes of an item of the deliveries table, unless DynamoDB has deleted it in the meantime. */
const removeFrom = ({ dynamodb, nameOf }: Context, Key: Item, ...names: string[]) =>
  unlessConditionFails(
    dynamodb.updateItem({
      TableName: nameOf(TABLES.deliveries),
      Key,
      UpdateExpression: `REMOVE ${names.map(name => `#${name}`).join(', ')}`,
      ConditionExpression: 'attribute_exists(delivery)',
      ExpressionAttributeNames: Object.fromEntries(names.map(name => [`#${name}`, name])),
    }),
  )

const eraseItems = async (context: Context, key: OrderKey, counts: Record<string, number>) => {
  const { dynamodb, nameOf } = context
  // Announcements contain bodies of payments and refunds, and a read of the order would still show an announced create.
  await removeFrom(context, announcementKey(key), ...REQUEST_KINDS)
  const { history, deliveries } = await findItems(context, key)
  for (const Key of history) {
    await dynamodb.deleteItem({ TableName: nameOf(TABLES.history), Key })
    counts.history = (counts.history ?? 0) + 1
  }
  // The record remains: it keeps a repeated webhook from restoring the order.
  for (const delivery of deliveries) {
    if (await removeFrom(context, { delivery: { S: delivery } }, 'body', 'headers'))
      counts.deliveries = (counts.deliveries ?? 0) + 1
  }
}

const LOG_DAYS = 30
const RECOVERY_DAYS = 35

type Remains = { where: string; what: string; until: string }

/** What remains of an erased order at most, and until when. */
const remainsOf = ({ local }: Context): Remains[] => {
  const day = (days: number) => new Date(Date.now() + days * DAY * 1000).toISOString().slice(0, 10)
  const ids = 'order number, ids, outcomes'
  const known = 'all data'
  const queuedDays = RETENTION_SECONDS / DAY
  return [
    { where: 'table orders', what: 'order number, feed version, time of the erasure', until: 'always' },
    {
      where: 'table deliveries',
      what: 'order number, delivery ids, statuses, request ids',
      until: day(DELIVERY_TTL_SECONDS / DAY),
    },
    {
      where: 'table history',
      what: 'attempts to deliver messages that are still queued: ids, outcomes',
      until: day(queuedDays + ATTEMPT_TTL_SECONDS / DAY),
    },
    { where: "operators' history", what: 'order number, operator, reason', until: 'always' },
    { where: 'queues and feeds', what: known, until: day(queuedDays) },
    // Their retention begins when they leave their queue.
    { where: 'unreadable dead letters, quarantine', what: known, until: day(2 * queuedDays) },
    ...(local
      ? [{ where: 'log files of npm start', what: ids, until: 'the start after next' }]
      : [
          { where: 'log', what: ids, until: day(LOG_DAYS) },
          { where: 'point-in-time recovery', what: known, until: day(RECOVERY_DAYS) },
          { where: 'orders tables left by a restore', what: known, until: 'deleted' },
          { where: 'backups, with backupRegion', what: known, until: day(BACKUP_DAYS.copy + 1) },
        ]),
    { where: 'accounting service', what: known, until: 'erased there' },
    { where: 'store', what: known, until: 'erased there' },
  ]
}

const remainsText = (remains: readonly Remains[]) => [
  '',
  'What remains at most, and until when:',
  table(
    ['WHERE', 'WHAT', 'UNTIL'],
    remains.map(({ where, what, until }) => [where, what, until]),
  ),
]

type Options = {
  dryRun?: true | undefined
  force?: true | undefined
  reason?: string | undefined
  yes?: string | undefined
}

/**
 * Erases the data of an order. The order's item is replaced first: from then on, an interrupted erasure is known as
 * such and can be repeated, and a save by the worker in between makes it fail before anything is deleted.
 */
export const erase = async (
  context: Context,
  source: string,
  external_id: string,
  { dryRun, force, reason, yes }: Options,
): Promise<Report> => {
  const key = { source, external_id }
  const orders = await ordersOf(context)
  const stored = await orders.get(key)
  if (stored === undefined) throw unknownOrder('erase', key, context)
  const isErased = stored.erased_at !== undefined
  if (!isErased) requireSettled(context, stored, force === true)
  await requireNoMessages(context, key)
  const remains = remainsOf(context)
  const counts = { orders: isErased ? 0 : 1, history: 0, deliveries: 0 }
  const countsTable = () => table(['TABLE', 'ITEMS'], Object.entries(counts))
  if (dryRun) {
    const { history, deliveries } = await findItems(context, key)
    Object.assign(counts, { history: history.length, deliveries: deliveries.length })
    const data = { ...key, dry_run: true, erases: counts, remains }
    return { data, text: lines('Would erase:', countsTable(), remainsText(remains)) }
  }

  await confirmName(context.terminal, `erase ${external_id}`, external_id, yes)
  const name = `${source} ${external_id}`
  const end = await beginOperation(context, {
    command: 'orders',
    action: 'erase',
    name,
    ...(reason !== undefined && { reason }),
  })
  try {
    if (!isErased) await replaceOrder(context, stored)
    await eraseItems(context, key, counts)
  } catch (error) {
    const stopped = explain(error, context).message
    // Without it, the history shows that the erasure did not end.
    await end({ stopped, counts, messages: [] }).catch(() => undefined)
    if (error instanceof Failure) throw error
    throw cannot('erase all data of the order', stopped, 'run it again to erase the rest', error)
  }
  const after = await orders.get(key)
  const erased = after?.erased_at !== undefined
  await end({ ...(!erased && { stopped: 'the worker has stored the order again' }), counts, messages: [] })
  return {
    data: { ...key, erased, erased_at: after?.erased_at, erases: counts, remains },
    ok: erased,
    text: lines(
      erased
        ? 'Erased:'
        : 'Erased, but an event has stored the order again; run it again after five minutes:',
      countsTable(),
      remainsText(remains),
      '',
      'A webhook or check restores what the accounting service still has of the order: erase it there first.',
      `To see whether it is still erased: ${commandFor('orders show', key, context)}`,
    ),
  }
}
