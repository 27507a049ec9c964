import { authorizeWith, request } from '@order-relay/web/http.ts'

const KEY = 'session'

/**
 * Exchanges the token of the address, which works once, for a session. All tabs share it, and it survives a reload, but no
 * other port can read it.
 */
export const openSession = async () => {
  authorizeWith(() => localStorage.getItem(KEY))
  const token = new URL(location.href).searchParams.get('token')
  if (token === null) return
  await request<{ session: string }>('POST', '/api/session', { token }).then(
    ({ session }) => localStorage.setItem(KEY, session),
    // A used token is no obstacle to an open session; without one, every page shows what to do.
    () => undefined,
  )
  history.replaceState(history.state, '', `/${location.hash}`)
}
