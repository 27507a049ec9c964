import { authorizeWith, Refusal } from '@order-relay/web/http.ts'
import { t } from './persian.ts'

const KEY = 'session'

/** Opens a session with the token of an address, or without one if the console knows this browser's user. */
const open = async (token?: string): Promise<Response> => {
  const response = await fetch('/api/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  if (response.ok) localStorage.setItem(KEY, (await response.json()).session)
  return response
}

/**
 * Exchanges the token of the address, which works once, for a session. All tabs share it, and it survives a reload, but no
 * other port can read it. When it has ended, such as after a restart of the console, opens another one if possible.
 *
 * @returns why the console does not accept requests of this page
 */
export const openSession = async (): Promise<Refusal | undefined> => {
  authorizeWith(
    () => localStorage.getItem(KEY),
    t(
      'The console does not answer. Start it again with npm start, or on AWS with relay console, and open the address it prints.',
    ),
    () =>
      open().then(
        ({ ok }) => ok,
        () => false,
      ),
  )
  const token = new URL(location.href).searchParams.get('token')
  if (token === null) return undefined
  const response = await open(token).catch(() => undefined)
  history.replaceState(history.state, '', `/${location.hash}`)
  // A used token is no obstacle to an open session; without one, every page shows what to do.
  if (response?.status !== 403) return undefined
  const { error } = await response.json()
  return new Refusal(error.message, { status: 403 })
}
