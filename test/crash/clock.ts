/** Time that passes only when everything that can happen now has happened. Milliseconds since 1970. */
export type Clock = {
  now: () => number
  /** Schedules a callback; callbacks of the same instant run in the order in which they were scheduled. */
  after: (ms: number, callback: () => void) => void
  /** Runs until nothing is scheduled any more; false when something still is at `until`. */
  run: (until: number) => Promise<boolean>
}

/**
 * Immediates that are queued at a time. Before each of them Node runs everything that waits for promises alone; a
 * round of its event loop for every callback would take a third of a simulation.
 */
const ROUND = 100

type Scheduled = { at: number; count: number; callback: () => void }

const isBefore = (a: Scheduled, b: Scheduled) => a.at < b.at || (a.at === b.at && a.count < b.count)

/** A binary heap, the earliest on top: a simulated year has a hundred thousand callbacks scheduled at a time. */
const schedule = () => {
  let heap: Scheduled[] = []
  let largest = 0
  return {
    add(scheduled: Scheduled) {
      let index = heap.length
      while (index > 0) {
        const above = (index - 1) >> 1
        const parent = heap[above]
        if (parent === undefined || isBefore(parent, scheduled)) break
        heap[index] = parent
        index = above
      }
      heap[index] = scheduled
      largest = Math.max(largest, heap.length)
    },
    next(): Scheduled | undefined {
      // After a bulk import it would stay an array of V8's large objects, whose collection takes a third of a year.
      if (largest > 8000 && heap.length < largest / 2) {
        heap = heap.slice()
        largest = heap.length
      }
      const [first] = heap
      const last = heap.pop()
      if (last === undefined || heap.length === 0) return first
      let index = 0
      for (;;) {
        const left = 2 * index + 1
        const [one, other] = [heap[left], heap[left + 1]]
        if (one === undefined) break
        const isRight = other !== undefined && isBefore(other, one)
        const child = isRight ? other : one
        if (isBefore(last, child)) break
        heap[index] = child
        index = isRight ? left + 1 : left
      }
      heap[index] = last
      return first
    },
  }
}

export const virtualClock = (start: number): Clock => {
  let now = start
  let count = 0
  const scheduled = schedule()

  return {
    now: () => now,
    after: (ms, callback) => scheduled.add({ at: now + ms, count: count++, callback }),
    run: until =>
      new Promise((resolve, reject) => {
        let isOver = false
        const end = (settle: () => void) => {
          isOver = true
          settle()
        }
        const step = () => {
          if (isOver) return
          const next = scheduled.next()
          if (next === undefined) return end(() => resolve(true))
          if (next.at > until) return end(() => resolve(false))
          now = next.at
          try {
            next.callback()
          } catch (error) {
            end(() => reject(error))
          }
          setImmediate(step)
        }
        for (let queued = 0; queued < ROUND; queued++) setImmediate(step)
      }),
  }
}
