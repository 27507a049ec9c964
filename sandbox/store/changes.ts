/** What the panel hears when something changes (panel contract: GET /panel/events). */
export type Change = {
  kind: 'order' | 'product' | 'customer' | 'settings' | 'account' | 'fiscal-year' | 'webhook' | 'delivery'
  [id: string]: string
}

export type Changes = ReturnType<typeof changes>

/** Carries changes to whoever listens, once the transaction that made them is committed. */
export const changes = () => {
  const listeners = new Set<(change: Change) => void>()
  let pending: Change[] = []
  return {
    /** Notes a change made by the running transaction. */
    note: (change: Change) => {
      pending.push(change)
    },
    /** Announces what was noted, after a commit. */
    announce: () => {
      const announced = pending
      pending = []
      for (const change of announced) for (const listener of listeners) listener(change)
    },
    /** Forgets what was noted and not announced: the transaction was rolled back. */
    forget: () => {
      pending = []
    },
    /** @returns the function that ends listening */
    listen: (listener: (change: Change) => void) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}
