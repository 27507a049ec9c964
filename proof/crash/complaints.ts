import * as v from 'valibot'
import type { Heard } from './store.ts'
import { type Ending, idOnLine, keyOf, type Life, type Ran, type World } from './world.ts'

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

const tableItem = v.looseObject({
  result: v.exactOptional(
    v.pipe(
      v.looseObject({ S: v.string() }),
      v.transform(({ S }): unknown => JSON.parse(S)),
    ),
  ),
  doubt: v.exactOptional(v.unknown()),
  unsettled: v.exactOptional(v.unknown()),
  version: v.pipe(
    v.looseObject({ N: v.string() }),
    v.transform(({ N }) => Number(N)),
  ),
  intents: v.pipe(
    v.looseObject({ S: v.string() }),
    v.transform(({ S }): unknown => JSON.parse(S)),
    v.record(v.string(), v.looseObject({ id: v.string(), state: v.string() })),
  ),
})

const heldOf = ({ cloud }: World, external_id: string) => {
  const found = cloud.tables.items('orders').find(item => item.external_id?.S === external_id)
  return found === undefined ? undefined : v.parse(tableItem, found)
}

/** The store's state by the rule of the feed: a message counts unless a higher version has been applied. */
const known = (heard: readonly Heard[]) =>
  heard.reduce<{ version: number; result?: unknown }>(
    (store, { event, version, data }) =>
      event === 'order.rejected' || version < store.version ? store : { version, result: data },
    { version: 0 },
  )

/**
 * @param repeats how often the same news may come under another name: a death before the order was kept and an
 *   outage right after it make the relay find out anew what a store has heard already
 */
const feedComplaints = (heard: readonly Heard[], repeats: number): string[] => {
  const complaints: string[] = []
  const contents = new Map<string, Heard>()
  let highest = 0
  let repeated = 0
  let last: unknown
  for (const message of heard) {
    const { version, delivery, event, data } = message
    const before = contents.get(delivery)
    if (before !== undefined) {
      if (!same(before, message)) complaints.push(`delivery ${delivery} was told with two contents`)
      continue
    }
    contents.set(delivery, message)
    if (version > highest + 1) complaints.push(`version ${highest + 1} was never told, but ${version}`)
    if (version < highest) complaints.push(`version ${version} was told as new after ${highest}`)
    highest = Math.max(highest, version)
    if (event !== 'order.updated') continue
    if (same(last, data) && ++repeated > repeats)
      complaints.push(`the store heard the same news twice, the second time as ${delivery}`)
    last = data
  }
  return complaints
}

const orderComplaints = (world: World, ending: Ending, faults: number): string[] => {
  const { external_id, status, documents, rejected } = ending
  const truth = world.service.truth(keyOf(external_id))
  const held = heldOf(world, external_id)
  const heard = world.store.heard.filter(({ data }) => data.external_id === external_id)
  const complaints = feedComplaints(heard, Math.max(0, faults - 1))
  if (truth?.result.status !== status) complaints.push(`the order is ${truth?.result.status}, not ${status}`)
  if (!same([...(truth?.documents ?? [])].sort(), documents))
    complaints.push(`the service registered ${truth?.documents.join(', ') || 'nothing'}`)
  if (!same(held?.result, truth?.result)) complaints.push('the table is not the truth')
  if (!same(known(heard).result, truth?.result)) complaints.push('the store does not know the truth')
  // A doubt that is due for a check is cleared by it.
  if (held?.doubt !== undefined && held.unsettled === undefined) complaints.push('a doubt is left')
  for (const [wish, { id, state }] of Object.entries(held?.intents ?? {})) {
    if (state !== (wish === rejected ? 'rejected' : 'registered'))
      complaints.push(`the ${wish} is left ${state}`)
    const told = heard.some(({ event, data }) => event === 'order.rejected' && data.id === id)
    if (told !== (wish === rejected)) complaints.push(`the ${wish} was ${told ? '' : 'not '}told as rejected`)
  }
  return complaints
}

/** How long a message of an order with which nothing is wrong may stay: a worker may die over it once. */
const HEALTHY_MS = 10 * 60 * 1000

const healthComplaints = ({ onLine }: World, ends: readonly Ending[], faultless: boolean): string[] =>
  ends
    .filter(({ healthy }) => healthy)
    .flatMap(({ external_id }) =>
      onLine
        .filter(({ body }) => body.includes(`"external_id":"${external_id}"`))
        .flatMap(({ receives, sentAt, leftAt }) => [
          ...(faultless && receives > 1
            ? [`order ${external_id} was handled ${receives} times without a cause`]
            : []),
          ...((leftAt ?? Number.POSITIVE_INFINITY) - sentAt > HEALTHY_MS
            ? [`order ${external_id} had to wait for another`]
            : []),
        ]),
    )

const TOLERANCE_SECONDS = 300

const webhookComplaints = ({ sender, onLine }: World, unreadable: boolean): string[] => {
  const queued = new Set(onLine.map(idOnLine))
  return sender.sent.flatMap(({ delivery, taken, given_up, attempts }) => [
    ...(taken && !queued.has(delivery)
      ? [`webhook ${delivery} was answered 200 and never came on the line`]
      : []),
    ...(given_up && !unreadable ? [`webhook ${delivery} was given up`] : []),
    ...attempts
      .filter(({ skew, status }) => skew > TOLERANCE_SECONDS && status !== undefined && status < 300)
      .map(({ skew }) => `webhook ${delivery} was taken although its time was ${skew} s off`),
  ])
}

const FIVE_MINUTES = 5 * 60 * 1000

/** What is sent to the line twice within five minutes is dropped there; the worker would bear it all the same. */
const lineComplaints = ({ onLine }: World): string[] => {
  const sent = new Map<string, number>()
  return onLine.flatMap(message => {
    const id = idOnLine(message)
    if (id === undefined) return []
    const before = sent.get(id) ?? Number.NEGATIVE_INFINITY
    sent.set(id, message.sentAt)
    return message.sentAt - before < FIVE_MINUTES ? [`${id} was queued twice within five minutes`] : []
  })
}

const quarantined = v.pipe(v.string(), v.parseJson(), v.looseObject({ body_base64: v.string() }))

const quarantineComplaints = ({ cloud }: World, quarantines: string | undefined): string[] => {
  const kept = cloud.quarantine.map(text =>
    Buffer.from(v.parse(quarantined, text).body_base64, 'base64').toString(),
  )
  return [
    ...(quarantines !== undefined && !kept.includes(quarantines)
      ? ['something unreadable was not kept']
      : []),
    ...kept.filter(text => text !== quarantines).map(text => `"${text}" was put in quarantine`),
  ]
}

/** What of the promises was not kept in a run; nothing, if all is well. */
export const complaintsOf = ({ world, came }: Ran, life: Life, faults: number): string[] => {
  const { line, onLine, store, gaps } = world
  const queued = new Set(onLine.map(idOnLine))
  return [
    ...gaps,
    ...(came === 'to rest' ? [] : ['something never comes to rest']),
    ...line.waiting().map(({ body }) => `stuck on the line: ${body.slice(0, 60)}`),
    ...line.dead().map(({ body }) => `put aside as dead: ${body.slice(0, 60)}`),
    ...store.promised
      .filter(id => !queued.has(id))
      .map(id => `request ${id} was accepted and never came on the line`),
    ...lineComplaints(world),
    ...webhookComplaints(world, life.quarantines !== undefined),
    ...quarantineComplaints(world, life.quarantines),
    ...life.ends.flatMap(ending => orderComplaints(world, ending, faults)),
    ...healthComplaints(world, life.ends, faults === 0),
  ]
}
