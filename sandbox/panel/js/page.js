/** @import { ChangeKind, Route, View } from './types.d.ts' */

import { byId, h, patch } from './dom.js'
import { announce } from './notices.js'
import { parseRoute } from './router.js'
import { customersView } from './views/customers.js'
import { orderView } from './views/order.js'
import { ordersView } from './views/orders.js'
import { productsView } from './views/products.js'
import { settingsView } from './views/settings.js'
import { webhooksView } from './views/webhooks.js'

/** @type {Record<string, View<unknown>>} */
const VIEWS = {
  orders: ordersView,
  order: orderView,
  products: productsView,
  customers: customersView,
  webhooks: webhooksView,
  settings: settingsView,
}

/** @param {Route} route */
const nameOf = ({ path: [first = '', second = ''] }) => {
  if (first === 'orders' && second !== '') return 'order'
  return first !== 'order' && Object.hasOwn(VIEWS, first) ? first : 'orders'
}

/** How long reading may take before the page says that it is reading. */
const PATIENCE_MS = 200

const main = byId('main')

/** @type {{ name: string, view: View<unknown>, route: Route, data: unknown, loaded: boolean } | undefined} */
let page
let reviews = 0
/** @type {Promise<void> | undefined} */
let reading
let stale = false

const drawTitle = () => {
  if (page === undefined) return
  document.title = `${reviews > 0 ? `(${reviews}) ` : ''}${page.view.title(page.route)} · Accounting sandbox`
}

/**
 * Shows how many orders wait for the accountant.
 *
 * @param {number} count
 */
export const showReviewCount = count => {
  reviews = count
  const badge = byId('review-count')
  badge.hidden = count === 0
  badge.replaceChildren(String(count), h('span', { class: 'visually-hidden' }, ' need review'))
  drawTitle()
}

const markNavigation = (/** @type {string} */ name) => {
  for (const link of document.querySelectorAll('.nav a')) {
    const isCurrent = link.getAttribute('data-view') === (name === 'order' ? 'orders' : name)
    if (isCurrent) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
}

const focusHeading = () => main.querySelector('h1')?.focus({ preventScroll: true })

/**
 * Draws into the page; when the focused element went away, focus goes to the heading, not to nowhere.
 *
 * @param {Node[]} nodes
 */
const drawNodes = nodes => {
  const focused = main.contains(document.activeElement)
  patch(main, nodes)
  if (focused && !main.contains(document.activeElement)) focusHeading()
}

const redraw = () => {
  if (page === undefined || !page.loaded) return
  const context = { route: page.route, redraw, reload }
  drawNodes([h('div', { class: 'page', 'data-key': page.name }, page.view.draw(page.data, context))])
}

/** @param {unknown} error */
const drawFailure = error => {
  const message = error instanceof Error ? error.message : String(error)
  const title = page?.view.title(page.route) ?? 'Accounting sandbox'
  drawNodes([
    h(
      'div',
      { class: 'page', 'data-key': 'failure' },
      h('header', { class: 'page-head' }, h('h1', { tabindex: -1 }, title)),
      h(
        'div',
        { class: 'empty', role: 'alert' },
        h('p', { class: 'empty-title' }, 'This page cannot be shown'),
        h('p', {}, message),
        h('button', { type: 'button', class: 'button', onclick: () => reload() }, 'Try again'),
      ),
    ),
  ])
}

/** Reads the page's data and draws it; what was read for a page that has been left is dropped. */
const readAndDraw = async () => {
  const reader = page
  if (reader === undefined) return
  try {
    const data = await reader.view.load(reader.route)
    if (page !== reader) return
    const news = reader.loaded ? reader.view.news?.(reader.data, data) : undefined
    if (news !== undefined) announce(news)
    reader.data = data
    reader.loaded = true
    redraw()
  } catch (error) {
    if (page !== reader) return
    reader.loaded = false
    drawFailure(error)
  }
}

/** Reads again, once more if something changed while reading; ends when what is drawn is fresh. */
const reload = () => {
  stale = true
  reading ??= readUntilFresh()
  return reading
}

const readUntilFresh = async () => {
  while (stale) {
    stale = false
    await readAndDraw()
  }
  reading = undefined
}

/**
 * Reads the page again when it shows what changed.
 *
 * @param {ChangeKind | undefined} kind undefined: anything may have changed
 */
export const reloadFor = kind => {
  if (page === undefined) return
  if (kind === undefined || page.view.depends.includes(kind)) reload()
}

const drawWaiting = () =>
  drawNodes([h('p', { class: 'waiting', 'data-key': 'waiting', role: 'status' }, 'Reading…')])

/**
 * Opens the page that an address hash names.
 *
 * @param {string} hash
 */
export const openPage = async hash => {
  const route = parseRoute(hash)
  const name = nameOf(route)
  const view = VIEWS[name] ?? ordersView
  const first = page === undefined
  const samePage = page?.view === view && page.route.path.join('/') === route.path.join('/')

  if (samePage && page !== undefined) {
    page = { ...page, route }
    return readAndDraw()
  }
  view.enter?.()
  page = { name, view, route, data: undefined, loaded: false }
  drawTitle()
  markNavigation(name)
  const waiting = setTimeout(drawWaiting, PATIENCE_MS)
  await readAndDraw()
  clearTimeout(waiting)
  if (first || page.view !== view) return
  window.scrollTo(0, 0)
  focusHeading()
}
