import { decimal, serial } from '@order-relay/web/format.ts'
import { choices, language } from '@order-relay/web/language.ts'
import { Code, Day, DayInBoth, Name } from '@order-relay/web/pieces.tsx'
import type { ComponentChildren } from 'preact'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'
import { PAYMENT_METHODS, RECEIPT_TYPES } from './pieces.tsx'
import { numberInWords } from './words.ts'

/** Persian invoices have the Jalali date only, unless the reader chooses the Gregorian calendar. */
export const InvoiceDay = language === 'fa' && choices.calendar.chosen === 'persian' ? Day : DayInBoth

type Order = SchemaData<'OrderDetail'>

/** What a document that is handed out alone says about its invoice and its amount. */
const printedFacts = (what: ComponentChildren, amount: string) => {
  const words = numberInWords(amount, language)
  return {
    [t('For')]: what,
    [t('In words')]: words !== undefined && t('{amount} rials', { amount: words }),
  }
}

type Documents = Pick<Order, 'receipts' | 'repayments'> & {
  returns: readonly Omit<Order['returns'][number], 'shortages'>[]
}

type Cancelled = { cancelled_at: string; cancel_reason: string | null }

/** When and why a document was cancelled, if it was. */
const cancellationOf = (document: object): { cancelled?: Cancelled } =>
  'cancelled_at' in document ? { cancelled: document as Cancelled } : {}

/** The documents of an invoice: its receipts, its returns and its repayments. */
export const documentsOf = (order: Order, { receipts, returns, repayments }: Documents = order) => {
  const about = {
    number: serial(order.invoice_number),
    date: <InvoiceDay date={order.date} />,
    order: <Name>{order.external_id}</Name>,
  }
  const invoice = t('Sales invoice {number} of {date}, order {order}', about)
  return [
    ...receipts.map(receipt => ({
      id: `receipt-${receipt.number}`,
      title: t('Receipt {number}', { number: serial(receipt.number) }),
      tone: 'good',
      facts: {
        [t('Method')]: PAYMENT_METHODS[receipt.method],
        [t('Booked as')]: RECEIPT_TYPES[receipt.type],
        [t('Amount')]: t('{amount} rials', { amount: decimal(receipt.amount) }),
        [t('Date')]: <InvoiceDay date={receipt.date} />,
        [t('Account')]: receipt.account ? <Name>{receipt.account.name}</Name> : t('None selected'),
        [t('Reference')]: receipt.reference && <Code>{receipt.reference}</Code>,
        [t('Note')]: receipt.note && <Name>{receipt.note}</Name>,
      },
      printed: printedFacts(
        receipt.amount === order.total
          ? invoice
          : t('A part of sales invoice {number} of {date}, order {order}', about),
        receipt.amount,
      ),
      rows: undefined,
      ...cancellationOf(receipt),
    })),
    ...returns.map(goods => ({
      id: `return-${goods.number}`,
      title: t('Sales return {number}', { number: serial(goods.number) }),
      tone: 'undone',
      facts: {
        [t('Amount')]: t('{amount} rials', { amount: decimal(goods.amount) }),
        [t('Date')]: <InvoiceDay date={goods.date} />,
        [t('Reason')]: goods.reason && <Name>{goods.reason}</Name>,
      },
      printed: printedFacts(invoice, goods.amount),
      rows: goods.rows,
      ...cancellationOf(goods),
    })),
    ...repayments.map(repayment => ({
      id: `repayment-${repayment.number}`,
      title: t('Repayment {number}', { number: serial(repayment.number) }),
      tone: 'undone',
      facts: {
        [t('Method')]: PAYMENT_METHODS[repayment.method],
        [t('Amount')]: t('{amount} rials', { amount: decimal(repayment.amount) }),
        [t('Date')]: <InvoiceDay date={repayment.date} />,
        [t('Account')]: <Name>{repayment.account.name}</Name>,
        [t('Reference')]: repayment.reference && <Code>{repayment.reference}</Code>,
        [t('Note')]: repayment.note && <Name>{repayment.note}</Name>,
      },
      printed: printedFacts(
        t('The credit of the buyer from sales invoice {number} of {date}, order {order}', about),
        repayment.amount,
      ),
      rows: undefined,
      ...cancellationOf(repayment),
    })),
  ]
}
