import { Pager } from '@order-relay/web/filters.tsx'
import { decimal, serial } from '@order-relay/web/format.ts'
import { type Column, Empty, Facts, Moment, Name, Table } from '@order-relay/web/pieces.tsx'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { movesOf, type SchemaData } from './api.ts'
import { t } from './persian.ts'
import { linkToOrder } from './pieces.tsx'

type Move = SchemaData<'StockMoves'>['moves'][number]

const PAGE_SIZE = 50

const CAUSES: Record<Move['kind'], string> = {
  issued: t('Invoice finalized'),
  returned: t('Goods returned'),
  return_reversed: t('Return reversed'),
  reviewed: t('Moved back to review'),
  corrected: t('Corrected'),
  set: t('Stock set'),
}

const COLUMNS: Column<Move>[] = [
  { label: t('Time'), kind: 'plain nowrap', cell: ({ at }) => <Moment iso={at} /> },
  {
    label: t('Reason'),
    kind: 'breaks',
    cell: ({ kind, invoice_number, source, external_id }) => (
      <>
        {CAUSES[kind]}
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

/** The stock of a product and its changes, newest first. */
export const StockMoves = page(
  {
    title: ({ path }) => t('Stock of {code}', { code: path[1] ?? '' }),
    reads: ({ path, query }) => ({
      list: movesOf(path[1] ?? '', { before: query.get('cursor'), limit: PAGE_SIZE }),
    }),
  },
  ({ list: { product, moves, next } }) => (
    <>
      <PageHead />
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
      <Table
        caption={t('Changes of the stock')}
        columns={COLUMNS}
        rows={moves}
        keyOf={({ number }) => String(number)}
      >
        <Empty title={t('The stock has not changed')} />
      </Table>
      <Pager label={t('Pages of changes')} first={t('Newest')} cursor={next} />
    </>
  ),
)
