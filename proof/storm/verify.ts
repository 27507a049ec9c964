import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import { parseJson } from '../../lib/protocol/json.ts'
import type { Journal } from './journal.ts'
import type { Promised } from './live.ts'
import { endOf, type Life } from './lives.ts'
import type { Parts } from './parts.ts'
import type { SandboxClient, Truth } from './service.ts'
import type { Ears, Heard } from './stores.ts'

const stored = v.looseObject({
  doubt: v.exactOptional(v.unknown()),
  unsettled: v.exactOptional(v.unknown()),
  result: v.exactOptional(
    v.pipe(
      v.looseObject({ S: v.string() }),
      v.transform(({ S }) => parseJson(S)),
    ),
  ),
  intents: v.pipe(
    v.looseObject({ S: v.string() }),
    v.transform(({ S }) => parseJson(S)),
    v.record(v.string(), v.looseObject({ id: v.string(), state: v.string() })),
  ),
})

type Stored = v.InferOutput<typeof stored>

const heldOf = async ({ dynamodb }: Parts, { source, id }: Life): Promise<Stored | undefined> => {
  const { Item } = await dynamodb.send(
    new GetItemCommand({
      TableName: 'orders',
      Key: { source: { S: source }, external_id: { S: id } },
      ConsistentRead: true,
    }),
  )
  return Item === undefined ? undefined : v.parse(stored, Item)
}

/** Field by field, in whatever order. */
const same = (a: unknown, b: unknown) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** What a store knows in the end: a message counts unless a higher version has been applied. */
const knownOf = (heard: readonly Heard[]) =>
  heard.reduce<{ version: number; result?: unknown }>(
    (known, { event, version, data }) =>
      event === 'order.rejected' || version < known.version ? known : { version, result: data },
    { version: 0 },
  ).result

const feedComplaints = (heard: readonly Heard[]): string[] => {
  const contents = new Map<string, Heard>()
  const complaints: string[] = []
  let highest = 0
  for (const message of heard) {
    const { delivery, version } = message
    const before = contents.get(delivery)
    if (before !== undefined && !same(before, message))
      complaints.push(`delivery ${delivery} has two contents`)
    if (before !== undefined) continue
    contents.set(delivery, message)
    if (version < highest) complaints.push(`version ${version} was told as new after ${highest}`)
    if (version > highest + 1) complaints.push(`version ${highest + 1} was never told, but ${version}`)
    highest = Math.max(highest, version)
  }
  return complaints
}

/** Whether it is about what a store heard, or when. */
export const isOfFeed = (complaint: string): boolean =>
  /^(version \d+ was|delivery \S+ has two|the store does not know)/.test(complaint)

const wishComplaints = (
  life: Life,
  { intents }: Stored,
  promised: Promised,
  heard: readonly Heard[],
): string[] => {
  const { status } = endOf(life)
  const review = status === 'needs_review'
  const due = {
    create: 'registered',
    payment: review ? 'held' : 'registered',
    refund: review ? 'waiting' : 'registered',
  }
  return (['create', 'payment', 'refund'] as const).flatMap(wish => {
    if (!promised[wish]) return []
    const intent = intents[wish]
    if (intent === undefined) return [`the ${wish} was promised and is not known`]
    const complaints = intent.state === due[wish] ? [] : [`the ${wish} is ${intent.state}, not ${due[wish]}`]
    if (heard.some(({ event, data }) => event === 'order.rejected' && data.id === intent.id))
      complaints.push(`the ${wish} was told as rejected`)
    return complaints
  })
}

const truthComplaints = (life: Life, { result, events, heldPayment }: Truth): string[] => {
  const { status, receipts, returns } = endOf(life)
  const { paid = 0, refunded = 0, created = 0 } = events
  const holds = status === 'needs_review' && (life.pays || life.paidAtOnce)
  return [
    ...(result.status === status ? [] : [`the order is ${result.status}, not ${status}`]),
    ...(created === 1 ? [] : [`it was booked ${created} times`]),
    ...(paid === receipts ? [] : [`it has ${paid} receipts, not ${receipts}`]),
    ...(refunded === returns ? [] : [`it has ${refunded} returns, not ${returns}`]),
    ...(heldPayment === holds ? [] : [`its payment is ${heldPayment ? '' : 'not '}held`]),
  ]
}

