import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** How long a session lasts, in milliseconds: without a request, and in total. */
const IDLE_MS = 8 * 3_600_000
const LIFETIME_MS = 24 * 3_600_000

const hash = (text: string) => createHash('sha256').update(text).digest()
const random = () => randomBytes(32).toString('base64url')

type Session = {
  /** Aborts when the session ends. */
  ending: AbortSignal
  /** Ends the session if it has expired: timers stop while the machine sleeps. */
  endIfOver: () => void
  /** Postpones the end. */
  keep: () => void
}

/** Sessions of the console. A token opens one session. */
export const createSessions = (now: () => number = Date.now) => {
  let token = random()
  // Looking up a hash takes a time that says nothing about the session.
  const sessions = new Map<string, Session>()
  const begin = (): string => {
    const session = random()
    const key = hash(session).toString('hex')
    const ended = new AbortController()
    const end = () => {
      clearTimeout(idle)
      clearTimeout(lifetime)
      sessions.delete(key)
      ended.abort()
    }
    const idle = setTimeout(end, IDLE_MS).unref()
    const lifetime = setTimeout(end, LIFETIME_MS).unref()
    const opened = now()
    let used = opened
    const keep = () => {
      used = now()
      idle.refresh()
    }
    const endIfOver = () => {
      if (now() >= Math.min(used + IDLE_MS, opened + LIFETIME_MS)) end()
    }
    sessions.set(key, { ending: ended.signal, endIfOver, keep })
    return session
  }
  return {
    /** The token that opens the next session. */
    token: () => token,
    /** Opens a session without a token, for a browser that was identified in another way. */
    begin,
    /** Opens a session and replaces the token, or returns undefined for any other token. */
    open: (given: string): string | undefined => {
      if (!timingSafeEqual(hash(given), hash(token))) return undefined
      token = random()
      return begin()
    },
    /** The session in a header `Authorization: Bearer …`. */
    of: (authorization = ''): Session | undefined => {
      const [, given = ''] = /^Bearer (\S+)$/.exec(authorization) ?? []
      const key = hash(given).toString('hex')
      sessions.get(key)?.endIfOver()
      return sessions.get(key)
    },
  }
}
