import { Code, type Column, Name, Table } from '../../web/pieces.tsx'
import { linkTo } from '../../web/route.ts'
import { PageHead, page } from '../../web/shell.tsx'
import { type Answer, CUSTOMERS } from './api.ts'
import { t } from './persian.ts'

type Customer = Answer<'CustomerList'>['customers'][number]

const nameOf = ({ name, code }: Customer) => name || code

const COLUMNS: Column<Customer>[] = [
  { label: t('Name'), cell: customer => <Name>{nameOf(customer)}</Name> },
  { label: t('Code'), cell: ({ code }) => <Code>{code}</Code> },
  { label: t('Mobile'), cell: ({ mobile }) => mobile && <Code>{mobile}</Code> },
  { label: t('E-mail'), cell: ({ email }) => email && <bdi dir="ltr">{email}</bdi> },
  {
    label: t('Orders'),
    cell: customer =>
      customer.mobile && (
        <a href={linkTo(['orders'], { q: customer.mobile })}>
          {t('Orders {of}', {
            of: <span class="visually-hidden">{t('of {customer}', { customer: nameOf(customer) })}</span>,
          })}
        </a>
      ),
  },
]

/** Everyone the service can book an order to. */
export const Customers = page(
  { title: () => t('Customers'), reads: () => ({ list: CUSTOMERS }) },
  ({ list: { customers } }) => (
    <>
      <PageHead title={t('Customers')} />
      <Table caption={t('Customers')} columns={COLUMNS} rows={customers} keyOf={({ code }) => code} />
    </>
  ),
)
