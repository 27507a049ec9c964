/** @import { Customer, View } from '../types.d.ts' */

import { getCustomers } from '../api.js'
import { h } from '../dom.js'
import { cell, empty, name, pageHead, table } from '../pieces.js'
import { linkTo } from '../router.js'

/** @param {Customer} customer */
const customerRow = customer =>
  h(
    'tr',
    { role: 'row', 'data-key': customer.code },
    h('th', { role: 'rowheader', scope: 'row', class: 'cell-name' }, name(customer.name || customer.code)),
    cell('Code', name(customer.code), 'code'),
    cell('Mobile', customer.mobile === null ? '' : h('bdi', { dir: 'ltr' }, customer.mobile), 'code'),
    cell('E-mail', customer.email === null ? '' : h('bdi', { dir: 'ltr' }, customer.email)),
    cell(
      'Orders',
      customer.mobile !== null &&
        h(
          'a',
          { href: linkTo(['orders'], { q: customer.mobile }) },
          'Orders',
          h('span', { class: 'visually-hidden' }, ` of ${customer.name || customer.code}`),
        ),
    ),
  )

/**
 * Everyone the service can book an order to.
 *
 * @type {View<Customer[]>}
 */
export const customersView = {
  depends: ['customer'],
  title: () => 'Customers',
  load: getCustomers,
  draw: customers => [
    pageHead('Customers'),
    customers.length === 0
      ? empty(
          'No customers yet',
          h(
            'p',
            {},
            'The first order with an unknown mobile number creates one, as long as automatic customer creation is on.',
          ),
          h('a', { class: 'button', href: linkTo(['settings']) }, 'Look at the settings'),
        )
      : table({
          caption: 'Customers',
          kind: 'stacks',
          columns: [
            { label: 'Name' },
            { label: 'Code' },
            { label: 'Mobile' },
            { label: 'E-mail' },
            { label: 'Orders' },
          ],
          rows: customers.map(customerRow),
        }),
  ],
}
