/** @import { Account, Context, Delivery, OrderDetail, Product, Route, Settings, View } from '../types.d.ts' */

import { getAccounts, getDeliveries, getOrder, getProducts, getSettings } from '../api.js'
import { h } from '../dom.js'
import { name, pageHead, statusChip, statusName } from '../pieces.js'
import { linkTo } from '../router.js'
import { actions } from './actions.js'
import { deliveryList } from './deliveries.js'
import { invoice } from './invoice.js'
import { outcome, resetReview, review } from './review.js'
import { timeline } from './timeline.js'

/** @typedef {{ products: Product[], settings: Settings, accounts: Account[] }} Service */
/** @typedef {{ order: OrderDetail, service: Service | null, deliveries: Delivery[] }} Data */

const DELIVERIES_SHOWN = 50

/** @param {Route} route */
const keyOf = ({ path, query }) => ({ source: query.get('source') ?? 'api', external_id: path[1] ?? '' })

/**
 * What mends an order is read only while it needs mending.
 *
 * @returns {Promise<Service>}
 */
const loadService = async () => {
  const [products, settings, accounts] = await Promise.all([getProducts(), getSettings(), getAccounts()])
  return { products, settings, accounts }
}

/** @param {OrderDetail} order */
const head = order =>
  pageHead(
    `Order ${order.external_id}`,
    [
      statusChip(order),
      h('span', { class: 'source' }, name(order.source)),
      h('button', { type: 'button', class: 'button small', onclick: () => window.print() }, 'Print invoice'),
    ],
    [h('a', { class: 'back', href: linkTo(['orders']) }, '← Orders')],
    'order-head',
  )

/** @param {Delivery[]} deliveries @param {Context} context */
const deliveriesSection = (deliveries, context) =>
  h(
    'section',
    { class: 'section', 'data-key': 'deliveries', 'aria-labelledby': 'deliveries' },
    h('div', { class: 'section-head' }, h('h2', { id: 'deliveries' }, 'Webhook deliveries')),
    deliveries.length === 0
      ? h(
          'p',
          { class: 'muted' },
          'None. A webhook is sent when the status or the total changes here in the service, not for what the store itself asked.',
        )
      : deliveryList(deliveries, context),
  )

/**
 * One order: its invoice, what it waits for, its history and its deliveries.
 *
 * @type {View<Data>}
 */
export const orderView = {
  depends: ['order', 'product', 'settings', 'account', 'delivery'],
  title: route => `Order ${keyOf(route).external_id}`,
  enter: resetReview,
  load: async route => {
    const { source, external_id } = keyOf(route)
    const [order, deliveries] = await Promise.all([
      getOrder(source, external_id),
      getDeliveries({ limit: DELIVERIES_SHOWN, order: external_id }),
    ])
    return {
      order,
      service: order.status === 'needs_review' ? await loadService() : null,
      deliveries: deliveries.filter(delivery => delivery.source === source),
    }
  },
  draw: ({ order, service, deliveries }, context) => [
    head(order),
    service === null ? outcome(order) : review(order, service, context),
    actions(order, context),
    invoice(order),
    h(
      'div',
      { class: 'columns' },
      h(
        'section',
        { class: 'section', 'aria-labelledby': 'history' },
        h('div', { class: 'section-head' }, h('h2', { id: 'history' }, 'History')),
        timeline(order.history),
      ),
      deliveriesSection(deliveries, context),
    ),
  ],
  news: (before, after) =>
    before.order.status === after.order.status
      ? undefined
      : `Order ${after.order.external_id}: ${statusName(after.order.status)}`,
}
