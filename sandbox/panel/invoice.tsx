import type { ComponentChildren } from 'preact'
import { decimal, sum } from '../../web/format.ts'
import {
  Chip,
  Code,
  type Column,
  DayInBoth,
  Facts,
  Name,
  Scrolls,
  Table,
  type Tone,
} from '../../web/pieces.tsx'
import type { Answer } from './api.ts'
import { StoreName } from './pieces.tsx'

type Order = Answer<'OrderDetail'>
type Row = Order['rows'][number]

const INVOICE = { draft: 'Draft', posted: 'Posted' }

const RECEIPT_TYPES = { cash: 'Cash', transfer: 'Transfer', pos: 'Card reader' }

const Customer = ({ customer }: Pick<Order, 'customer'>) => {
  if (customer === null) return <p class="muted">No customer</p>
  const { code, name, mobile, email } = customer
  const details = [code === mobile ? null : code, mobile, email].filter(Boolean).join(' · ')
  return (
    <div>
      <p class="small muted">Customer</p>
      <p class="strong">
        <Name>{name || code}</Name>
      </p>
      <p class="muted">
        <bdi dir="ltr">{details}</bdi>
      </p>
    </div>
  )
}

const amount = (label: string, of: (row: Row) => string | number, kind = ''): Column<Row> => ({
  label,
  kind: `number ${kind}`,
  cell: row => decimal(of(row)),
})

/** What is taken off. */
const taken = (label: string, of: (row: Row) => string): Column<Row> => ({
  label,
  kind: 'number',
  cell: row => (of(row) === '0' ? <span class="none">–</span> : `−${decimal(of(row))}`),
})

const COLUMNS: Column<Row>[] = [
  {
    label: 'Item',
    cell: ({ name, sku }) => (
      <>
        <Name>{name}</Name>
        {sku !== null && (
          <span class="sku small muted">
            <Code>{sku}</Code>
          </span>
        )}
      </>
    ),
  },
  amount('Quantity', row => row.quantity),
  amount('Unit price', row => row.unit_price),
  taken('Discount', row => row.discount),
  amount('Amount', row => row.amount),
  taken('Discount share', row => row.orderDiscount),
  amount('Net', row => row.net),
  amount('Tax', row => row.tax),
  amount('Total', row => sum(row.net, row.tax), 'strong'),
]

const Totals = ({ totals, tax_rate, prices_include_tax }: Order) => (
  <Facts
    kind="totals"
    facts={{
      Amount: decimal(totals.amount),
      'Order discount': totals.orderDiscount !== '0' && `−${decimal(totals.orderDiscount)}`,
      Net: decimal(totals.net),
      [`Tax ${decimal(tax_rate)} %${prices_include_tax ? ', in the prices' : ''}`]: decimal(totals.tax),
      Total: (
        <>
          {decimal(totals.total)}
          <span class="small muted"> rials</span>
        </>
      ),
    }}
  />
)

type Document = readonly [title: string, tone: Tone, facts: Record<string, ComponentChildren>]

/** What belongs to an invoice: its receipt and its return. */
const documentsOf = ({ receipt, return: goods }: Order): Document[] => [
  ...(receipt === null ? [] : [[`Receipt ${receipt.number}`, 'good', receiptFacts(receipt)] as const]),
  ...(goods === null ? [] : [[`Sales return ${goods.number}`, 'undone', returnFacts(goods)] as const]),
]

const receiptFacts = ({ type, amount, date, account, reference }: NonNullable<Order['receipt']>) => ({
  Type: RECEIPT_TYPES[type],
  Amount: `${decimal(amount)} rials`,
  Date: <DayInBoth date={date} />,
  Account: <Name>{account.name}</Name>,
  Reference: reference && <Code>{reference}</Code>,
})

const returnFacts = ({ date, reason }: NonNullable<Order['return']>) => ({
  Date: <DayInBoth date={date} />,
  Stock: 'All goods are back in stock',
  Reason: reason && <Name>{reason}</Name>,
})

/** The invoice as an invoice is drawn, with the documents that belong to it. */
export const Invoice = ({ order }: { order: Order }) => (
  <article class="card invoice" aria-labelledby="invoice">
    <header class="row spread">
      <div>
        <div class="row">
          <h2 id="invoice">
            Invoice <span class="muted">№</span> {order.invoice_number}
          </h2>
          <Chip tone={order.invoice_status === 'draft' ? 'wait' : 'good'}>
            {INVOICE[order.invoice_status]}
          </Chip>
        </div>
        <Customer {...order} />
      </div>
      <Facts
        facts={{
          Date: <DayInBoth date={order.date} />,
          Order: (
            <>
              <Name>{order.external_id}</Name> <StoreName {...order} />
            </>
          ),
        }}
      />
    </header>
    <Scrolls label="Rows of the invoice">
      <Table
        caption={`Rows of invoice ${order.invoice_number}, in rials`}
        kind="invoice-rows"
        columns={COLUMNS}
        rows={order.rows}
        keyOf={row => String(order.rows.indexOf(row))}
      />
    </Scrolls>
    <Totals {...order} />
    {documentsOf(order).map(([title, tone, facts]) => (
      <section key={title} class="document row" data-tone={tone} aria-label={title}>
        <h3>{title}</h3>
        <Facts facts={facts} />
      </section>
    ))}
  </article>
)
