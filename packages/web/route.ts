import { signal } from '@preact/signals'
import { queryOf } from './http.ts'

/** The parsed address: `#/orders/1001?source=api` has the path ['orders', '1001'] and its query. */
export type Route = { path: readonly string[]; query: URLSearchParams; hash: string }

const decoded = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const parse = (hash: string): Route => {
  const [path = '', query = ''] = hash.startsWith('#/') ? hash.slice(2).split(/\?(.*)/s) : []
  return { path: path.split('/').map(decoded), query: new URLSearchParams(query), hash }
}

/** The address of a page, without empty query parameters. */
export const linkTo = (path: readonly string[], query: Record<string, string | null | undefined> = {}) =>
  `#/${path.map(encodeURIComponent).join('/')}${queryOf(query)}`

export const route = signal(parse(location.hash))

/** The address of the current page with other parameters, at the start of its list. */
export const linkWith = (change: Record<string, string | null>) => {
  const { path, query } = route.value
  return linkTo(path, { ...Object.fromEntries(query), cursor: null, limit: null, ...change })
}

/** Changes the address without a new history entry, for filters. */
export const replaceRoute = (link: string) => {
  history.replaceState(history.state, '', link)
  route.value = parse(link)
}

/** How the current page was reached: its scroll position if it was shown before, and the previous page. */
type Arrival = { scroll?: number; from?: Route }

// A history entry has a state once it was shown.
let arrival: Arrival | undefined = { scroll: history.state?.scroll }

/** Follows the address. */
export const followAddress = () => {
  history.scrollRestoration = 'manual'
  // It may have changed since the script was loaded.
  route.value = parse(location.hash)
  // Until the page has followed the address, the history entry already belongs to the next page.
  const keepScroll = () =>
    location.hash === route.value.hash && history.replaceState({ scroll: window.scrollY }, '')
  window.addEventListener('scrollend', keepScroll)
  // A link may be followed before scrolling has ended.
  window.addEventListener('click', keepScroll, true)
  window.addEventListener('hashchange', () => {
    arrival = { scroll: history.state?.scroll, from: route.value }
    if (history.state === null) history.replaceState({ scroll: 0 }, '')
    route.value = parse(location.hash)
  })
}

/**
 * Restores scrolling and focus once a page is shown: the top of a new page, or the position where a page was left. Focus
 * moves to the heading, or back to the link that was followed.
 */
export const arrive = (main: HTMLElement) => {
  if (arrival === undefined) return
  const { scroll, from } = arrival
  arrival = undefined
  window.scrollTo(0, scroll ?? 0)
  // The fragment of the address is the route, so a section of a page is a parameter.
  if (scroll === undefined) document.getElementById(route.value.query.get('section') ?? '')?.scrollIntoView()
  // Filters keep the focus while they are used.
  if (from === undefined || document.activeElement?.closest('[data-keeps-focus]')) return
  const followed = scroll !== undefined && main.querySelector(`a[href="${CSS.escape(from.hash)}"]`)
  const target = followed || main.querySelector('h1')
  if (target instanceof HTMLElement) target.focus({ preventScroll: true })
}
