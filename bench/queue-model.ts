/** A FIFO queue with message groups, and the Lambda event source that reads it. */
export type QueueOptions = {
  /** Messages per second, arriving at random. */
  rate: number
  /** How many messages to follow. */
  messages: number
  /** How many orders they belong to: only one batch at a time holds messages of an order. */
  orders: number
  /** Batches processed at the same time (`maximumConcurrency`). */
  workers: number
  /** Maximum number of messages in a batch. */
  batch: number
  /** How long the worker takes for one message, in seconds; different orders of a batch run side by side. */
  seconds: number
  /** How long Lambda takes from one batch to the next (delete, receive, invoke), in seconds. */
  between: number
  seed: number
}

/** Random numbers from 0 up to 1 that a seed repeats (mulberry32). */
const generator = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

type Batch = { end: number; orders: number[] }

const earliest = (running: readonly Batch[]) =>
  running.reduce<number>(
    (first, { end }, index) => (end < (running[first]?.end ?? Infinity) ? index : first),
    0,
  )

/**
 * Follows messages through the queue by the rules of SQS: a batch takes all messages of the group that has waited
 * longest, then of the next one, and other batches cannot take messages of a group in flight. Pure.
 *
 * @returns the seconds of each message, from its arrival to the end of its batch
 */
export const throughTheQueue = (options: QueueOptions): Float64Array => {
  const { rate, messages, orders, workers, batch, seconds, between, seed } = options
  const random = generator(seed)
  const took = new Float64Array(messages)
  const waiting = new Map<number, number[]>()
  const inFlight = new Set<number>()
  // Orders with messages that may be taken, the longest waiting first.
  const open: number[] = []
  let taken = 0
  const running: Batch[] = []
  let arrived = 0
  let finished = 0
  let next = 0

  const arrive = (now: number) => {
    const order = Math.floor(random() * orders)
    const found = waiting.get(order)
    if (found !== undefined) found.push(now)
    else {
      waiting.set(order, [now])
      if (!inFlight.has(order)) open.push(order)
    }
    arrived++
    next = now - Math.log(1 - random()) / rate
  }

  const begin = (now: number) => {
    while (running.length < workers && taken < open.length) {
      const batchOrders: number[] = []
      const arrivals: number[] = []
      let longest = 0
      while (arrivals.length < batch && taken < open.length) {
        const order = open[taken++] ?? 0
        const held = waiting.get(order)
        if (held === undefined) continue
        const these = held.splice(0, batch - arrivals.length)
        if (held.length === 0) waiting.delete(order)
        inFlight.add(order)
        batchOrders.push(order)
        arrivals.push(...these)
        longest = Math.max(longest, these.length)
      }
      const done = now + longest * seconds
      for (const arrival of arrivals) took[finished++] = done - arrival
      running.push({ end: done + between, orders: batchOrders })
    }
    if (taken > 10_000) {
      open.splice(0, taken)
      taken = 0
    }
  }

  while (finished < messages) {
    const index = earliest(running)
    const ending = running[index]
    if (arrived < messages && (ending === undefined || next <= ending.end)) {
      const now = next
      arrive(now)
      begin(now)
    } else if (ending !== undefined) {
      running.splice(index, 1)
      for (const order of ending.orders) {
        inFlight.delete(order)
        if (waiting.has(order)) open.push(order)
      }
      begin(ending.end)
    }
  }
  return took
}
