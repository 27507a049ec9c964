import type { Part } from '../context.ts'
import { DESIGNS, type Load, play } from '../model.ts'
import { quantile } from '../statistics.ts'

const OTHERS = [
  { store: 'other', event: 'webhook', perSecond: 1 },
  { store: 'other', event: 'call', perSecond: 1 },
] as const

const slow = (latency: number): Load => ({
  capacity: 10_000,
  latency,
  seconds: 300,
  traffic: [
    ...Array.from({ length: 10 }, (_, store) => ({
      store: store === 0 ? 'other' : `store ${store}`,
      event: 'call' as const,
      perSecond: 1,
    })),
    { store: 'other', event: 'webhook', perSecond: 20 },
  ],
})

/**
 * @param orders how many orders a store imports, a hundred a second, which is what its API lets through
 * @param stores how many stores import as many at the same time
 */
const importing = (orders: number, stores = 1): Load => ({
  capacity: 50,
  latency: 50,
  seconds: (stores * orders) / 50 + 60,
  traffic: [
    ...Array.from({ length: stores }, (_, index) => ({
      store: `import ${index + 1}`,
      event: 'call' as const,
      perSecond: 100,
      count: orders,
    })),
    ...OTHERS,
  ],
})

const SLOW = { 'seven seconds': slow(7000), 'ten seconds': slow(10_000) }

const rounded = (value: number) => Number(value.toFixed(value < 10 ? 1 : 0))

/** Seconds until another store's events are processed, at the 99th percentile, and until the import is done. */
const summary = ({ waits, importedAt, inFlight, receives }: Awaited<ReturnType<typeof play>>) => {
  const p99 = (event: 'webhook' | 'call') => rounded(quantile(waits[event], 0.99) / 1000)
  return {
    webhook: p99('webhook'),
    ...(waits.call.length > 0 && { call: p99('call') }),
    ...(importedAt > 0 && { imported: Math.round(importedAt / 1000) }),
    inFlight,
    receives: rounded(receives),
  }
}

/** A model, not a measurement. */
export const fairness: Part = async () => {
  const loads = { import: importing(100_000), 'two imports': importing(100_000, 2), ...SLOW }
  const results: Record<string, unknown> = {}
  for (const [name, load] of Object.entries(loads))
    for (const design of DESIGNS) results[`${name}, ${design}`] = summary(await play(design, load))
  return { results }
}
