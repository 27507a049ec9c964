/** @import { Context, OrderList, OrderSummary, Product, Route, Status, View } from '../types.d.ts' */

import { getOrders, getProducts } from '../api.js'
import { h } from '../dom.js'
import { textOf } from '../form.js'
import { formatDate, money, plural } from '../format.js'
import { cell, commandLine, empty, name, pageHead, statusChip, statusName, table } from '../pieces.js'
import { linkTo, linkToOrder, replaceRoute } from '../router.js'

const PAGE_SIZE = 50
const TYPING_MS = 250

/** @type {Status[]} */
const STATUSES = ['needs_review', 'invoiced', 'paid', 'refunded']

/** @typedef {OrderList & { products: Product[] }} Data */

/**
 * Sources seen so far, offered while typing.
 *
 * @type {Set<string>}
 */
const sources = new Set(['api'])

/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing

/** @param {Route} route */
const filterOf = ({ query }) => ({
  status: query.get('status'),
  source: query.get('source'),
  q: query.get('q'),
  before: query.get('before'),
})

/** @param {Route} route @param {Record<string, string | null>} change */
const linkWith = (route, change) => linkTo(['orders'], { ...filterOf(route), before: null, ...change })

/** @param {Route} route @param {OrderList['counts']} counts */
const statusTabs = (route, counts) => {
  const current = route.query.get('status') ?? ''
  const all = STATUSES.reduce((count, status) => count + counts[status], 0)
  /** @param {string} status @param {string} label @param {number} count */
  const tab = (status, label, count) =>
    h(
      'li',
      {},
      h(
        'a',
        {
          href: linkWith(route, { status }),
          class: `tab tab-${status || 'all'}`,
          'aria-current': status === current ? 'true' : null,
        },
        label,
        ' ',
        h(
          'span',
          { class: status === 'needs_review' && count > 0 ? 'tab-count waiting-count' : 'tab-count' },
          count,
        ),
      ),
    )
  return h(
    'ul',
    { class: 'tabs', 'aria-label': 'Orders by status' },
    tab('', 'All', all),
    STATUSES.map(status => tab(status, statusName(status), counts[status])),
  )
}

/** @param {Route} route */
const filters = route => {
  const oninput = (/** @type {Event} */ event) => {
    const { form } = /** @type {HTMLInputElement} */ (event.target)
    clearTimeout(typing)
    typing = setTimeout(() => {
      if (form !== null)
        replaceRoute(linkWith(route, { q: textOf(form, 'q'), source: textOf(form, 'source') }))
    }, TYPING_MS)
  }
  return h(
    'form',
    { class: 'filters', role: 'search', 'aria-label': 'Orders', onsubmit: event => event.preventDefault() },
    h('label', { for: 'q', class: 'visually-hidden' }, 'Search by order, customer or mobile'),
    h('input', {
      id: 'q',
      name: 'q',
      type: 'search',
      dir: 'auto',
      autocomplete: 'off',
      placeholder: 'Search orders',
      value: route.query.get('q') ?? '',
      oninput,
    }),
    h('label', { for: 'source', class: 'visually-hidden' }, 'Store (source)'),
    h('input', {
      id: 'source',
      name: 'source',
      type: 'search',
      autocomplete: 'off',
      list: 'sources',
      placeholder: 'Any store',
      value: route.query.get('source') ?? '',
      oninput,
    }),
    h(
      'datalist',
      { id: 'sources' },
      [...sources].map(value => h('option', { value })),
    ),
  )
}

