import { SearchBox } from '@order-relay/web/filters.tsx'
import { Code, type Column, Empty, LinkButton, Name, Table } from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { customersOf, type SchemaData } from './api.ts'
import { t } from './persian.ts'
import { limitOf, ShowMore } from './pieces.tsx'

type Customer = SchemaData<'CustomerList'>['customers'][number]

const nameOf = ({ name, code }: Customer) => name || code

const COLUMNS: Column<Customer>[] = [
  { label: t('Name'), kind: 'breaks', cell: customer => <Name>{nameOf(customer)}</Name> },
  { label: t('Code'), cell: ({ code }) => <Code>{code}</Code> },
  { label: t('Mobile'), cell: ({ mobile }) => mobile && <Code>{mobile}</Code> },
  { label: t('E-mail'), kind: 'breaks', cell: ({ email }) => email && <Code>{email}</Code> },
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
  {
    title: () => t('Customers'),
    reads: route => ({ list: customersOf({ q: route.query.get('q'), limit: limitOf(route) }) }),
  },
  ({ list: { customers } }) => (
    <>
      <PageHead>
        <search data-keeps-focus>
          <SearchBox
            label={t('Search by name, code, mobile or e-mail')}
            placeholder={t('Search customers')}
          />
        </search>
      </PageHead>
      <Table columns={COLUMNS} rows={customers} keyOf={({ code }) => code}>
        <Empty title={t('No customer matches')}>
          <LinkButton href={linkTo(['customers'])}>{t('Show all customers')}</LinkButton>
        </Empty>
      </Table>
      <ShowMore shown={customers.length} />
    </>
  ),
)
