/** @import { Attempt, Context, Delivery } from '../types.d.ts' */

import { resendDelivery } from '../api.js'
import { h } from '../dom.js'
import { formatWait, plural } from '../format.js'
import { toast } from '../notices.js'
import { cell, moment, name, statusName, table } from '../pieces.js'
import { linkToOrder } from '../router.js'

/** @type {Record<Delivery['state'], string>} */
const STATES = { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' }

/**
 * What an attempt came to.
 *
 * @param {Attempt} attempt
 */
const resultOf = ({ status, error }) => (status === null ? (error ?? 'No answer') : `HTTP ${status}`)

/** @param {Attempt} attempt */
const attemptRow = attempt =>
  h(
    'tr',
    { role: 'row' },
    h('th', { role: 'rowheader', scope: 'row', class: 'plain' }, moment(attempt.at)),
    cell('Result', h('bdi', { dir: 'auto' }, resultOf(attempt))),
    cell('Took', `${attempt.latency_ms} ms`, 'number'),
    cell(
      'Answer',
      attempt.response
        ? h('code', { class: 'excerpt', dir: 'auto' }, attempt.response)
        : h('span', { class: 'muted' }, '–'),
    ),
  )

/** @param {Delivery} delivery */
const attempts = delivery =>
  h(
    'details',
    { class: 'attempts' },
    h('summary', {}, plural(delivery.attempts.length, 'attempt')),
    table({
      caption: `Attempts of delivery ${delivery.delivery}`,
      kind: 'compact stacks',
      columns: [
        { label: 'Sent' },
        { label: 'Result' },
        { label: 'Took', kind: 'number' },
        { label: 'Answer' },
      ],
      rows: delivery.attempts.map(attemptRow),
    }),
  )

/** @param {Delivery} delivery @param {Context} context */
const resend = async (delivery, context) => {
  try {
    const sent = await resendDelivery(delivery.delivery)
    const last = sent.attempts.at(-1)
    const result = last === undefined ? STATES[sent.state] : resultOf(last)
    toast(`Sent again: ${result}`, sent.state === 'delivered' ? 'good' : 'bad')
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), 'bad')
  }
  await context.reload()
}

/** @param {Delivery} delivery @param {Context} context */
const deliveryItem = (delivery, context) => {
  const last = delivery.attempts.at(-1)
  return h(
    'li',
    { class: 'delivery', 'data-key': delivery.delivery },
    h(
      'div',
      { class: 'delivery-head' },
      h('span', { class: `chip chip-${delivery.state}` }, STATES[delivery.state]),
      h(
        'p',
        { class: 'delivery-what' },
        h('a', { href: linkToOrder(delivery) }, 'Order ', name(delivery.external_id)),
        ` ${statusName(delivery.status).toLowerCase()}`,
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'button small',
          'aria-label': `Resend delivery for order ${delivery.external_id}`,
          onclick: () => resend(delivery, context),
        },
        'Resend',
      ),
    ),
    h('p', { class: 'delivery-url code' }, h('bdi', { dir: 'ltr' }, delivery.url)),
    h(
      'p',
      { class: 'muted' },
      moment(delivery.created_at),
      last !== undefined && [' · ', h('bdi', { dir: 'auto' }, resultOf(last)), ` in ${last.latency_ms} ms`],
      delivery.next_attempt_at !== null && [
        ' · next attempt ',
        h(
          'span',
          { 'data-until': delivery.next_attempt_at, class: 'nowrap' },
          formatWait(delivery.next_attempt_at, Date.now()),
        ),
      ],
    ),
    delivery.attempts.length > 0 && attempts(delivery),
  )
}

/**
 * Deliveries with every attempt, newest first, each of which can be sent again.
 *
 * @param {Delivery[]} deliveries
 * @param {Context} context
 */
export const deliveryList = (deliveries, context) =>
  h(
    'ul',
    { class: 'deliveries' },
    deliveries.map(delivery => deliveryItem(delivery, context)),
  )
