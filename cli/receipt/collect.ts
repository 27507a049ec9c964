import { setTimeout as sleep } from 'node:timers/promises'
import { AccountingError } from '../../lib/accounting/errors.ts'
import { ordersTable } from '../../lib/orders/table.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { Failure } from '../failure.ts'
import { logOf } from '../logs/log.ts'
import { accountingOf, readFrom } from '../place/accounting.ts'
import type { Place } from '../place/place.ts'
import { progress } from '../progress.ts'
import { depth } from '../queues/browse.ts'
import { eachDead } from '../replay/dead.ts'
import { eachQuarantined } from '../replay/quarantine.ts'
import { deliveriesOf, type Recorded } from '../stored/deliveries.ts'
import { ordersOf } from '../stored/orders.ts'
import { type Compared, type Facts, nameOf, type Queues } from './facts.ts'
import { type Heard, hear, nothingHeard } from './heard.ts'

/** As many dead letters and messages in quarantine as are looked at. */
const LIMIT = 10_000

const everything = { ids: [], selection: {}, limit: LIMIT }

const readLog = async (place: Place, since: Date, until: Date): Promise<Heard | undefined> => {
  const heard = nothingHeard()
  try {
    for await (const line of logOf(place, { since, follow: false })) hear(heard, line, until)
    return heard
  } catch (error) {
    // Without a log, a receipt says less; it is still one.
    if (place.local && error instanceof Failure) return undefined
    throw error
  }
}

const lookAtQueues = async (place: Place): Promise<Queues> => {
  const dead = new Set<string>()
  const quarantined = new Set<string>()
  let seen = 0
  const allDead = await eachDead(place, everything, async found => {
    seen++
    if (found.dead.delivery !== undefined) dead.add(found.dead.delivery)
    return 'leave'
  })
  const allQuarantined = await eachQuarantined(place, everything, async ({ from, ids }) => {
    if (from === 'line') for (const id of ids) quarantined.add(id)
    return 'leave'
  })
  const { all: waiting } = await depth(place, place.names.line)
  return {
    dead,
    deadHidden: Math.max(0, allDead - seen),
    quarantined,
    waiting,
    left: { dead: allDead, quarantined: allQuarantined },
  }
}

/** Reads orders here and at the service, so many a second at most. */
const compare = async (place: Place, keys: readonly OrderKey[], rate: number | undefined) => {
  const kept = ordersTable(place.dynamodb, place.names.orders)
  const read = rate === undefined ? undefined : readFrom(await accountingOf(place))
  const shown = progress('Comparing orders with the service', keys.length)

  const atService = async (key: OrderKey): Promise<Compared['service']> => {
    if (read === undefined) return undefined
    try {
      const answer = await read(key)
      return answer.answer === 'result' ? { result: answer.result } : { unknown: answer.reason }
    } catch (error) {
      if (error instanceof AccountingError) return { unread: error.message }
      throw error
    }
  }

  const orders = new Map<string, Compared>()
  for (const key of keys) {
    const [service, held] = await Promise.all([
      atService(key),
      kept.get(key),
      rate === undefined ? undefined : sleep(1000 / rate),
    ])
    orders.set(nameOf(key), { key, service, held })
    shown.advance()
  }
  shown.done()
  return orders
}

const keysOf = async (place: Place, since: Date, heard: Heard | undefined, recorded: Iterable<Recorded>) => {
  const keys = new Map<string, OrderKey>()
  const add = ({ source, external_id }: OrderKey) =>
    keys.set(nameOf({ source, external_id }), { source, external_id })
  for await (const order of ordersOf(place, { since })) add(order)
  for (const entry of [...recorded, ...(heard?.queued.values() ?? []), ...(heard?.accepted.values() ?? [])]) {
    add(entry)
  }
  return [...keys.values()]
}

/**
 * Collects what a receipt is made of. The queues come first: what was on the line then, the log and the
 * tables know by the time that they are read.
 *
 * @param rate orders read from the service per second; not asked without
 */
export const collect = async (
  place: Place,
  since: Date,
  until: Date,
  rate: number | undefined,
): Promise<Facts> => {
  const queues = await lookAtQueues(place)
  const heard = await readLog(place, since, until)
  const recorded = new Map<string, Recorded>()
  for await (const delivery of deliveriesOf(place, since)) recorded.set(delivery.delivery, delivery)
  const keys = await keysOf(place, since, heard, recorded.values())
  return { ...queues, since, until, heard, recorded, orders: await compare(place, keys, rate) }
}
