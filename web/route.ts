import { signal } from '@preact/signals'
import { queryOf } from './http.ts'

/** What the address names: `#/orders/1001?source=api` has the path ['orders', '1001'] and its query. */
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

/** The address of a page; what is empty is left out of its query. */
export const linkTo = (path: readonly string[], query: Record<string, string | null | undefined> = {}) =>
  `#/${path.map(encodeURIComponent).join('/')}${queryOf(query)}`

export const route = signal(parse(location.hash))

/** The address of the present page with other parameters, from the beginning of what they list. */
export const linkWith = (change: Record<string, string | null>) => {
  const { path, query } = route.value
  return linkTo(path, { ...Object.fromEntries(query), cursor: null, limit: null, ...change })
}

/** Changes the address without a new entry in the history, as a filter does. */
export const replaceRoute = (link: string) => {
  history.replaceState(history.state, '', link)
  route.value = parse(link)
}

/** How the present page was reached: a scroll position if it was shown before, and the page one comes from. */
type Arrival = { scroll?: number; from?: Route }

// An entry of the history has a state once it was shown.
let arrival: Arrival | undefined = { scroll: history.state?.scroll }

/** Follows the address. */
export const followAddress = () => {
  history.scrollRestoration = 'manual'
  // Until the page has followed the address, the entry of the history is already that of the next one.
  const keepScroll = () =>
    location.hash === route.value.hash && history.replaceState({ scroll: window.scrollY }, '')
  window.addEventListener('scrollend', keepScroll)
  // A link may be followed before its scrolling has ended.
  window.addEventListener('click', keepScroll, true)
  window.addEventListener('hashchange', () => {
    arrival = { scroll: history.state?.scroll, from: route.value }
    if (history.state === null) history.replaceState({ scroll: 0 }, '')
    route.value = parse(location.hash)
  })
}

/**
 * Takes the reader to the right place, once a page shows what its address names: the top of a new page, or the
 * place where a page was left. Focus goes to the heading, or back to the link that was followed.
 */
export const arrive = (main: HTMLElement) => {
  if (arrival === undefined) return
  const { scroll, from } = arrival
  arrival = undefined
  window.scrollTo(0, scroll ?? 0)
  // Filters stay under the hand that sets them.
  if (from === undefined || document.activeElement?.closest('[data-keeps-focus]')) return
  const followed = scroll !== undefined && main.querySelector(`a[href="${CSS.escape(from.hash)}"]`)
  const target = followed || main.querySelector('h1')
  if (target instanceof HTMLElement) target.focus({ preventScroll: true })
}
