import { authorizeWith, Refusal, request } from '@order-relay/web/http.ts'
import { t } from './persian.ts'

const KEY = 'session'

/**
 * Exchanges the token of the address, which works once, for a session. All tabs share it, and it survives a reload, but no
 * other port can read it.
 *
 * @returns why the console does not accept requests of this page
 */
export const openSession = async (): Promise<Refusal | undefined> => {
  authorizeWith(
    () => localStorage.getItem(KEY),
    t(
      'The console does not answer. Start it again with npm start, or on AWS with relay console, and open the address it prints.',
    ),
  )
  const token = new URL(location.href).searchParams.get('token')
  if (token === null) return undefined
  const refused = await request<{ session: string }>('POST', '/api/session', { token }).then(
    ({ session }) => {
      localStorage.setItem(KEY, session)
      return undefined
    },
    // A used token is no obstacle to an open session; without one, every page shows what to do.
    error => (error instanceof Refusal && error.status === 403 ? error : undefined),
  )
  history.replaceState(history.state, '', `/${location.hash}`)
  return refused
}
