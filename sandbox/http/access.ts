import type { IncomingHttpHeaders } from 'node:http'
import { KEYS, WRITE } from '../keys.ts'
import { quoted, Refusal } from '../refusal.ts'
import type { Access } from './router.ts'

const requireKey = ({ authorization }: IncomingHttpHeaders, access: 'read' | 'write') => {
  const key = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  if (key === undefined) {
    throw new Refusal('unauthorized', 'The key is missing: send "Authorization: Bearer <API_KEY>"')
  }
  const scopes = KEYS.get(key)
  if (scopes === undefined) throw new Refusal('unauthorized', 'The key is not known')
  if (access === 'write' && !scopes.includes(WRITE)) {
    throw new Refusal('forbidden', `The key lacks the scope ${WRITE}`)
  }
}

const LOCAL = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i

/**
 * The panel has no key, so a web page from elsewhere that is open in the same browser must not reach it:
 * neither with a form or fetch of its own (Origin) nor by a name that it lets point here (Host).
 */
const requireLocal = ({ host, origin }: IncomingHttpHeaders) => {
  if (!LOCAL.test(host ?? ''))
    throw new Refusal('forbidden', `Host is ${quoted(host ?? '')}: the panel is local`)
  if (origin !== undefined && origin !== `http://${host}`) {
    throw new Refusal(
      'forbidden',
      `Origin is ${quoted(origin)}: the panel takes no requests from other pages`,
    )
  }
}

/** @throws Refusal when the caller may not (spec: Authentication) */
export const requireAccess = (headers: IncomingHttpHeaders, access: Access): void =>
  access === 'local' ? requireLocal(headers) : requireKey(headers, access)
