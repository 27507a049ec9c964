/** @import { Account, Context, OrderDetail } from '../types.d.ts' */
/** @import { Service } from './order.js' */
/** @import { Shortage } from '../causes.js' */

import { postAction, putProduct, putSettings } from '../api.js'
import { causesOf, isMended } from '../causes.js'
import { h } from '../dom.js'
import { field, onSubmit, requireNumber, textOf } from '../form.js'
import { decimal, formatDate } from '../format.js'
import { name, statusName } from '../pieces.js'
import { linkTo } from '../router.js'

/**
 * How the last retry ended, told until the page is left.
 *
 * @type {{ retried: boolean }}
 */
const state = { retried: false }

export const resetReview = () => {
  state.retried = false
}

/** @param {string} sku */
const stockName = sku => `stock:${sku}`

/** @param {Shortage} shortage @param {number} index */
const shortageField = ({ sku, name: product, needed, stock }, index) =>
  h(
    'li',
    { 'data-key': stockName(sku) },
    field(
      {
        id: `fix-stock-${index}`,
        label: `Stock of ${sku}`,
        help: `The order takes ${decimal(needed)}, the service has ${decimal(stock)}.`,
        kind: 'narrow',
      },
      attributes =>
        h('input', {
          ...attributes,
          name: stockName(sku),
          inputmode: 'decimal',
          autocomplete: 'off',
          value: needed,
        }),
    ),
    h('p', { class: 'fix-about' }, name(product), ' · ', h('a', { href: linkTo(['products']) }, 'Products')),
  )

const finalizationField = () =>
  h(
    'li',
    { 'data-key': 'finalization' },
    field(
      {
        id: 'fix-finalization',
        label: 'Switch automatic finalization on',
        help: 'It is off, so every invoice stays a draft. This applies to all orders.',
        kind: 'check',
      },
      attributes =>
        h('input', { ...attributes, name: 'automaticFinalization', type: 'checkbox', checked: true }),
    ),
    h('p', { class: 'fix-about' }, h('a', { href: linkTo(['settings']) }, 'Settings')),
  )

/** @param {Account[]} accounts */
const accountField = accounts =>
  h(
    'li',
    { 'data-key': 'account' },
    field(
      {
        id: 'fix-account',
        label: 'Order payment receiving account',
        help: 'None is selected, so the held payment has nowhere to go. This applies to all orders.',
      },
      attributes =>
        h(
          'select',
          { ...attributes, name: 'orderPaymentReceivingAccount' },
          accounts.map(({ code, name: account, kind }) =>
            h(
              'option',
              { value: code, dir: 'auto' },
              `${account} (${kind === 'cash' ? 'cash box' : 'bank'})`,
            ),
          ),
        ),
    ),
    h('p', { class: 'fix-about' }, h('a', { href: linkTo(['settings']) }, 'Settings')),
  )

/** @param {OrderDetail} order @param {Service} service @param {HTMLFormElement} form */
const mend = async (order, service, form) => {
  const { shortages, finalizationOff, accountMissing } = causesOf(order, service)
  const stocks = shortages.map(({ sku }) => ({
    sku,
    stock: requireNumber(form, stockName(sku), `the stock of ${sku}`),
  }))
  for (const { sku, stock } of stocks) await putProduct(sku, { stock })
  const switchOn = finalizationOff && new FormData(form).has('automaticFinalization')
  const account = accountMissing ? textOf(form, 'orderPaymentReceivingAccount') : ''
  if (switchOn || account !== '') {
    await putSettings({
      ...(switchOn && { automaticFinalization: true }),
      ...(account !== '' && { orderPaymentReceivingAccount: account }),
    })
  }
}

/** @param {OrderDetail} order */
const heldPayment = ({ held_payment, date }) =>
  held_payment !== null &&
  h(
    'p',
    { class: 'held' },
    h('strong', {}, 'A payment is held'),
    `: ${held_payment.method}, ${formatDate(held_payment.date ?? date)}`,
    held_payment.reference && [', reference ', h('bdi', { class: 'code' }, held_payment.reference)],
    '. It is registered by itself once the invoice is finalized.',
  )

/**
 * Why the order waits, what mends it right here, and *Fix and retry*.
 *
 * @param {OrderDetail} order
 * @param {Service} service
 * @param {Context} context
 */
export const review = (order, service, context) => {
  const causes = causesOf(order, service)
  const mended = isMended(causes)
  const submit = onSubmit(async form => {
    await mend(order, service, form)
    await postAction(order, 'retry')
    state.retried = true
    await context.reload()
    document.getElementById('outcome')?.focus()
  })
  return h(
    'section',
    { class: 'review', 'data-key': 'review', 'aria-labelledby': 'review-title' },
    h('h2', { id: 'review-title' }, 'Needs review'),
    h(
      'p',
      { class: 'review-error' },
      h('bdi', { dir: 'auto' }, order.error ?? 'The invoice is still a draft.'),
    ),
    heldPayment(order),
    h(
      'form',
      { class: 'fixes', novalidate: true, onsubmit: submit, 'aria-label': 'Fix and retry' },
      mended
        ? h('p', { class: 'mended' }, 'Nothing stands in the way any more.')
        : h(
            'ul',
            { class: 'fix-list' },
            causes.shortages.map(shortageField),
            causes.finalizationOff && finalizationField(),
            causes.accountMissing && accountField(service.accounts),
          ),
      h('p', { class: 'form-error', role: 'alert' }),
      h(
        'div',
        { class: 'actions' },
        h('button', { type: 'submit', class: 'button primary' }, mended ? 'Retry' : 'Fix and retry'),
      ),
      state.retried &&
        h(
          'p',
          { class: 'still', id: 'outcome', tabindex: -1, role: 'status' },
          'Retried, and it still needs review. The reason above is current.',
        ),
    ),
  )
}

/**
 * Tells how the retry ended once the order is out of review.
 *
 * @param {OrderDetail} order
 */
export const outcome = order => {
  if (!state.retried) return null
  const documents = [
    `invoice ${order.invoice_number} is finalized`,
    order.receipt_number !== null && `receipt ${order.receipt_number} is registered`,
  ].filter(part => part !== false)
  return h(
    'section',
    { class: 'outcome', 'data-key': 'outcome', id: 'outcome', tabindex: -1, 'aria-label': 'Outcome' },
    h(
      'p',
      {},
      h('strong', {}, `The order is now ${statusName(order.status).toLowerCase()}: `),
      `${documents.join(', ')}.`,
    ),
  )
}
