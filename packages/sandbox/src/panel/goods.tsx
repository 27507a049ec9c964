import { decimal, serial } from '@order-relay/web/format.ts'
import { Code, type Column, Name } from '@order-relay/web/pieces.tsx'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'

type Goods = Pick<
  SchemaData<'OrderDetail'>['returns'][number]['rows'][number],
  'row' | 'name' | 'sku' | 'quantity' | 'unit' | 'unit_price'
>

/** The columns of an invoice or a return that say what a row is about. */
export const GOODS: readonly Column<Goods>[] = [
  {
    label: t('Item'),
    cell: ({ row, name, sku }) => (
      <>
        <span class="muted">{serial(row)}.</span> <Name>{name}</Name>
        {sku !== null && (
          <span class="sku small muted">
            <Code>{sku}</Code>
          </span>
        )}
      </>
    ),
    foot: t('Sum'),
  },
  { label: t('Quantity'), kind: 'number', cell: ({ quantity }) => decimal(quantity) },
  {
    label: t('Unit'),
    cell: ({ unit }) => (unit === null ? <span class="none">–</span> : <Name>{unit}</Name>),
  },
  { label: t('Unit price'), kind: 'number', cell: ({ unit_price }) => decimal(unit_price) },
]
