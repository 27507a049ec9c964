/** A change reported by `GET /panel/events`. */
export type Change = {
  kind:
    | 'order'
    | 'refusal'
    | 'product'
    | 'customer'
    | 'settings'
    | 'seller'
    | 'account'
    | 'fiscal-year'
    | 'webhook'
    | 'delivery'
    | 'fault'
  [id: string]: string
}

export type Changes = ReturnType<typeof changes>

/** Publishes changes to listeners after the commit of their transaction. */
export const changes = () => {
  const listeners = new Set<(change: Change) => void>()
  let pending: Change[] = []
  return {
    /** Adds a change of the running transaction. */
    note: (change: Change) => {
      pending.push(change)
    },
    /** Publishes the added changes, after the commit. */
    announce: () => {
      const announced = pending
      pending = []
      for (const change of announced) for (const listener of listeners) listener(change)
    },
    /** @returns a function that discards later additions, for a rollback */
    mark: () => {
      const { length } = pending
      return () => {
        pending.length = length
      }
    },
    /** @returns a function that removes the listener */
    listen: (listener: (change: Change) => void) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}
