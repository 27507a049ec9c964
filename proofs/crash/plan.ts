import { DAY, HOUR, MINUTE } from '../../test/support/scenarios.ts'
import { APP, SHOP, WEB } from './places.ts'
import type { PlannedOrder } from './scenario.ts'

/**
 * Incidents besides failing calls: one from each half begins every three days, so that a webhook's last attempt, after
 * 31 hours, does not coincide with the next one.
 */
const INCIDENTS = {
  relay: [
    ...['service down', 'service slow', 'dynamodb down', 'sqs down', 'ssm down', 'all down', 'throttles'],
    ...['sender clock', 'relay clock', 'webhook secret'],
  ],
  stores: ['shop down', 'web down', 'app slow', 'feed secret', 'deployments', 'crash loop'],
} as const
export type Kind = (typeof INCIDENTS)[keyof typeof INCIDENTS][number]
export type Incident = { kind: Kind; from: number; to: number; dice: number }

/** In addition to incidents: failing calls, lost webhooks, and imports of orders. */
const HAZARDS = ['calls', 'webhooks', 'imports', 'repetitions', 'lag'] as const

export const KINDS: readonly string[] = [...INCIDENTS.relay, ...INCIDENTS.stores, ...HAZARDS]

export type Simulation = {
  seed: number
  /** The number of orders, and the number of days over which they begin. */
  orders: number
  days: number
  /** Plays only these orders; the plan of an order depends only on the seed and its number. */
  only?: readonly string[] | undefined
  /** Plays only events before this day. */
  until?: number | undefined
  /** Kinds of faults to leave out. */
  without?: readonly string[] | undefined
  /** Called with each call and log line of a function. */
  onStep?: ((elapsed: number, step: string) => void) | undefined
}

/** A number from 0 up to 1 that depends only on its arguments, so that leaving something out changes nothing else. */
export const die = (seed: number, ...salts: readonly number[]): number => {
  let state = Math.imul(seed, 0x9e3779b1) ^ 0x85ebca6b
  for (const salt of salts) {
    state = Math.imul(state ^ salt ^ Math.floor(salt / 2 ** 32), 0xcc9e2d51)
    state = Math.imul(state ^ (state >>> 15), 0x1b873593)
    state ^= state >>> 13
  }
  state = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
  state = Math.imul(state ^ (state >>> 15), 0x735a2d97)
  return ((state ^ (state >>> 15)) >>> 0) / 2 ** 32
}

/** A time on a logarithmic scale, from a few milliseconds to days. */
export const someTime = (dice: number, from: number, to: number) => Math.round(from * (to / from) ** dice)

const pick = <Value>(values: readonly [Value, ...Value[]], dice: number): Value =>
  values[Math.floor(dice * values.length)] ?? values[0]

export const planOrder = ({ seed, days }: Simulation, index: number, mayImport: boolean): PlannedOrder => {
  let count = 0
  const dice = () => die(seed, 1, index, ++count)
  const isImported = dice() < 0.1 && mayImport
  const imports = Math.ceil(days / 30)
  // All orders of an import arrive within a minute.
  const importAt = (Math.floor(dice() * imports) + 0.5) * (days / imports) * DAY
  const at = Math.round(isImported ? importAt + dice() * MINUTE : dice() * days * DAY)
  const mayBeFirst = dice() < 0.15
  const source = pick([SHOP, SHOP, WEB, APP], dice())
  if (!mayBeFirst && dice() < 0.02) return { at, createdBy: 'relay', source, unknownProduct: 'always' }
  const isUnknownAtFirst = !mayBeFirst && dice() < 0.03
  if (!mayBeFirst && dice() < 0.02) return { at, createdBy: 'relay', source, unknownProduct: 'later' }
  const review = dice() < 0.3
  const fixedAfter = review && dice() > 0.01 ? someTime(dice(), 20, 4 * DAY) : undefined
  const isFinal = !review || fixedAfter !== undefined
  const [paidAtOnce, pays, refunds] = [dice() < 0.1, dice() < 0.6, dice() < 0.15]
  const later = () => (fixedAfter ?? 0) + 1 + someTime(dice(), 20, 2 * DAY)
  const isPaidByAccountant = isFinal && dice() < 0.15 && !paidAtOnce && (!refunds || pays)
  const edits = isFinal && dice() < 0.25 ? Math.ceil(3 * dice()) : 0
  // The relay first sees an order created at the service when it changes.
  const isAnnounced = fixedAfter !== undefined || isPaidByAccountant || edits > 0 || pays || refunds
  const createdBy = mayBeFirst && isAnnounced ? 'service' : 'relay'
  return {
    at,
    createdBy,
    source,
    paidAtOnce,
    review,
    pays,
    refunds,
    ...(isUnknownAtFirst && { unknownProduct: 'first' }),
    ...(dice() < 0.05 && { twice: true }),
    // Equally likely before and after the service has registered it.
    ...(refunds && dice() < 0.3 && { withdraws: { what: 'refund', after: someTime(dice(), 20, 4 * DAY) } }),
    ...(fixedAfter !== undefined && { fixedAfter }),
    ...(dice() < 0.05 && { readAt: at + 5 * DAY }),
    accountant: [
      ...(isPaidByAccountant ? [{ after: later(), does: 'payment' as const }] : []),
      ...Array.from({ length: edits }, () => ({ after: later(), does: 'edit' as const })),
    ],
  }
}

export const planIncidents = ({ seed, days, until = days }: Simulation, isOn: (kind: string) => boolean) =>
  Object.values(INCIDENTS).flatMap((kinds, half) =>
    Array.from({ length: Math.ceil(days / 3) }, (_, slot): Incident => {
      // Each kind occurs once, in random order, before one is repeated.
      const round = Math.floor(slot / kinds.length)
      const order = [...kinds.keys()].sort(
        (a, b) => die(seed, 2, half, round, a) - die(seed, 2, half, round, b),
      )
      const kind = kinds[order[slot % kinds.length] ?? 0] ?? kinds[0]
      const from = Math.round((slot * 3 + die(seed, 3, half, slot)) * DAY)
      const longest = half === 0 ? 6 * HOUR : 2.5 * DAY
      const lasts = someTime(die(seed, 4, half, slot), 30 * MINUTE, longest)
      return { kind, from, to: from + lasts, dice: die(seed, 5, half, slot) }
    }).filter(({ kind, from }) => isOn(kind) && from < until * DAY),
  )
