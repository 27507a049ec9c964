/** @import { Child, InvoiceRow, OrderDetail, Receipt } from '../types.d.ts' */

import { h } from '../dom.js'
import { decimal, money, sum } from '../format.js'
import { cell, dateWithPersian, name, table } from '../pieces.js'

/** @type {Record<string, string>} */
const RECEIPT_TYPES = { cash: 'Cash', transfer: 'Transfer', pos: 'Card reader (pos)' }

/** @param {string} label @param {Child} value */
const fact = (label, value) => h('div', {}, h('dt', {}, label), h('dd', {}, value))

/** @param {OrderDetail} order */
const customerBlock = ({ customer }) =>
  h(
    'div',
    { class: 'bill-to' },
    h('h3', {}, 'Customer'),
    customer === null
      ? h('p', { class: 'muted' }, 'None')
      : [
          h('p', { class: 'bill-name' }, name(customer.name || customer.code)),
          h(
            'p',
            { class: 'muted' },
            [customer.code === customer.mobile ? null : customer.code, customer.mobile, customer.email]
              .filter(part => part !== null && part !== '')
              .map((part, index) => [index > 0 && ' · ', h('bdi', { class: 'nowrap' }, part)]),
          ),
        ],
  )

/** @param {OrderDetail} order */
const invoiceHead = order =>
  h(
    'header',
    { class: 'invoice-head' },
    h(
      'div',
      { class: 'invoice-title' },
      h('h2', { id: 'invoice' }, 'Invoice ', h('span', { class: 'invoice-number' }, order.invoice_number)),
      h('span', { class: `stamp stamp-${order.invoice_status}` }, order.invoice_status),
    ),
    h(
      'dl',
      { class: 'facts' },
      fact('Date', dateWithPersian(order.date)),
      fact('Order', [name(order.external_id), h('span', { class: 'source' }, name(order.source))]),
    ),
    customerBlock(order),
  )

const COLUMNS = [
  { label: 'Item' },
  { label: 'Quantity', kind: 'number' },
  { label: 'Unit price', kind: 'number' },
  { label: 'Discount', kind: 'number' },
  { label: 'Amount', kind: 'number' },
  { label: 'Discount share', kind: 'number' },
  { label: 'Net', kind: 'number' },
  { label: 'Tax', kind: 'number' },
  { label: 'Total', kind: 'number' },
]

/**
 * A discount is taken off; none is a dash, which narrow screens leave out.
 *
 * @param {string} label
 * @param {string} amount
 */
const takenCell = (label, amount) =>
  amount === '0' ? cell(label, '–', 'number muted none') : cell(label, `−${money(amount)}`, 'number')

/** @param {InvoiceRow} row */
const invoiceRow = row =>
  h(
    'tr',
    { role: 'row', class: `row-${row.kind}` },
    h(
      'th',
      { role: 'rowheader', scope: 'row', class: 'cell-item' },
      name(row.name),
      row.sku !== null && h('span', { class: 'sku' }, h('bdi', {}, row.sku)),
    ),
    cell('Quantity', decimal(row.quantity), 'number'),
    cell('Unit price', money(row.unit_price), 'number'),
    takenCell('Discount', row.discount),
    cell('Amount', money(row.amount), 'number'),
    takenCell('Discount share', row.orderDiscount),
    cell('Net', money(row.net), 'number'),
    cell('Tax', money(row.tax), 'number'),
    cell('Total', money(sum(row.net, row.tax)), 'number strong'),
  )

/** @param {OrderDetail} order */
const totalsBlock = ({ totals, tax_rate, prices_include_tax }) =>
  h(
    'dl',
    { class: 'totals' },
    fact('Amount', money(totals.amount)),
    totals.orderDiscount !== '0' && fact('Order discount', `−${money(totals.orderDiscount)}`),
    fact('Net', money(totals.net)),
    fact(`Tax ${decimal(tax_rate)} %${prices_include_tax ? ', in the prices' : ''}`, money(totals.tax)),
    h(
      'div',
      { class: 'grand' },
      h('dt', {}, 'Total'),
      h('dd', {}, money(totals.total), h('span', { class: 'unit' }, ' rials')),
    ),
  )

/** @param {Receipt} receipt */
const receiptBlock = receipt =>
  h(
    'section',
    { class: 'document', 'data-key': 'receipt', 'aria-labelledby': 'receipt' },
    h('h3', { id: 'receipt' }, `Receipt ${receipt.number}`),
    h(
      'dl',
      { class: 'facts' },
      fact('Type', RECEIPT_TYPES[receipt.type] ?? receipt.type),
      fact('Amount', `${money(receipt.amount)} rials`),
      fact('Date', dateWithPersian(receipt.date)),
      fact('Account', name(receipt.account.name)),
      receipt.reference && fact('Reference', h('bdi', { class: 'code' }, receipt.reference)),
    ),
  )

/** @param {NonNullable<OrderDetail['return']>} salesReturn */
const returnBlock = salesReturn =>
  h(
    'section',
    { class: 'document document-return', 'data-key': 'return', 'aria-labelledby': 'return' },
    h('h3', { id: 'return' }, `Sales return ${salesReturn.number}`),
    h(
      'dl',
      { class: 'facts' },
      fact('Date', dateWithPersian(salesReturn.date)),
      fact('Stock', 'All goods are back in stock'),
      salesReturn.reason && fact('Reason', name(salesReturn.reason)),
    ),
  )

/**
 * The invoice as an invoice is drawn, with the documents that belong to it.
 *
 * @param {OrderDetail} order
 */
export const invoice = order =>
  h(
    'article',
    { class: 'invoice', 'data-key': 'invoice', 'aria-labelledby': 'invoice' },
    invoiceHead(order),
    h(
      'div',
      { class: 'scrolls', role: 'region', tabindex: 0, 'aria-label': 'Rows of the invoice' },
      table({
        caption: `Rows of invoice ${order.invoice_number}, in rials`,
        kind: 'invoice-rows stacks',
        columns: COLUMNS,
        rows: order.rows.map(invoiceRow),
      }),
    ),
    totalsBlock(order),
    (order.receipt !== null || order.return !== null) &&
      h(
        'div',
        { class: 'documents' },
        order.receipt !== null && receiptBlock(order.receipt),
        order.return !== null && returnBlock(order.return),
      ),
  )
