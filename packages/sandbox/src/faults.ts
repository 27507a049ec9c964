import type { InferOutput } from 'valibot'
import type { SCHEMAS } from './openapi/schemas.ts'
import type { FaultRequest } from './panel-requests.ts'
import type { Changes } from './store/changes.ts'

/** A fault of the order API; null means no limit. */
export type Fault = InferOutput<typeof SCHEMAS.Fault>

export type Faults = ReturnType<typeof createFaults>

/** The intentional faults, kept in memory: a restart ends them. */
export const createFaults = ({ note, announce }: Changes) => {
  let faults: readonly Fault[] = []
  let count = 0
  const timers = new Set<NodeJS.Timeout>()

  const set = (changed: readonly Fault[]) => {
    faults = changed
    note({ kind: 'fault' })
    announce()
  }
  const without = (id: number) => faults.filter(fault => fault.id !== id)

  return {
    list: () => ({ faults }),
    add: ({ kind, operation, seconds, requests, ...rest }: FaultRequest) => {
      count += 1
      const id = count
      const until = seconds === undefined ? null : new Date(Date.now() + seconds * 1000).toISOString()
      if (seconds !== undefined) timers.add(setTimeout(() => set(without(id)), seconds * 1000))
      const fault = {
        id,
        kind,
        operation: operation ?? null,
        until,
        requests: requests ?? null,
        delay: rest.delay ?? 3000,
        status: rest.status ?? 500,
        retryAfter: rest.retryAfter ?? null,
      }
      set([...faults, fault])
      return fault
    },
    /** Ends one fault, or all. */
    end: (id?: number) => {
      set(id === undefined ? [] : without(id))
      return { faults }
    },
    /** The fault that hits a request, the oldest one first; it counts the request. */
    hit: (operation: string): Fault | undefined => {
      const fault = faults.find(each => each.operation === null || each.operation === operation)
      if (fault === undefined || fault.requests === null) return fault
      const requests = fault.requests - 1
      set(
        requests === 0
          ? without(fault.id)
          : faults.map(each => (each === fault ? { ...each, requests } : each)),
      )
      return fault
    },
    stop: () => {
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
