import { decimal, serial, sum } from '@order-relay/web/format.ts'
import { language, separator } from '@order-relay/web/language.ts'
import { Chip, type Column, Facts, Name, Scrolls, Table } from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import type { SchemaData } from './api.ts'
import { DocumentSection } from './document-section.tsx'
import { GOODS } from './goods.tsx'
import { documentsOf, InvoiceDay } from './invoice-documents.tsx'
import { t } from './persian.ts'
import { StoreName } from './pieces.tsx'
import { usePrinted, useRunningHead } from './printed.ts'
import { numberInWords } from './words.ts'

type Order = SchemaData<'OrderDetail'>
type Row = Order['rows'][number]

const INVOICE = { draft: t('Draft'), posted: t('Posted') }

type PartyProps = { title: string; name: string; details: readonly (string | false | null)[] }

/** The seller or the buyer. */
const Party = ({ title, name, details }: PartyProps) => (
  <div>
    <p class="small muted">{title}</p>
    <p class="strong">
      <Name>{name}</Name>
    </p>
    {details.filter(Boolean).map(each => (
      <p key={String(each)} class="muted">
        <Name>{each}</Name>
      </p>
    ))}
  </div>
)

type Identity = Omit<SchemaData<'Seller'>, 'name'>

const identityOf = ({ economicCode, nationalId, address, postalCode, phone }: Identity) => [
  economicCode && t('Economic code: {code}', { code: serial(economicCode) }),
  // A person has 10 digits, a company 11.
  nationalId &&
    (nationalId.length === 10
      ? t('National code: {code}', { code: serial(nationalId) })
      : t('National ID: {code}', { code: serial(nationalId) })),
  address,
  postalCode && t('Postal code: {code}', { code: serial(postalCode) }),
  phone && t('Phone: {number}', { number: serial(phone) }),
]

const Seller = ({ name, ...identity }: SchemaData<'Seller'>) => {
  const details = identityOf(identity)
  if ([name, ...details].some(Boolean)) return <Party title={t('Seller')} name={name} details={details} />
  // Not printed.
  return (
    <div class="notice" data-tone="wait">
      <p>
        {t('The printed invoice has no seller: add it in the {settings}.', {
          settings: <a href={linkTo(['settings'])}>{t('Settings').toLowerCase()}</a>,
        })}
      </p>
    </div>
  )
}

const Buyer = ({ customer }: Pick<Order, 'customer'>) => {
  if (customer === null) return <p class="muted">{t('No customer')}</p>
  const { code: _, name, mobile, email, ...identity } = customer
  const number = mobile && serial(mobile)
  // The name of a customer without one is the mobile number.
  const isNamed = name !== '' && name !== mobile
  const contact = [isNamed && number && t('Mobile: {number}', { number }), email]
    .filter(Boolean)
    .join(separator)
  const about = [...identityOf(identity), contact].filter(Boolean)
  const details = about.length > 0 || number ? about : [t('No contact details')]
  return <Party title={t('Buyer')} name={(!isNamed && number) || name} details={details} />
}

const deducted = (amount: string) => decimal(amount === '0' ? amount : `-${amount}`)

/** A column of amounts with their sum. */
const amount = (label: string, of: (row: Row) => string, total: string, kind = ''): Column<Row> => ({
  label,
  kind: `number ${kind}`,
  cell: row => decimal(of(row)),
  foot: decimal(total),
})

/** The discount of a row, and its share of the discount of the order. */
const discountOf = ({ gross, amount, orderDiscount }: Row) => sum(gross, `-${amount}`, orderDiscount)

/** From the gross amount of each row to its total, as on Iranian invoices: every column follows from those before it. */
const columnsOf = ({ totals, prices_include_tax }: Order): Column<Row>[] => {
  const { rowDiscounts, orderDiscount, amount: discounted, net, tax, total } = totals
  const netColumn = amount(t('Net'), row => row.net, net)
  return [
    ...GOODS,
    amount(t('Gross amount'), row => row.gross, sum(discounted, rowDiscounts)),
    {
      label: t('Discount'),
      kind: 'number',
      foot: deducted(sum(rowDiscounts, orderDiscount)),
      cell: row => (discountOf(row) === '0' ? <span class="none">–</span> : deducted(discountOf(row))),
    },
    amount(
      prices_include_tax ? t('After discount, with tax') : t('After discount'),
      row => sum(row.amount, `-${row.orderDiscount}`),
      sum(discounted, `-${orderDiscount}`),
    ),
    // Without tax in the prices, this is the net.
    ...(prices_include_tax ? [netColumn] : []),
    amount(t('Tax'), row => row.tax, tax),
    amount(t('Row total'), row => sum(row.net, row.tax), total, 'strong'),
  ]
}

