import { decimal, serial, sum } from '@order-relay/web/format.ts'
import { Chip, Code, type Column, DayInBoth, Facts, Name, Scrolls, Table } from '@order-relay/web/pieces.tsx'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'
import { StoreName } from './pieces.tsx'

type Order = SchemaData<'OrderDetail'>
type Row = Order['rows'][number]

const INVOICE = { draft: t('Draft'), posted: t('Posted') }

const RECEIPT_TYPES = { cash: t('Cash'), transfer: t('Transfer'), pos: t('Card reader') }

const Customer = ({ customer }: Pick<Order, 'customer'>) => {
  if (customer === null) return <p class="muted">{t('No customer')}</p>
  const { code, name, mobile, email } = customer
  const details = [code !== mobile && code, mobile, email].filter(Boolean).join(' · ')
  return (
    <div>
      <p class="small muted">{t('Customer')}</p>
      <p class="strong">
        <Name>{name || code}</Name>
      </p>
      <p class="muted">
        <Name>{details}</Name>
      </p>
    </div>
  )
}

const amount = (label: string, of: (row: Row) => string | number, kind = ''): Column<Row> => ({
  label,
  kind: `number ${kind}`,
  cell: row => decimal(of(row)),
})

/** A column of deductions. */
const taken = (label: string, of: (row: Row) => string): Column<Row> => ({
  label,
  kind: 'number',
  cell: row => (of(row) === '0' ? <span class="none">–</span> : decimal(`-${of(row)}`)),
})

const COLUMNS: Column<Row>[] = [
  {
    label: t('Item'),
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
  amount(t('Quantity'), row => row.quantity),
  amount(t('Unit price'), row => row.unit_price),
  taken(t('Discount'), row => row.discount),
  amount(t('Amount'), row => row.amount),
  taken(t('Discount share'), row => row.orderDiscount),
  amount(t('Net'), row => row.net),
  amount(t('Tax'), row => row.tax),
  amount(t('Total'), row => sum(row.net, row.tax), 'strong'),
]

const Totals = ({ totals, tax_rate, prices_include_tax }: Order) => {
  const rate = decimal(tax_rate)
  return (
    <Facts
      kind="totals"
      facts={{
        [t('Amount')]: decimal(totals.amount),
        [t('Order discount')]: totals.orderDiscount !== '0' && decimal(`-${totals.orderDiscount}`),
        [t('Net')]: decimal(totals.net),
        [prices_include_tax ? t('Tax {rate} %, in the prices', { rate }) : t('Tax {rate} %', { rate })]:
          decimal(totals.tax),
        [t('Total')]: (
          <>
            {decimal(totals.total)}
            <span class="small muted"> {t('rials')}</span>
          </>
        ),
      }}
    />
  )
}

/** The documents of an invoice: its receipt and its return. */
const documentsOf = ({ receipt, return: goods }: Order) => [
  receipt && {
    title: t('Receipt {number}', { number: serial(receipt.number) }),
    tone: 'good',
    facts: {
      [t('Type')]: RECEIPT_TYPES[receipt.type],
      [t('Amount')]: t('{amount} rials', { amount: decimal(receipt.amount) }),
      [t('Date')]: <DayInBoth date={receipt.date} />,
      [t('Account')]: receipt.account ? <Name>{receipt.account.name}</Name> : t('None selected'),
      [t('Reference')]: receipt.reference && <Code>{receipt.reference}</Code>,
    },
  },
  goods && {
    title: t('Sales return {number}', { number: serial(goods.number) }),
    tone: 'undone',
    facts: {
      [t('Date')]: <DayInBoth date={goods.date} />,
      [t('Stock')]: t('All goods are back in stock'),
      [t('Reason')]: goods.reason && <Name>{goods.reason}</Name>,
    },
  },
]

/** The invoice in its usual layout, with its documents. */
export const Invoice = ({ order }: { order: Order }) => (
  <article class="card invoice" aria-labelledby="invoice">
    <header class="row spread">
      <div>
        <div class="row">
          <h2 id="invoice">
            {t('Invoice')} <span class="muted">{t('№')}</span> {serial(order.invoice_number)}
          </h2>
          <Chip tone={order.invoice_status === 'draft' ? 'wait' : 'good'}>
            {INVOICE[order.invoice_status]}
          </Chip>
        </div>
        <Customer {...order} />
      </div>
      <Facts
        facts={{
          [t('Date')]: <DayInBoth date={order.date} />,
          [t('Order')]: (
            <>
              <Name>{order.external_id}</Name> <StoreName {...order} />
            </>
          ),
        }}
      />
    </header>
    <Scrolls label={t('Rows of the invoice')}>
      <Table
        caption={t('Rows of invoice {number}, in rials', { number: serial(order.invoice_number) })}
        kind="invoice-rows"
        columns={COLUMNS}
        rows={order.rows}
        keyOf={row => String(order.rows.indexOf(row))}
      />
    </Scrolls>
    <Totals {...order} />
    {documentsOf(order).map(
      each =>
        each && (
          <section key={each.title} class="document row" data-tone={each.tone} aria-label={each.title}>
            <h3>{each.title}</h3>
            <Facts facts={each.facts} />
          </section>
        ),
    )}
  </article>
)
