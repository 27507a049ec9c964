import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import * as v from 'valibot'
import * as accountant from '../actions/accountant.ts'
import { rehearsed } from '../actions/change.ts'
import { correctOrder } from '../actions/correct.ts'
import { showOrder } from '../actions/panel.ts'
import { reverse } from '../actions/reverse.ts'
import * as requests from '../panel-requests.ts'
import type { Store } from '../store/open.ts'
import { accepts, type Endpoint, type EndpointRequest, endpointsFor, keyOf, SOURCE } from './endpoint.ts'

const { post } = endpointsFor('local')

/** An action of the accountant on an order; returns the order after it. */
const changed = (
  request: EndpointRequest,
  act: (key: OrderKey, store: Store) => void,
  source?: string | null,
) => {
  const key = keyOf(request, source)
  act(key, request.store)
  return showOrder(key, request.store)
}

const action = (
  name: string,
  id: string,
  summary: string,
  { example, ...about }: Pick<Endpoint, 'description' | 'body' | 'handle'> & { example?: unknown },
) =>
  post(`/panel/orders/{external_id}/${name}`, id, summary, {
    ...about,
    query: SOURCE,
    example: { path: { external_id: '1001' }, body: example },
    answers: { 200: { schema: 'OrderDetail', when: 'The order after the action.' } },
    refusals: {
      400: 'The body is invalid, or a document is dated outside the open fiscal years.',
      409: 'The state of the order does not allow the action; the message says what to do first.',
    },
  })

/** The accountant's actions on an order. */
export const actionEndpoints: readonly Endpoint[] = [
  action('review', 'reviewOrder', 'Move an order back to review', {
    description:
      'Makes the invoice a draft again. Its returns and receipts are cancelled, the payments are held, and goods that were not returned go back to stock. A dry run returns the same response, with its `warnings`, and changes nothing.',
    example: { error: 'The customer asked for other goods' },
    ...accepts(requests.review, ['Review'], ({ error, dryRun }, request) =>
      rehearsed(dryRun, request.store, () =>
        changed(request, (key, store) => accountant.reviewOrder(key, error, store)),
      ),
    ),
  }),
  action('correct', 'correctOrder', 'Correct an order', {
    description:
      'Reprices the invoice with its tax rate and number, and adjusts the stock if the invoice is finalized. The total of a paid order can change only after its payment is reversed. A dry run returns the same response and changes nothing.',
    example: { items: [{ sku: 'SKU-2', quantity: 1.5, unit_price: 1250000 }], shipping: 0 },
    ...accepts(requests.correction, ['Correction'], ({ dryRun, ...change }, request) =>
      rehearsed(dryRun, request.store, () =>
        changed(request, (key, store) => correctOrder(key, change, store)),
      ),
    ),
  }),
  action('retry', 'retryOrder', 'Finalize a draft again', {
    description:
      'Use it after fixing the cause, or to set the missing `stock`, which the history records, and to change `settings`. On success, the held payment is registered. If a cause remains, the order stays in `needs_review` and no webhook is sent.',
    example: { stock: [{ sku: 'SKU-3', stock: 5 }] },
    ...accepts(v.optional(requests.retry, {}), ['RetryRequest'], (fix, request) =>
      changed(request, (key, store) => accountant.retryOrder(key, store, fix)),
    ),
  }),
  action('reverse-payment', 'reversePayment', 'Reverse a payment', {
    description:
      'Cancels a receipt whose money did not arrive, or all receipts of the order. The order is `invoiced` again unless other receipts cover its total. A dry run returns the same response, with its `warnings`, and changes nothing.',
    ...accepts(
      v.optional(requests.reversal, {}),
      ['Reversal'],
      ({ receipt: number, reason, dryRun }, request) =>
        rehearsed(dryRun, request.store, () =>
          changed(request, (key, store) => reverse('receipt', key, { number, reason }, store)),
        ),
    ),
  }),
  action('pay', 'payOrder', 'Register a payment', {
    description:
      'Pays an `amount` of an invoiced order into an `account`: by default, the amount due into the receiving account of the settings. Until its receipts cover its total, the order stays `invoiced` and the order result has no receipt number. A dry run returns the same response, with its `warnings`, and changes nothing.',
    example: { method: 'transfer', reference: '98765' },
    ...accepts(requests.panelPayment, ['PanelPaymentRequest'], ({ dryRun, ...paid }, request) =>
      rehearsed(dryRun, request.store, () =>
        changed(request, (key, store) => accountant.payOrder(key, paid, store)),
      ),
    ),
  }),
  action('return', 'returnOrder', 'Register a return', {
    description:
      'Returns the given quantities of `rows` of an invoiced or paid order, or all remaining goods, and puts the goods back in stock. The order is `refunded` once everything is returned; until then, its returns are not in the order result. A dry run returns the same response and changes nothing.',
    ...accepts(
      v.optional(requests.panelReturn, {}),
      ['ReturnRequest'],
      ({ source, dryRun, ...change }, request) =>
        rehearsed(dryRun, request.store, () =>
          changed(request, (key, store) => accountant.returnOrder(key, change, store), source),
        ),
    ),
  }),
  action('repay', 'repayOrder', 'Register a repayment', {
    description:
      'Registers money that is paid back to the buyer of a paid or returned order with a credit, that is, a negative `balance`. The status does not change, and no webhook is sent.',
    example: { method: 'transfer', reference: '54321', amount: 1000 },
    ...accepts(requests.repayment, ['Repayment'], (repayment, request) =>
      changed(request, (key, store) => accountant.repayOrder(key, repayment, store)),
    ),
  }),
  action('reverse-repayment', 'reverseRepayment', 'Reverse a repayment', {
    description: 'Cancels a repayment that was not made, or all repayments of the order.',
    ...accepts(
      v.optional(requests.repaymentReversal, {}),
      ['RepaymentReversal'],
      ({ repayment: number, reason }, request) =>
        changed(request, (key, store) => reverse('repayment', key, { number, reason }, store)),
    ),
  }),
  action('reverse-return', 'reverseReturn', 'Reverse a return', {
    description:
      'Cancels a return that did not take place, or all returns of the order, and takes the goods from stock again. The order is `paid` or `invoiced` again. A dry run returns the same response and changes nothing.',
    ...accepts(
      v.optional(requests.returnReversal, {}),
      ['ReturnReversal'],
      ({ return: number, reason, dryRun }, request) =>
        rehearsed(dryRun, request.store, () =>
          changed(request, (key, store) => reverse('return', key, { number, reason }, store)),
        ),
    ),
  }),
]
