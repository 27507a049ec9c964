// What the accountant can do with an order besides fixing and retrying it.

/** @import { Child, Context, OrderDetail, Status } from '../types.d.ts' */

import { postAction } from '../api.js'
import { h } from '../dom.js'
import { ask, field, requireText, textOf } from '../form.js'
import { decimal, money } from '../format.js'
import { toast } from '../notices.js'
import { statusName } from '../pieces.js'

/** @typedef {{ name: string, label: string, statuses: Status[], effect: (order: OrderDetail) => string, fields?: (order: OrderDetail) => Child[], bodyOf?: (form: HTMLFormElement, order: OrderDetail) => object }} Action */

/** @param {string} name @param {string} label @param {string | number} [value] */
const input = (name, label, value = '') =>
  field({ id: `act-${name}`, label }, attributes =>
    h('input', { ...attributes, name, value, autocomplete: 'off', dir: 'auto' }),
  )

const METHODS = ['online', 'transfer', 'card', 'pos', 'cash']

/** @param {string} typed a number as the service reads it, with every digit */
const exact = typed => (/^\d+(\.\d+)?$/.test(typed) ? JSON.rawJSON(typed) : typed)

/** @param {OrderDetail} order */
const itemsOf = ({ rows }) => rows.filter(row => row.kind === 'item')

/** @param {OrderDetail} order */
const mobileOf = ({ customer }) => customer?.mobile ?? ''

/** @param {OrderDetail} order */
const shippingOf = ({ rows }) => rows.find(row => row.kind === 'shipping')?.unit_price ?? '0'

/** @param {HTMLFormElement} form @param {OrderDetail} order */
const correctionOf = (form, order) => ({
  items: itemsOf(order).map(({ sku, name, discount }, index) => ({
    ...{ sku, name, discount: exact(discount) },
    quantity: exact(textOf(form, `items[${index}].quantity`)),
    unit_price: exact(textOf(form, `items[${index}].unit_price`)),
  })),
  shipping: exact(textOf(form, 'shipping')),
  discount: exact(textOf(form, 'discount')),
  // The customer of an order without a mobile number may have been chosen by its settings at the time.
  ...(textOf(form, 'mobile') !== mobileOf(order) && { customer: { mobile: textOf(form, 'mobile') } }),
})

const WEBHOOK = 'A webhook is sent to every registered URL.'

/** @type {Action[]} */
const ACTIONS = [
  {
    name: 'pay',
    label: 'Register payment',
    statuses: ['invoiced'],
    effect: ({ total }) =>
      `A receipt of ${money(total)} rials is registered, and the order is paid. ${WEBHOOK}`,
    fields: () => [
      field({ id: 'act-method', label: 'Method' }, attributes =>
        h(
          'select',
          { ...attributes, name: 'method' },
          METHODS.map(method => h('option', { value: method }, method)),
        ),
      ),
      input('reference', 'Reference'),
    ],
    bodyOf: form => ({ method: textOf(form, 'method'), reference: textOf(form, 'reference') }),
  },
  {
    name: 'reverse-payment',
    label: 'Reverse payment',
    statuses: ['paid'],
    effect: ({ receipt_number }) =>
      `Receipt ${receipt_number} is cancelled, and the order is invoiced again. ${WEBHOOK}`,
  },
  {
    name: 'return',
    label: 'Register return',
    statuses: ['invoiced', 'paid'],
    effect: () => `All goods go back to stock, and the order is refunded. ${WEBHOOK}`,
    fields: () => [input('reason', 'Reason')],
    bodyOf: form => ({ reason: textOf(form, 'reason') }),
  },
  {
    name: 'review',
    label: 'Move back to review',
    statuses: ['invoiced', 'paid', 'refunded'],
    effect: ({ receipt_number, return_number }) =>
      [
        'The invoice is a draft again.',
        return_number === null
          ? 'Its goods go back to stock.'
          : `Sales return ${return_number} is cancelled.`,
        receipt_number !== null && `Receipt ${receipt_number} is cancelled and its payment held.`,
        WEBHOOK,
      ]
        .filter(part => part !== false)
        .join(' '),
    fields: () => [input('error', 'What to review')],
    bodyOf: form => ({ error: requireText(form, 'error', 'a reason') }),
  },
  {
    name: 'correct',
    label: 'Correct order',
    statuses: ['needs_review', 'invoiced', 'paid'],
    effect: ({ status, total }) =>
      status === 'paid'
        ? `The invoice is priced again. The total must stay ${money(total)} rials while the order is paid.`
        : `The invoice is priced again, at ${money(total)} rials until now. If the total changes, a webhook is sent.`,
    fields: order => [
      ...itemsOf(order).flatMap(({ name, quantity, unit_price }, index) => [
        input(`items[${index}].quantity`, `Quantity of ${name}`, quantity),
        input(`items[${index}].unit_price`, `Unit price of ${name}`, unit_price),
      ]),
      input('shipping', 'Shipping', shippingOf(order)),
      input('discount', 'Order discount', order.totals.orderDiscount),
      input('mobile', 'Mobile number of the customer', mobileOf(order)),
    ],
    bodyOf: correctionOf,
  },
]

/** @param {OrderDetail} order @param {Context} context @param {Action} action */
const askTo = (order, context, { name, label, effect, fields, bodyOf }) =>
  ask({
    title: `${label}: ${order.external_id}`,
    action: label,
    fields: [h('p', {}, effect(order)), ...(fields?.(order) ?? [])],
    submit: async form => {
      const { status, total } = await postAction(order, name, bodyOf?.(form, order))
      await context.reload()
      toast(`Order ${order.external_id}: ${statusName(status)}, ${decimal(total)} rials`)
    },
  })

/**
 * The buttons of the actions that the status allows.
 *
 * @param {OrderDetail} order
 * @param {Context} context
 */
export const actions = (order, context) =>
  h(
    'div',
    { class: 'actions', 'data-key': 'actions', role: 'group', 'aria-label': 'Actions' },
    ACTIONS.filter(({ statuses }) => statuses.includes(order.status)).map(action =>
      h(
        'button',
        {
          ...{ type: 'button', class: 'button', 'data-key': action.name },
          onclick: () => askTo(order, context, action),
        },
        action.label,
      ),
    ),
  )
