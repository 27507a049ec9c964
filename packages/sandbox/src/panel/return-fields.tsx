import { Field, FormContext } from '@order-relay/web/form.tsx'
import { decimal, serial } from '@order-relay/web/format.ts'
import { useContext } from 'preact/hooks'
import type { SchemaData } from './api.ts'
import { DateField } from './money.tsx'
import { t } from './persian.ts'

type Order = SchemaData<'OrderDetail'>

/** The rows with goods that can be returned. */
export const openRows = ({ rows }: Order) => rows.filter(({ left }) => Number(left) > 0)

const SCOPES = [
  ['all', t('All remaining goods')],
  ['some', t('Some of the goods')],
] as const

/** All remaining goods, or the quantity of each row; a row that is left empty is not returned. */
export const ReturnFields = ({ order, date }: { order: Order; date: string }) => {
  const { draft } = useContext(FormContext)
  const rows = openRows(order)
  const isOne = rows.length === 1
  return (
    <div class="pairs">
      {!isOne && <Field name="scope" label={t('What to return')} options={SCOPES} value="all" />}
      {(isOne || draft.value.scope === 'some') &&
        rows.map(({ row, name, left, unit_price }, index) => (
          <Field
            key={row}
            name={`rows[${index}].quantity`}
            // Rows of the same product may have different prices.
            label={t('Row {row}: return of {name}', { row: serial(row), name })}
            kind="number"
            value={isOne ? left : ''}
            help={t('At most {left}, at {price} rials each', {
              left: decimal(left),
              price: decimal(unit_price),
            })}
          />
        ))}
      <DateField date={date} />
      <Field name="reason" label={t('Reason')} />
    </div>
  )
}
