import { batch, effect, type Signal, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { linesOf, request, send } from './http.ts'

/** Data of the service, read again whenever something of these kinds changes. */
export type Resource<Data> = { path: string; kinds: readonly string[]; answer?: Data }

export type Resources = Record<string, Resource<unknown>>

export type DataOf<S extends Resources> = {
  [Name in keyof S]: S[Name] extends Resource<infer Data> ? Data : never
}

export const resource = <Data>(path: string, ...kinds: string[]): Resource<Data> => ({ path, kinds })

type Entry = {
  path: string
  kinds: readonly string[]
  data: Signal<unknown>
  error: Signal<unknown>
  readers: number
  /** The earliest time of the next reading because of changes. */
  rested: number
  reading?: Promise<void>
  stale: boolean
  timer?: ReturnType<typeof setTimeout> | undefined
}

/** The data by path. It is kept when its page is left, so that Back shows the page immediately. */
const entries = new Map<string, Entry>()
const KEPT = 60

const entryOf = ({ path, kinds }: Resource<unknown>): Entry => {
  const known = entries.get(path)
  if (known !== undefined) return known
  for (const { path: old } of [...entries.values()].filter(({ readers }) => readers === 0).slice(0, -KEPT)) {
    entries.delete(old)
  }
  const entry = { path, kinds, data: signal(), error: signal(), readers: 0, rested: 0, stale: false }
  entries.set(path, entry)
  return entry
}

// Changes come in bursts: they are collected, and then wait for a pause after the last reading.
const SETTLE_MS = 50
const SPACING_MS = 500
const REST = 4

const readUntilFresh = async (entry: Entry) => {
  while (entry.stale) {
    entry.stale = false
    const startedAt = Date.now()
    try {
      const data = await request('GET', entry.path)
      batch(() => {
        entry.data.value = data
        entry.error.value = undefined
      })
    } catch (error) {
      entry.error.value = error
    }
    entry.rested = Date.now() + Math.max(SPACING_MS, REST * (Date.now() - startedAt))
  }
  delete entry.reading
}

/** Reads now, and again if something changes meanwhile. */
const read = (entry: Entry) => {
  entry.stale = true
  entry.reading ??= readUntilFresh(entry)
  return entry.reading
}

const readSoon = (entry: Entry) => {
  entry.timer ??= setTimeout(
    () => {
      entry.timer = undefined
      if (entry.reading !== undefined || Date.now() < entry.rested) readSoon(entry)
      else if (entry.readers > 0) read(entry)
    },
    Math.max(SETTLE_MS, entry.rested - Date.now()),
  )
}

const shown = () => [...entries.values()].filter(({ readers }) => readers > 0)

/** Reads everything that is shown, after a change by the user. */
export const refresh = async () => {
  await Promise.all(shown().map(read))
}

/** `ended`: the server answers, but not to this session. */
export const connection = signal<'connecting' | 'live' | 'broken' | 'ended'>('connecting')

const RECONNECT_MS = 2000

/**
 * Whether the tab is in front. A tab in the background must not hold a connection: with HTTP/1.1, browsers allow six
 * connections to a server, which all tabs share.
 */
export const isInFront = signal(!document.hidden)
document.addEventListener('visibilitychange', () => {
  isInFront.value = !document.hidden
})

/** Whether changes may have been missed, while disconnected or in the background. */
let hasMissed = false

const disconnect = (state: 'broken' | 'ended') => {
  // The responses to the page's own requests show why.
  if (connection.value !== state) refresh()
  connection.value = state
  hasMissed = true
}

/** Reads the stream until it breaks. */
const follow = async (path: string, signal: AbortSignal): Promise<'broken' | 'ended'> => {
  const response = await send(path, { signal })
  if (!response.ok) return response.status === 401 ? 'ended' : 'broken'
  if (hasMissed) refresh()
  hasMissed = false
  connection.value = 'live'
  for await (const line of linesOf(response)) {
    if (!line.startsWith('data: ')) continue
    const { kind } = JSON.parse(line.slice('data: '.length))
    for (const entry of shown()) if (entry.kinds.includes(kind)) readSoon(entry)
  }
  return 'broken'
}

const followUntil = async (path: string, left: AbortSignal) => {
  while (!left.aborted) {
    // EventSource cannot send the header of a session.
    const end = await follow(path, left).catch(() => 'broken' as const)
    if (left.aborted) return
    disconnect(end)
    await new Promise(resolve => setTimeout(resolve, RECONNECT_MS))
  }
}

/** Listens to the service's changes while the tab is in front, and reconnects whenever the connection breaks. */
export const listen = (path: string) =>
  effect(() => {
    if (!isInFront.value) {
      hasMissed = true
      return
    }
    const leaving = new AbortController()
    followUntil(path, leaving.signal)
    return () => leaving.abort()
  })

/**
 * Reads resources while a component is shown. When a path changes, as with a filter, keeps the previous data of each
 * resource until the new data has arrived.
 *
 * @returns the data, undefined until all of it is read; whether it belongs to the current paths; the first error
 */
export const useResources = <S extends Resources>(resources: S) => {
  const last = useRef<Record<string, unknown>>({})
  const named = Object.entries(resources).map(([name, each]) => [name, entryOf(each)] as const)
  useEffect(() => {
    for (const [, entry] of named) {
      entry.readers += 1
      read(entry)
    }
    return () => {
      for (const [, entry] of named) entry.readers -= 1
    }
  }, [named.map(([, { path }]) => path).join(' ')])
  last.current = Object.fromEntries(named.map(([name, { data }]) => [name, data.value ?? last.current[name]]))
  const values = Object.values(last.current)
  return {
    // Each value has the type of its resource, which the compiler cannot infer through the list of names.
    data: values.includes(undefined) ? undefined : (last.current as DataOf<S>),
    fresh: named.every(([, { data }]) => data.value !== undefined),
    error: named.map(([, { error }]) => error.value).find(Boolean),
  }
}
