import { chance } from './chance.ts'
import { SOURCES, type Source } from './parts.ts'
import { STRANGERS, type Stranger } from './strangers.ts'

/** What shall happen to one order, which follows from the seed and its number alone. */
export type Life = {
  id: string
  source: Source
  /** Who books it: the store through the relay, or the store by itself. */
  bookedBy: 'relay' | 'store'
  /** The product is not known at first, so that the service refuses the order. */
  unknownProduct: boolean
  paidAtOnce: boolean
  /** Out of stock, so that an accountant must review it. */
  review: boolean
  /** Whether the accountant ever mends it, and how long after its booking, as a part of the longest thinking. */
  mendedAfter: number | undefined
  /** Two accountants mend it at the same moment. */
  twoAccountants?: boolean
  /** The accountant has its webhook sent again, so long after mending it; what it tells may be out of date. */
  resentAfter?: number | undefined
  pays: boolean
  returns: boolean
  /** Every request is made twice, one after the other or at once. */
  repeats: 'never' | 'afterwards' | 'at once'
  /** How long the store thinks before each step, as a part of the longest. */
  thinks: readonly [number, number, number]
  /** What a stranger sends in its name, see strangers.ts. */
  stranger?: Stranger | undefined
}

const below = (share: number, at: number) => at < share

export const lifeOf = (seed: number, number: number): Life => {
  const id = `o${String(number).padStart(5, '0')}`
  const throwDice = (what: string) => chance(seed, id, what)
  const bookedBy = below(0.75, throwDice('booked by')) ? 'relay' : 'store'
  const review = bookedBy === 'store' || below(0.5, throwDice('review'))
  const repeat = throwDice('repeats')
  return {
    id,
    source: SOURCES[Math.floor(throwDice('source') * SOURCES.length)] ?? 'shop',
    bookedBy,
    unknownProduct: bookedBy === 'relay' && below(0.12, throwDice('unknown product')),
    paidAtOnce: below(0.3, throwDice('paid at once')),
    review,
    mendedAfter: below(0.9, throwDice('mended')) ? throwDice('mended after') * 3 : undefined,
    twoAccountants: below(0.1, throwDice('two accountants')),
    resentAfter: below(0.3, throwDice('resent')) ? throwDice('resent after') * 3 : undefined,
    pays: below(0.7, throwDice('pays')),
    returns: below(0.4, throwDice('returns')),
    repeats: repeat < 0.7 ? 'never' : repeat < 0.85 ? 'afterwards' : 'at once',
    thinks: [throwDice('thinks first'), throwDice('thinks second'), throwDice('thinks third')],
    stranger: below(0.3, throwDice('stranger'))
      ? STRANGERS[Math.floor(throwDice('which stranger') * STRANGERS.length)]
      : undefined,
  }
}

/** Where such a life must have led: nothing of it is left to chance. */
export const endOf = ({ review, mendedAfter, paidAtOnce, pays, returns }: Life) => {
  const finalized = !review || mendedAfter !== undefined
  const paid = finalized && (paidAtOnce || pays)
  const returned = finalized && returns
  const status = !finalized ? 'needs_review' : returned ? 'refunded' : paid ? 'paid' : 'invoiced'
  return { status, receipts: paid ? 1 : 0, returns: returned ? 1 : 0 } as const
}
