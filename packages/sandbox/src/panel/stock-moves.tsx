import { ask } from '@order-relay/web/dialog.tsx'
import { Choice, Pager, parameter } from '@order-relay/web/filters.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { decimal, serial } from '@order-relay/web/format.ts'
import { toast } from '@order-relay/web/notices.ts'
import {
  Button,
  type Column,
  Empty,
  Facts,
  LinkButton,
  Moment,
  Name,
  Table,
} from '@order-relay/web/pieces.tsx'
import { linkTo, type Route, route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { stockAdjustment } from '../panel-requests.ts'
import { change, movesOf, type SchemaData } from './api.ts'
import { issuesOf } from './issues.ts'
import { t } from './persian.ts'
import { linkToOrder } from './pieces.tsx'
import { Days } from './sums.tsx'

type Product = SchemaData<'Product'>
type Move = SchemaData<'StockMoves'>['moves'][number]

const PAGE_SIZE = 50

const CAUSES: Record<Move['kind'], string> = {
  issued: t('Invoice finalized'),
  returned: t('Goods returned'),
  return_reversed: t('Return reversed'),
  reviewed: t('Moved back to review'),
  corrected: t('Corrected'),
  set: t('Stock set'),
  adjusted: t('Stock adjusted'),
}

const COLUMNS: Column<Move>[] = [
  { label: t('Time'), kind: 'plain nowrap', cell: ({ at }) => <Moment iso={at} /> },
  {
    label: t('Reason'),
    kind: 'breaks',
    cell: ({ kind, reason, invoice_number, source, external_id }) => (
      <>
        {CAUSES[kind]}
        {reason !== null && (
          <p class="small muted">
            <Name>{reason}</Name>
          </p>
        )}
        {invoice_number !== null && source !== null && external_id !== null && (
          <p class="small muted">
            {t('Invoice {number} of order {order}', {
              number: serial(invoice_number),
              order: (
                <a href={linkToOrder({ source, external_id })}>
                  <Name>{external_id}</Name>
                </a>
              ),
            })}
          </p>
        )}
      </>
    ),
  },
  { label: t('Stock before'), kind: 'number', cell: ({ from }) => decimal(from) },
  { label: t('Change'), kind: 'number', cell: ({ change }) => decimal(change) },
  { label: t('Stock after'), kind: 'number strong', cell: ({ to }) => decimal(to) },
]

const adjustmentOf = ({ number, required }: Values) => ({
  change: number('change'),
  reason: required('reason'),
})

const askToAdjust = ({ sku, stock }: Product) =>
  ask({
    title: t('Adjust the stock of {code}', { code: sku }),
    action: t('Adjust stock'),
    text: t('In stock: {stock}.', { stock: decimal(stock) }),
    fields: [
      {
        name: 'change',
        label: t('Change'),
        kind: 'number',
        help: t('For example, 5 to add goods or -3 to remove them.'),
      },
      { name: 'reason', label: t('Reason'), help: t('For example, a stock count or breakage.') },
    ],
    check: values => issuesOf(stockAdjustment, adjustmentOf(values)),
    submit: async values => {
      const path = `products/${encodeURIComponent(sku)}/moves`
      const after = await change<Product>('POST', path, adjustmentOf(values))
      toast(t('Saved {code}: {stock} in stock', { code: sku, stock: decimal(after.stock) }))
    },
  })

const FILTERS = ['kind', 'from', 'to'] as const

const filterOf = ({ query }: Route) => Object.fromEntries(FILTERS.map(name => [name, query.get(name)]))

const Filters = () => (
  <search class="filters moves" data-keeps-focus>
    <div class="small">
      <span>{t('Reason')}</span>
      <Choice
        label={t('Reason')}
        {...parameter('kind')}
        options={[['', t('All')], ...Object.entries(CAUSES)]}
      />
    </div>
    <Days ignored={t('The list ignores this date.')} />
  </search>
)

/** The stock of a product and its changes, newest first. */
export const StockMoves = page(
  {
    title: ({ path }) => t('Stock of {code}', { code: path[1] ?? '' }),
    reads: route => ({
      list: movesOf(route.path[1] ?? '', {
        ...filterOf(route),
        before: route.query.get('cursor'),
        limit: PAGE_SIZE,
      }),
    }),
  },
  ({ list: { product, moves, next } }) => (
    <>
      <PageHead>
        <Button onClick={() => askToAdjust(product)}>{t('Adjust stock')}</Button>
      </PageHead>
      <Facts
        facts={{
          [t('Name')]: <Name>{product.name}</Name>,
          [t('Stock')]: (
            <>
              {decimal(product.stock)} <Name>{product.unit}</Name>
            </>
          ),
        }}
      />
      <Filters />
      <Table
        caption={t('Changes of the stock')}
        columns={COLUMNS}
        rows={moves}
        keyOf={({ number }) => String(number)}
      >
        {FILTERS.some(name => route.value.query.has(name)) ? (
          <Empty title={t('No change matches')}>
            <LinkButton href={linkTo(['products', product.sku])}>{t('Show all changes')}</LinkButton>
          </Empty>
        ) : (
          <Empty title={t('The stock has not changed')} />
        )}
      </Table>
      <Pager label={t('Pages of changes')} first={t('Newest')} cursor={next} />
    </>
  ),
)
