import type { FieldProps } from '@order-relay/web/form.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { decimal, formatDate, serial } from '@order-relay/web/format.ts'
import { isolated } from '@order-relay/web/language.ts'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'
import { PAYMENT_METHODS } from './pieces.tsx'

type Order = SchemaData<'OrderDetail'>

export type Document = Order['receipts' | 'returns' | 'repayments'][number]

/** What distinguishes documents of the same amount. */
const detailsOf = (document: Document) => {
  const date = formatDate(document.date)
  if ('reason' in document) return [date, document.reason && isolated(document.reason)]
  const { account, method, reference } = document
  return [date, isolated(account?.name ?? t('None selected')), PAYMENT_METHODS[method], reference]
}

/**
 * The choice of one of several documents.
 *
 * @param others what chooses none, and all
 */
export const choiceOf = (
  name: string,
  label: string,
  documents: readonly Document[],
  [none, all]: readonly [none: string, all: string],
): FieldProps[] =>
  documents.length === 1
    ? []
    : [
        {
          name,
          label,
          options: [
            ['', none],
            ['all', all],
            ...documents.map(document => {
              const [receipt, amount] = [serial(document.number), decimal(document.amount)]
              const details = detailsOf(document).filter(Boolean).join(t(', '))
              return [
                String(document.number),
                t('{receipt}: {amount} rials, {details}', { receipt, amount, details }),
              ] as const
            }),
          ],
        },
      ]

/** The number of the chosen document as a field of the body, or no field for all documents. A single document needs no choice. */
export const chosenIn = (name: string, documents: readonly Document[], { required }: Values) => {
  const chosen = documents.length === 1 ? documents[0]?.number : required(name)
  return chosen === 'all' ? {} : { [name]: Number(chosen) }
}
