import { ask } from '@order-relay/web/dialog.tsx'
import { SearchBox } from '@order-relay/web/filters.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { serial } from '@order-relay/web/format.ts'
import { toast } from '@order-relay/web/notices.ts'
import { buttons, Code, type Column, Empty, LinkButton, Name, Table } from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { checkedCustomerChange } from '../panel-requests.ts'
import { change, customersOf, type SchemaData } from './api.ts'
import { issuesOf } from './issues.ts'
import { t } from './persian.ts'
import { changedIn, customerName, IDENTITY, limitOf, ShowMore } from './pieces.tsx'

type Customer = SchemaData<'CustomerList'>['customers'][number]

const nameOf = ({ name, code }: Customer) => customerName(name || code)

const identityOf = ({ required, text }: Values) => ({
  name: required('name'),
  ...Object.fromEntries(IDENTITY.map(([name]) => [name, text(name)])),
})

/** What invoices say about the buyer; stores do not send it. */
const askForIdentity = (customer: Customer) =>
  ask({
    title: t('Buyer on invoices: {customer}', { customer: nameOf(customer) }),
    action: t('Save'),
    text: t(
      'Stores send only name, mobile number and e-mail address. Every invoice of this customer in an open fiscal year shows the rest.',
    ),
    fields: [
      { name: 'name', label: t('Name'), value: customer.name },
      ...IDENTITY.map(([name, label]) => ({ name, label, value: customer[name] })),
    ],
    check: values => issuesOf(checkedCustomerChange, identityOf(values)),
    submit: async values => {
      const changed = changedIn(identityOf(values), customer)
      await change('PUT', `customers/${encodeURIComponent(customer.code)}`, changed)
      toast(t('Saved. Invoices of {customer} show it.', { customer: nameOf(customer) }))
    },
  })

const COLUMNS: Column<Customer>[] = [
  { label: t('Name'), kind: 'breaks', cell: customer => <Name>{nameOf(customer)}</Name> },
  { label: t('Code'), cell: ({ code }) => <Code>{customerName(code)}</Code> },
  { label: t('Mobile'), cell: ({ mobile }) => mobile && <Code>{serial(mobile)}</Code> },
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
  buttons<Customer>([t('Edit'), customer => t('Edit {code}', { code: nameOf(customer) }), askForIdentity]),
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
            label={t('Search by name, mobile, e-mail or national ID')}
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