/** @param {OrderSummary} order */
const orderRow = order =>
  h(
    'tr',
    { role: 'row', 'data-key': `${order.source}/${order.external_id}`, class: 'linked' },
    h(
      'th',
      { role: 'rowheader', scope: 'row', class: 'cell-order' },
      h('a', { href: linkToOrder(order), class: 'row-link' }, name(order.external_id)),
      h('span', { class: 'source' }, name(order.source)),
    ),
    cell(
      'Customer',
      order.customer === null ? '' : name(order.customer.name || order.customer.mobile),
      'cell-name',
    ),
    cell('Date', h('time', { datetime: order.date, class: 'nowrap' }, formatDate(order.date)), 'cell-date'),
    cell(
      'Status',
      [
        statusChip(order),
        order.error !== null && h('span', { class: 'cause' }, h('bdi', { dir: 'auto' }, order.error)),
      ],
      'cell-status',
    ),
    cell('Invoice', order.invoice_number, 'number cell-invoice'),
    cell('Total', [money(order.total), h('span', { class: 'unit' }, ' rials')], 'number cell-total'),
  )

const COLUMNS = [
  { label: 'Order' },
  { label: 'Customer' },
  { label: 'Date' },
  { label: 'Status' },
  { label: 'Invoice', kind: 'number' },
  { label: 'Total', kind: 'number' },
]

/** @param {string} sku */
const firstOrder = sku => `curl ${location.origin}/api/v1/orders/ \\
  -H 'Authorization: Bearer sandbox-key' \\
  -H 'Content-Type: application/json' \\
  -d '{"external_id": "1001",
       "customer": {"mobile": "09123456789", "name": "سارا محمدی"},
       "items": [{"sku": "${sku}", "quantity": 1, "unit_price": 1500000}]}'`

/** @param {Product[]} products */
const noOrdersYet = ([product]) =>
  product === undefined
    ? empty(
        'No orders yet, and nothing to sell',
        h('p', {}, 'An order may only hold products that the service knows. Add one first.'),
        h('a', { class: 'button primary', href: linkTo(['products']) }, 'Go to products'),
      )
    : empty(
        'No orders yet',
        h('p', {}, 'Send the first one from a store, or from a terminal:'),
        commandLine(firstOrder(product.sku)),
      )

/** @param {Data} data @param {Context} context */
const list = ({ orders, next, counts, products }, { route }) => {
  if (STATUSES.every(status => counts[status] === 0) && !isFiltered(route)) return noOrdersYet(products)
  if (orders.length === 0) {
    return empty('No order matches', h('a', { class: 'button', href: linkTo(['orders']) }, 'Show all orders'))
  }
  const before = route.query.get('before')
  return [
    table({
      caption: 'Orders, newest first',
      kind: 'orders stacks',
      columns: COLUMNS,
      rows: orders.map(orderRow),
    }),
    (before !== null || next !== null) &&
      h(
        'nav',
        { class: 'pager', 'aria-label': 'Pages of orders' },
        before !== null && h('a', { class: 'button', href: linkWith(route, {}) }, '← Newest'),
        next !== null && h('a', { class: 'button', href: linkWith(route, { before: next }) }, 'Older →'),
      ),
  ]
}

/** @param {Route} route */
const isFiltered = ({ query }) => ['status', 'source', 'q', 'before'].some(key => query.has(key))

/**
 * Orders by status, store and search, newest first.
 *
 * @type {View<Data>}
 */
export const ordersView = {
  depends: ['order', 'product'],
  title: () => 'Orders',
  load: async route => {
    const found = await getOrders({ ...filterOf(route), limit: PAGE_SIZE })
    for (const { source } of found.orders) sources.add(source)
    const products = found.orders.length === 0 ? await getProducts() : []
    return { ...found, products }
  },
  draw: (data, context) => [
    pageHead('Orders'),
    h('div', { class: 'bar' }, statusTabs(context.route, data.counts), filters(context.route)),
    list(data, context),
  ],
  news: (before, after) => {
    const known = new Map(before.orders.map(order => [`${order.source}/${order.external_id}`, order.status]))
    const changed = after.orders.filter(
      order => known.get(`${order.source}/${order.external_id}`) !== order.status,
    )
    const [first] = changed
    if (first === undefined) return undefined
    return changed.length === 1
      ? `Order ${first.external_id}: ${statusName(first.status)}`
      : `${plural(changed.length, 'order')} changed`
  },
}
