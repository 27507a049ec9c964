import { batch, type Signal, signal } from '@preact/signals'
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
/** In the background, only the title of the tab is visible. */
const BACKGROUND_SPACING_MS = 10_000

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
    const spacing = isInFront.value ? SPACING_MS : BACKGROUND_SPACING_MS
    entry.rested = Date.now() + Math.max(spacing, REST * (Date.now() - startedAt))
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

/** Whether the tab is in front. */
export const isInFront = signal(!document.hidden)
document.addEventListener('visibilitychange', () => {
  isInFront.value = !document.hidden
  if (!isInFront.value) return
  // In the background, readings are rare, and a browser may suspend the tab.
  for (const entry of entries.values()) {
    clearTimeout(entry.timer)
    entry.timer = undefined
  }
  refresh()
})

const RECONNECT_MS = 2000

/** What a tab tells the others: a change, the id of its stream, that the stream has ended, or a question for the id. */
type Told = { kind: string } | { stream: string } | { end: 'broken' | 'ended' } | 'which stream?'

/** The id of the stream whose changes this tab receives. */
let followed: string | undefined

const hear = (told: Exclude<Told, string>) => {
  if ('kind' in told) {
    for (const entry of shown()) if (entry.kinds.includes(told.kind)) readSoon(entry)
  } else if ('end' in told) {
    // The responses to the page's own requests show why.
    if (connection.value !== told.end) refresh()
    connection.value = told.end
    followed = undefined
  } else if (followed !== told.stream) {
    // Changes before the stream began are not announced.
    shown().forEach(readSoon)
    connection.value = 'live'
    followed = told.stream
  }
}

/** Reads the stream until it breaks. */
const follow = async (path: string, tell: (told: Exclude<Told, string>) => void) => {
  // EventSource cannot send the header of a session.
  const response = await send(path)
  if (!response.ok) return response.status === 401 ? 'ended' : 'broken'
  tell({ stream: crypto.randomUUID() })
  for await (const line of linesOf(response)) {
    if (line.startsWith('data: ')) tell({ kind: JSON.parse(line.slice('data: '.length)).kind })
  }
  return 'broken'
}

/**
 * Listens to the service's changes. With HTTP/1.1, browsers allow six connections to a server, which all tabs share: the tab
 * that holds a lock reads the stream and passes the changes on. When its stream breaks or it is closed, another tab takes over.
 */
export const listen = async (path: string) => {
  const tabs = new BroadcastChannel(path)
  let own: string | undefined
  const tell = (told: Exclude<Told, string>) => {
    if ('stream' in told) own = told.stream
    if ('end' in told) own = undefined
    tabs.postMessage(told)
    hear(told)
  }
  tabs.addEventListener('message', ({ data }: MessageEvent<Told>) => {
    if (data !== 'which stream?') hear(data)
    else if (own !== undefined) tabs.postMessage({ stream: own })
  })
  tabs.postMessage('which stream?')
  for (;;) {
    await navigator.locks.request(path, async () => {
      tell({ end: await follow(path, tell).catch(() => 'broken' as const) })
    })
    await new Promise(resolve => setTimeout(resolve, RECONNECT_MS))
  }
}

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
