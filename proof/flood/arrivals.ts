import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import { idOf, livesOf, orderOf, type Plan, resultOf } from './plan.ts'

const heard = v.object({
  event: v.literal(ORDER_UPDATED),
  data: v.looseObject({ source: v.string(), external_id: v.string(), sent_at: v.number() }),
  delivery: v.string(),
  version: v.number(),
  cause: v.object({ event: v.literal(ORDER_UPDATED), delivery: v.string() }),
})

/** After so many complaints the others say nothing new. */
const SHOWN = 20

export type Arrivals = {
  /** Takes one message of a store's feed; answers with how long it was under way, in milliseconds. */
  hear: (source: string, body: string) => number | undefined
  arrived: () => number
  complaints: () => readonly string[]
}

/**
 * Holds every message of the feeds against the plan: each change of each order exactly once, in order, with
 * its version, on the feed of its store, in the words of the service. One byte an order is all that it keeps.
 *
 * @param now milliseconds
 */
export const arrivalsOf = (plan: Plan, now: () => number): Arrivals => {
  const lives = livesOf(plan)
  const told = new Uint8Array(lives.length)
  const complaints: string[] = []
  let arrived = 0
  let untold = 0
  const complain = (text: string): undefined => {
    if (complaints.length < SHOWN) complaints.push(text)
    else untold++
    return undefined
  }

  return {
    hear: (source, body) => {
      const read = v.safeParse(v.pipe(v.string(), v.parseJson(), heard), body)
      if (!read.success) return complain(`The feed of ${source} has something of another form: ${body}`)
      const { data, delivery, version, cause } = read.output
      const order = orderOf(data.external_id)
      const step = told[order]
      const { sent_at, ...result } = data
      if (step === undefined)
        return complain(`The feed of ${source} has an order that is not in the plan: ${body}`)
      const due = idOf(plan, 'change', order, step)
      if (step === lives[order] || delivery !== due || cause.delivery !== due || version !== step + 1) {
        return complain(`Order ${order}, of which ${step} of ${lives[order]} were told, is told: ${body}`)
      }
      told[order] = step + 1
      arrived++
      if (data.source !== source || !isDeepStrictEqual(result, resultOf(plan, order, step))) {
        return complain(`The feed of ${source} tells order ${order} in other words: ${body}`)
      }
      return now() - sent_at
    },

    arrived: () => arrived,

    complaints: () => {
      const missing = [...lives.keys()].filter(order => told[order] !== lives[order])
      return [
        ...complaints,
        ...(untold > 0 ? [`and ${untold} more`] : []),
        ...(missing.length > 0
          ? [`${missing.length} orders were not told to the end, the first of them order ${missing[0]}`]
          : []),
      ]
    },
  }
}