const FIVE_MINUTES_MS = 5 * 60 * 1000

/** What is wrong with what passed between the parts. */
export const passingComplaints = ({
  queued,
  recordedFirst,
  forged,
  handled,
  failed,
  deleted,
  unanswered,
  onLine,
  revisions,
}: Journal): string[] => [
  ...[...recordedFirst].map(name => `webhook ${name} was recorded before it was on the line`),
  ...[...revisions]
    .filter(([, times]) => times > 1)
    .map(([name, times]) => `revision ${name} was kept ${times} times`),
  ...[...forged].filter(delivery => queued.has(delivery)).map(id => `webhook ${id} of a stranger was taken`),
  ...[...handled]
    .filter(([handle]) => !deleted.has(handle) && !unanswered.has(handle))
    .map(([, order]) => `a message of ${order} was handled and is handed out again without a cause`),
  ...[...failed]
    .filter(([handle]) => deleted.has(handle))
    .map(([, order]) => `a message of ${order} was deleted although it could not be handled`),
  ...[...onLine]
    .filter(([, sent]) => {
      const [first = 0, second = Number.POSITIVE_INFINITY] = [...sent.values()].sort((a, b) => a - b)
      return second - first < FIVE_MINUTES_MS
    })
    .map(([name]) => `${name} was queued twice within five minutes`),
]

export type Seen = {
  parts: Parts
  sandbox: SandboxClient
  ears: Ears
  journal: Pick<Journal, 'swallowed' | 'queued' | 'faults'>
}

/** How often the service tries: a webhook that was struck as often is given up, and is for a check to find. */
const ATTEMPTS = 8
const ON_ITS_WAY: readonly string[] = ['service to relay', 'webhook to AWS']

/** What is wrong with an order now that everything has come to rest; nothing, if service, table and store agree. */
export const complaintsAbout = async (
  life: Life,
  promised: Promised,
  { parts, sandbox, ears, journal: { swallowed, queued, faults } }: Seen,
): Promise<string[]> => {
  const [truth, held] = await Promise.all([sandbox.truth(life.source, life.id), heldOf(parts, life)])
  const heard = ears.of(life.id)
  if (truth === undefined) return ['the service does not know the order']
  const webhooks = await sandbox.webhooks(life.id)
  const struck = faults.filter(({ link, name }) => ON_ITS_WAY.includes(link) && name.includes(life.id))
  const isExcused = struck.length >= ATTEMPTS
  const complaints = [
    ...truthComplaints(life, truth),
    ...feedComplaints(heard),
    ...webhooks
      .filter(
        ({ delivery, state }) => state === 'delivered' && !swallowed.has(delivery) && !queued.has(delivery),
      )
      .map(({ delivery }) => `webhook ${delivery} was answered 200 and never came on the line`),
    ...webhooks
      .filter(({ state }) => state === 'failed' && !isExcused)
      .map(({ delivery }) => `webhook ${delivery} was given up`),
  ]
  const asked = Object.keys(promised).length > 0
  // Of an order that nobody told the relay of it cannot miss a webhook.
  const mayNotKnow =
    !asked && webhooks.every(({ delivery, state }) => swallowed.has(delivery) || state === 'failed')
  if (held === undefined)
    return mayNotKnow ? complaints : [...complaints, 'the relay does not know the order']
  return [
    ...complaints,
    ...(same(held.result, truth.result) ? [] : ['the table is not the truth']),
    ...(same(knownOf(heard), truth.result) ? [] : ['the store does not know the truth']),
    ...(held.doubt === undefined ? [] : ['a doubt is left']),
    ...wishComplaints(life, held, promised, heard),
  ]
}
