import { Code, type Column, Name, Table } from '../../web/pieces.tsx'
import { linkTo } from '../../web/route.ts'
import { PageHead, page } from '../../web/shell.tsx'
import { type Answer, CUSTOMERS } from './api.ts'

type Customer = Answer<'CustomerList'>['customers'][number]

const nameOf = ({ name, code }: Customer) => name || code

const COLUMNS: Column<Customer>[] = [
  { label: 'Name', cell: customer => <Name>{nameOf(customer)}</Name> },
  { label: 'Code', cell: ({ code }) => <Code>{code}</Code> },
  { label: 'Mobile', cell: ({ mobile }) => mobile && <Code>{mobile}</Code> },
  { label: 'E-mail', cell: ({ email }) => email && <bdi dir="ltr">{email}</bdi> },
  {
    label: 'Orders',
    cell: customer =>
      customer.mobile && (
        <a href={linkTo(['orders'], { q: customer.mobile })}>
          Orders<span class="visually-hidden"> of {nameOf(customer)}</span>
        </a>
      ),
  },
]

/** Everyone the service can book an order to. */
export const Customers = page(
  { title: () => 'Customers', reads: () => ({ list: CUSTOMERS }) },
  ({ list: { customers } }) => (
    <>
      <PageHead title="Customers" />
      <Table caption="Customers" columns={COLUMNS} rows={customers} keyOf={({ code }) => code} />
    </>
  ),
)
