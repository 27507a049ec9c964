/** Lets so many pass at once; the others wait their turn. */
export type Turnstile = {
  enter: () => Promise<void>
  leave: () => void
  /** Lets nobody in any more and resolves when all have left. */
  close: () => Promise<void>
  open: () => void
}

export const turnstile = (limit: number): Turnstile => {
  let inside = 0
  let closed = false
  let emptied: (() => void) | undefined
  const waiting: (() => void)[] = []

  const admit = () => {
    while (!closed && inside < limit && waiting.length > 0) {
      inside += 1
      waiting.shift()?.()
    }
  }
  return {
    enter: () =>
      new Promise<void>(resolve => {
        waiting.push(resolve)
        admit()
      }),
    leave: () => {
      inside -= 1
      if (inside === 0) emptied?.()
      admit()
    },
    close: () => {
      closed = true
      return new Promise<void>(resolve => {
        emptied = resolve
        if (inside === 0) resolve()
      })
    },
    open: () => {
      closed = false
      admit()
    },
  }
}
