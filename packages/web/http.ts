import { translateMessage } from './messages.ts'
import { t } from './persian.ts'

/** A refusal of the service, with the field if it names one; status 0 if there was no response. */
export class Refusal extends Error {
  readonly status: number
  readonly field: string | undefined

  constructor(message: string, { status = 0, field }: { status?: number; field?: string | undefined } = {}) {
    super(message)
    this.status = status
    this.field = field
  }
}

/** The error message in the reader's language. */
export const messageOf = (error: unknown) =>
  translateMessage(error instanceof Error ? error.message : String(error))

let session: () => string | null = () => null
let open: (() => Promise<boolean>) | undefined
let opening: Promise<boolean> | undefined
let unreachable = t('Cannot reach the service: is it still running?')

/**
 * Sends a session with all requests, in a header: the browser would send a cookie to every port of the host.
 *
 * @param gone what to do if the server of the sessions does not answer
 * @param openAgain opens another session if the server does not know this one, and returns whether it has; must not use `send`
 */
export const authorizeWith = (read: typeof session, gone: string, openAgain: () => Promise<boolean>) => {
  session = read
  unreachable = gone
  open = openAgain
}

const sendOnce = (path: string, { headers, ...init }: RequestInit, token: string | null) => {
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` }
  return fetch(path, { ...init, headers: { ...authorization, ...headers } }).catch(error => {
    if (init.signal?.aborted) throw error
    throw new Refusal(unreachable)
  })
}

/** Whether there is another session than the one that was refused. */
const hasOther = async (refused: string | null) => {
  // Another tab, or an earlier request, has opened it.
  if (session() !== refused) return true
  opening ??= open?.().finally(() => {
    opening = undefined
  })
  return (await opening) ?? false
}

/** @throws Refusal when the service cannot be reached */
export const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
  const token = session()
  const response = await sendOnce(path, init, token)
  const isRefused = response.status === 401 && open !== undefined
  return isRefused && (await hasOther(token)) ? sendOnce(path, init, session()) : response
}

/** The lines of a response as they arrive; the last one may lack its line break. */
export async function* linesOf({ body }: Response): AsyncGenerator<string> {
  if (body === null) return
  // Safari cannot iterate over a stream.
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    let rest = ''
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + part.value).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
    yield rest
  } finally {
    await reader.cancel()
  }
}

/** Maximum number of tabs that read a stream in addition to the changes: browsers allow six connections to a server. */
const SLOTS = 3

/** Reads a stream unless too many tabs of the browser read one. Returns whether it was read. */
export const inSlot = async (name: string, read: () => Promise<void>): Promise<boolean> => {
  for (let slot = 1; slot <= SLOTS; slot++) {
    const isRead = await navigator.locks.request(`${name} ${slot}`, { ifAvailable: true }, async lock => {
      if (lock !== null) await read()
      return lock !== null
    })
    if (isRead) return true
  }
  return false
}

/** @throws Refusal when the service refuses or cannot be reached */
export const request = async <Data>(
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Data> => {
  const response = await send(path, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const { status } = response
  const answer = await response.json().catch(() => undefined)
  if (response.ok) return answer
  const { message = t('The service answered {status}', { status }), field } = answer?.error ?? {}
  throw new Refusal(message, { status, field })
}

/** A query string without empty values. */
export const queryOf = (parameters: Record<string, string | number | null | undefined>) => {
  const given = Object.entries(parameters).filter(([, value]) => value != null && value !== '')
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}
