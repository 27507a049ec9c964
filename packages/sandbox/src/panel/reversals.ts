import { decimal } from '@order-relay/web/format.ts'
import { repaymentReversal, returnReversal, reversal as reversalRules } from '../panel-requests.ts'
import { type Action, newStatus, newWarnings, resultsOf } from './action.ts'
import { choiceOf, chosenIn, type Document } from './document-choice.ts'
import { t } from './persian.ts'
import { creditOf, numbersOf } from './pieces.tsx'

/** What differs between the reversals of receipts, returns and repayments. */
type Reversal = Pick<Action, 'label' | 'statuses' | 'effect' | 'rules' | 'resultOf' | 'doneOf'> & {
  kind: 'receipt' | 'return' | 'repayment'
  documentsOf: (order: Parameters<Action['effect']>[0]) => readonly Document[]
  document: string
  /** Nothing is chosen, or all documents. */
  others: Parameters<typeof choiceOf>[3]
}

/** The reversal of a document that was registered by mistake, or of all. */
const reversal = ({ kind, documentsOf, document, others, ...rest }: Reversal): Action => ({
  name: kind === 'receipt' ? 'reverse-payment' : `reverse-${kind}`,
  ...rest,
  isPossible: order => documentsOf(order).length > 0,
  fields: order => [
    ...choiceOf(kind, document, documentsOf(order), others),
    { name: 'reason', label: t('Reason'), help: t('Optional; for the history and the document.') },
  ],
  bodyOf: (values, order) => ({
    ...chosenIn(kind, documentsOf(order), values),
    reason: values.text('reason'),
  }),
})

export const REVERSE_PAYMENT = reversal({
  kind: 'receipt',
  label: t('Reverse payment'),
  rules: reversalRules,
  statuses: ['invoiced', 'paid', 'refunded'],
  effect: ({ receipts }, sent) => [
    receipts.length === 1 && t('Receipt {receipt} is cancelled.', { receipt: numbersOf(receipts) }),
    t('If the remaining receipts do not cover the total less the returns, the order is invoiced again.'),
    sent,
  ],
  documentsOf: ({ receipts }) => receipts,
  resultOf: resultsOf(newStatus, newWarnings),
  document: t('Receipt'),
  others: [t('Select a receipt'), t('All receipts')],
})

export const REVERSE_RETURN = reversal({
  kind: 'return',
  label: t('Reverse return'),
  rules: returnReversal,
  statuses: ['invoiced', 'paid', 'refunded'],
  effect: ({ returns }, sent) => [
    returns.length === 1 && t('Sales return {number} is cancelled.', { number: numbersOf(returns) }),
    t('The goods leave the stock again, and the buyer owes their amount again.'),
    sent,
  ],
  documentsOf: ({ returns }) => returns,
  resultOf: newStatus,
  document: t('Sales return'),
  others: [t('Select a sales return'), t('All sales returns')],
})

export const REVERSE_REPAYMENT = reversal({
  kind: 'repayment',
  label: t('Reverse repayment'),
  rules: repaymentReversal,
  statuses: ['paid', 'refunded'],
  effect: ({ repayments }, sent) => [
    repayments.length === 1 && t('Repayment {repayment} is cancelled.', { repayment: numbersOf(repayments) }),
    sent !== '' && t('The status of the order does not change, and no webhook is sent.'),
  ],
  documentsOf: ({ repayments }) => repayments,
  doneOf: (after, before) => {
    const cancelled = before.repayments.filter(
      ({ number }) => !after.repayments.some(each => each.number === number),
    )
    return t(
      'Order {order}: {count|repayment|repayments} {numbers} {count|is|are} cancelled, and the buyer has a credit of {credit} rials',
      {
        order: after.external_id,
        count: cancelled.length,
        numbers: numbersOf(cancelled),
        credit: decimal(creditOf(after)),
      },
    )
  },
  document: t('Repayment'),
  others: [t('Select a repayment'), t('All repayments')],
})
