/** @import { HistoryEntry } from '../types.d.ts' */

import { h } from '../dom.js'
import { moment } from '../pieces.js'

/** @type {Record<string, string>} */
const NAMES = {
  created: 'Created',
  held: 'Held for review',
  finalized: 'Finalized',
  paid: 'Paid',
  reversed: 'Payment reversed',
  refunded: 'Refunded',
  retried: 'Retried',
  reviewed: 'Moved back to review',
  corrected: 'Corrected',
  refused: 'Refused',
  webhook: 'Webhook',
}

/**
 * What happened to an order, oldest first.
 *
 * @param {HistoryEntry[]} history
 */
export const timeline = history =>
  h(
    'ol',
    { class: 'timeline' },
    history.map(({ at, kind, message }) =>
      h(
        'li',
        { class: `event event-${kind}` },
        h('p', { class: 'event-head' }, h('strong', {}, NAMES[kind] ?? kind), ' ', moment(at)),
        h('p', { class: 'event-message', dir: 'auto' }, message),
      ),
    ),
  )
