import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../core/context.ts'
import { logOf } from '../core/log.ts'

/** How long changes of a kind are collected, in milliseconds. */
const SETTLE_MS = 250

/** A value that is slow to read is read less often: minimum ratio of pause to reading time. */
export const REST = 4

/** How long to wait for a log that does not exist yet, or cannot be read. */
const LOG_RETRY_MS = 5000

/**
 * Live changes for the pages. While at least one page is connected, values are polled and the log is followed; pages
 * receive the name of a changed value, or the message of a new log line.
 */
export const createLive = (context: Context, stopping: AbortSignal) => {
  const listeners = new Set<(change: { kind: string }) => void>()
  const polls = new Set<{ keepOn: () => void; pause: () => void }>()
  let disconnected = new AbortController()
  const changed = new Set<string>()

  const emit = (kind: string) => {
    if (changed.size === 0) {
      setTimeout(() => {
        for (const each of changed) for (const listener of listeners) listener({ kind: each })
        changed.clear()
      }, SETTLE_MS)
    }
    changed.add(kind)
  }

  const follow = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      try {
        for await (const { message, fields } of logOf(context, { since: new Date(), follow: true, signal }))
          emit(fields.state === 'waiting' ? 'request waiting' : message)
      } catch {
        // The page that needs the log shows the error.
      }
      if (!signal.aborted) await new Promise(resolve => setTimeout(resolve, LOG_RETRY_MS))
    }
  }

  return {
    /** Aborts when the console ends. */
    stopping,
    /**
     * A value that pages follow by name. It is read when it is requested and the last reading is older than its
     * interval, and at this interval while a page is connected.
     */
    poll: <Value>(kind: string, everyMs: number, read: () => Promise<Value>) => {
      let last: { at: number; value?: Value; error?: unknown } | undefined
      let reading: Promise<unknown> | undefined
      let timer: ReturnType<typeof setTimeout> | undefined
      let interval = everyMs
      const readNow = async () => {
        const before = last
        const at = Date.now()
        last = await read().then(
          value => ({ at, value }),
          error => ({ at, error }),
        )
        reading = undefined
        interval = Math.max(everyMs, REST * (Date.now() - at))
        const isSame =
          isDeepStrictEqual(before?.value, last.value) && String(before?.error) === String(last.error)
        if (before !== undefined && !isSame) emit(kind)
      }
      const again = () => {
        reading ??= readNow()
        return reading
      }
      // Immediately when the first page connects, so that it is notified of all later changes.
      const keepOn = async () => {
        await again()
        clearTimeout(timer)
        if (listeners.size > 0) timer = setTimeout(keepOn, interval)
      }
      polls.add({ keepOn, pause: () => clearTimeout(timer) })
      return async (): Promise<Value> => {
        if (last === undefined || Date.now() - last.at > 2 * interval) await again()
        if (last === undefined || last.error !== undefined) throw last?.error
        return last.value as Value
      }
    },
    /** Calls back with every change, until the returned function is called. */
    listen: (listener: (change: { kind: string }) => void) => {
      if (listeners.size === 0) {
        disconnected = new AbortController()
        for (const { keepOn } of polls) keepOn()
        follow(disconnected.signal)
      }
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        disconnected.abort()
        for (const { pause } of polls) pause()
      }
    },
  }
}

export type Live = ReturnType<typeof createLive>
