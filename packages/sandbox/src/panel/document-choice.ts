import type { FieldProps, Values } from '@order-relay/web/form.tsx'
import { decimal, formatDate, serial } from '@order-relay/web/format.ts'
import { isolated } from '@order-relay/web/language.ts'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'
import { PAYMENT_METHODS } from './pieces.tsx'

type Order = SchemaData<'OrderDetail'>

type Document = Order['receipts'][number] | Order['repayments'][number]

/** What distinguishes payments of the same amount. */
const detailsOf = ({ date, account, method, reference }: Document) =>
  [formatDate(date), isolated(account?.name ?? t('None selected')), PAYMENT_METHODS[method], reference]
    .filter(Boolean)
    .join(t(', '))

export const RECEIPTS = [
  ['', t('Select a receipt')],
  ['all', t('All receipts')],
] as const

export const REPAYMENTS = [
  ['', t('Select a repayment')],
  ['all', t('All repayments')],
] as const

/** The choice of one of several documents. */
export const choiceOf = (
  name: string,
  label: string,
  documents: readonly Document[],
  others: typeof RECEIPTS | typeof REPAYMENTS,
): FieldProps[] =>
  documents.length === 1
    ? []
    : [
        {
          ...{ name, label },
          options: [
            ...others,
            ...documents.map(document => {
              const [receipt, amount] = [serial(document.number), decimal(document.amount)]
              const details = detailsOf(document)
              return [
                String(document.number),
                t('{receipt}: {amount} rials, {details}', { receipt, amount, details }),
              ] as const
            }),
          ],
        },
      ]

/** The number of the chosen document for the service, which takes none for all. */
export const chosenIn = (name: string, documents: readonly Document[], { required }: Values) => {
  const chosen = documents.length === 1 ? 'all' : required(name)
  return chosen === 'all' ? {} : { [name]: Number(chosen) }
}
