/** @import { Context, Delivery, View, Webhook } from '../types.d.ts' */

import { getDeliveries, getWebhooks } from '../api.js'
import { h } from '../dom.js'
import { cell, commandLine, empty, moment, pageHead, table } from '../pieces.js'
import { deliveryList } from './deliveries.js'

const STEP = 50

/** How many deliveries are shown. */
const state = { limit: STEP }

/** @typedef {{ webhooks: Webhook[], deliveries: Delivery[] }} Data */

const registration = () => `curl -X PUT ${location.origin}/api/v1/webhook/ \\
  -H 'Authorization: Bearer sandbox-key' \\
  -H 'Content-Type: application/json' \\
  -d '{"url": "http://127.0.0.1:3000/webhook"}'`

/** @param {Webhook[]} webhooks */
const webhooksSection = webhooks =>
  h(
    'section',
    { class: 'section', 'aria-labelledby': 'registered' },
    h('div', { class: 'section-head' }, h('h2', { id: 'registered' }, 'Registered addresses')),
    webhooks.length === 0
      ? empty(
          'No address is registered',
          h(
            'p',
            {},
            'Nobody hears of status changes. A receiver registers itself, or you do it from a terminal:',
          ),
          commandLine(registration()),
        )
      : table({
          caption: 'Registered addresses',
          kind: 'stacks',
          columns: [{ label: 'Address' }, { label: 'Registered' }],
          rows: webhooks.map(({ url, created_at }) =>
            h(
              'tr',
              { role: 'row', 'data-key': url },
              h(
                'th',
                { role: 'rowheader', scope: 'row', class: 'code breaks' },
                h('bdi', { dir: 'ltr' }, url),
              ),
              cell('Registered', moment(created_at)),
            ),
          ),
        }),
  )

/** @param {Delivery[]} deliveries @param {Context} context */
const deliveriesSection = (deliveries, context) => {
  const showMore = () => {
    state.limit += STEP
    return context.reload()
  }
  return h(
    'section',
    { class: 'section', 'aria-labelledby': 'deliveries' },
    h('div', { class: 'section-head' }, h('h2', { id: 'deliveries' }, 'Deliveries')),
    deliveries.length === 0
      ? empty(
          'No deliveries yet',
          h(
            'p',
            {},
            'One is sent when an order changes its status here in the service, as when a retry finalizes it.',
          ),
        )
      : deliveryList(deliveries, context),
    deliveries.length >= state.limit &&
      h('button', { type: 'button', class: 'button', onclick: showMore }, 'Show more'),
  )
}

/**
 * Who is told of changes, and every delivery with its attempts.
 *
 * @type {View<Data>}
 */
export const webhooksView = {
  depends: ['webhook', 'delivery'],
  title: () => 'Webhooks',
  enter: () => {
    state.limit = STEP
  },
  load: async () => {
    const [webhooks, deliveries] = await Promise.all([getWebhooks(), getDeliveries({ limit: state.limit })])
    return { webhooks, deliveries }
  },
  draw: ({ webhooks, deliveries }, context) => [
    pageHead('Webhooks'),
    webhooksSection(webhooks),
    deliveriesSection(deliveries, context),
  ],
}