/** The amounts received, returned and due. */
const Settlement = ({ order: { received, returned, repaid, balance } }: { order: Order }) =>
  (received !== '0' || returned !== '0') && (
    <Facts
      kind="totals"
      facts={{
        [t('Received')]: received !== '0' && decimal(received),
        [t('Returned')]: returned !== '0' && decimal(returned),
        [t('Repaid')]: repaid !== '0' && decimal(repaid),
        [balance.startsWith('-') ? t('Credit of the buyer') : t('Due')]: decimal(balance.replace('-', '')),
      }}
    />
  )

const Totals = ({ order }: { order: Order }) => {
  const { totals, tax_rate, prices_include_tax } = order
  const rate = decimal(tax_rate)
  return (
    <Facts
      kind="totals"
      facts={{
        [t('Total before discounts')]: decimal(sum(totals.amount, totals.rowDiscounts)),
        [t('Row discounts')]: deducted(totals.rowDiscounts),
        [t('Order discount')]: deducted(totals.orderDiscount),
        // Without tax in the prices, this is the net.
        [t('Total after discounts, with tax')]: prices_include_tax && decimal(totals.total),
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

const InWords = ({ total }: Pick<Order, 'total'>) => {
  const words = numberInWords(total, language)
  return words !== undefined && <p class="in-words">{t('In words: {words} rials', { words })}</p>
}

/** The total that the store sent, if a correction has changed it. */
const Corrected = ({ total, original_total: original }: Order) =>
  total !== original && (
    <p class="corrected small muted">
      {t('Corrected: the store sent the order with a total of {total} rials.', {
        total: decimal(original),
      })}
    </p>
  )

/** The invoice in its usual layout, with its documents. One of them can be printed instead of the invoice. */
export const Invoice = ({ order }: { order: Order }) => {
  const printed = usePrinted<string>()
  const columns = columnsOf(order)
  const documents = [...documentsOf(order), ...documentsOf(order, order.cancelled)]
  const number = serial(order.invoice_number)
  useRunningHead(
    documents.find(({ id }) => id === printed.value)?.title ?? `${t('Sales invoice')} ${t('№')} ${number}`,
  )
  return (
    <article
      class="card invoice"
      aria-labelledby="invoice"
      data-printed={printed.value}
      // In print, the font size of the table depends on the number of amount columns and their digits.
      style={{ '--amounts': columns.length - GOODS.length + 1, '--digits': order.total.length }}
    >
      <header class="row spread">
        <div>
          <div class="row">
            <h2 id="invoice">
              {t('Sales invoice')} <span class="muted">{t('№')}</span> {number}
            </h2>
            <Chip tone={order.invoice_status === 'draft' ? 'wait' : 'good'}>
              {INVOICE[order.invoice_status]}
            </Chip>
          </div>
        </div>
        <Facts
          facts={{
            [t('Date')]: <InvoiceDay date={order.date} />,
            [t('Order')]: (
              <>
                <Name>{order.external_id}</Name> <StoreName {...order} />
              </>
            ),
          }}
        />
      </header>
      <div class="parties">
        <Seller {...order.seller} />
        <Buyer {...order} />
      </div>
      <p class="currency small muted">{t('All amounts are in rials.')}</p>
      <Scrolls label={t('Rows of the invoice')}>
        <Table
          caption={t('Rows of invoice {number}, in rials', { number })}
          kind="invoice-rows"
          columns={columns}
          rows={order.rows}
          keyOf={row => String(order.rows.indexOf(row))}
        />
      </Scrolls>
      <Totals order={order} />
      <InWords {...order} />
      <Corrected {...order} />
      <Settlement order={order} />
      {documents.map(document => (
        <DocumentSection
          key={document.id}
          {...document}
          isPrinted={document.id === printed.value}
          onPrint={() => {
            printed.value = document.id
          }}
        />
      ))}
      <div class="signatures" aria-hidden="true">
        <p>{t('Stamp and signature of the seller')}</p>
        <p>{t('Signature of the buyer')}</p>
      </div>
    </article>
  )
}
