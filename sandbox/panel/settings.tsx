import { signal } from '@preact/signals'
import { ask, type Draft, Field, type FieldProps, Form, type Values } from '../../web/form.tsx'
import { formatDate } from '../../web/format.ts'
import { toast } from '../../web/notices.ts'
import {
  Button,
  buttons,
  Chip,
  Code,
  type Column,
  DayInBoth,
  Empty,
  Name,
  Section,
  Table,
} from '../../web/pieces.tsx'
import { PageHead, page } from '../../web/shell.tsx'
import { ACCOUNTS, type Answer, CUSTOMERS, change, FISCAL_YEARS, SETTINGS } from './api.ts'
import { ACCOUNT_KINDS, accountOptions } from './pieces.tsx'

type Settings = Answer<'Settings'>
type Account = Answer<'Account'>
type FiscalYear = Answer<'FiscalYear'>

/** Kept while other pages are shown, until they are saved or discarded. */
export const unsavedSettings = signal<Draft>({})

const discard = () => {
  unsavedSettings.value = {}
}

/** The changed settings as the service takes them. */
const changedSettings = (values: Values) =>
  Object.fromEntries(
    Object.entries(unsavedSettings.value).map(([name, value]) => {
      if (typeof value === 'boolean') return [name, value]
      return [name, name === 'taxRate' ? values.number(name) : value || null]
    }),
  )

const save = async (values: Values) => {
  await change('PUT', 'settings', changedSettings(values))
  discard()
  toast('Settings saved. They apply to orders from now on.')
}

type Choices = { customers: Answer<'CustomerList'>['customers']; accounts: readonly Account[] }

const NONE = ['', 'None selected'] as const

const fieldsOf = ({ customers, accounts }: Choices): (FieldProps & { name: keyof Settings })[] => [
  {
    name: 'defaultCustomer',
    label: 'Default customer',
    help: 'Orders without a mobile number are booked to this customer; while none is selected, they are refused.',
    options: [
      NONE,
      ...customers.map(
        ({ code, name }) => [code, name && name !== code ? `${name} (${code})` : code] as const,
      ),
    ],
  },
  {
    name: 'automaticCustomerCreation',
    label: 'Automatic customer creation',
    help: 'An unknown mobile number creates a new customer.',
    kind: 'switch',
  },
  {
    name: 'orderPaymentReceivingAccount',
    label: 'Order payment receiving account',
    help: 'Receives the money of paid orders; while none is selected, paid orders wait for review.',
    options: [NONE, ...accountOptions(accounts)],
  },
  {
    name: 'taxRate',
    label: 'Tax rate',
    help: 'In percent, for all item rows and the shipping row.',
    kind: 'number',
    suffix: '%',
  },
  {
    name: 'pricesIncludeTax',
    label: 'Prices include tax',
    help: 'On: tax is separated out of the prices. Off: tax is added to them.',
    kind: 'switch',
  },
  {
    name: 'automaticFinalization',
    label: 'Automatic finalization',
    help: 'Off: every invoice stays a draft and its order waits for review.',
    kind: 'switch',
  },
  {
    name: 'duplicatesReturnOriginal',
    label: 'Duplicates return the original result',
    help: 'On: a repeated order gets the answer that the first one got. Off: the present state of the order.',
    kind: 'switch',
  },
]

const SettingsForm = ({ settings, ...choices }: Choices & { settings: Settings }) => {
  const unsaved = Object.keys(unsavedSettings.value).length > 0 && (
    <>
      <Button onClick={discard}>Discard</Button>
      <Chip tone="wait">Unsaved changes</Chip>
    </>
  )
  const about = { class: 'card settings sided', label: 'Connection settings', action: 'Save settings' }
  return (
    <Form {...about} submit={save} draft={unsavedSettings} buttons={unsaved}>
      {fieldsOf(choices).map(field => (
        <Field key={field.name} value={settings[field.name]} {...field} />
      ))}
    </Form>
  )
}

const askForAccount = (account?: Account) =>
  ask({
    title: account === undefined ? 'Add an account' : `Change account ${account.code}`,
    action: account === undefined ? 'Add' : 'Save',
    fields: [
      { name: 'code', label: 'Code', value: account?.code ?? '', readOnly: account !== undefined },
      { name: 'name', label: 'Name', value: account?.name ?? '', autofocus: account !== undefined },
      {
        name: 'kind',
        label: 'Kind',
        help: 'A cash box gives cash receipts; a bank account gives transfer or card-reader receipts.',
        value: account?.kind ?? 'cash',
        options: Object.entries(ACCOUNT_KINDS),
      },
    ],
    submit: async values => {
      const [code, name] = [values.required('code'), values.required('name')]
      await change('PUT', 'accounts', { code, name, kind: values.text('kind') })
      toast(`Saved account ${code}`)
    },
  })

const ACCOUNT_COLUMNS: Column<Account>[] = [
  { label: 'Code', cell: ({ code }) => <Code>{code}</Code> },
  { label: 'Name', cell: ({ name }) => <Name>{name}</Name> },
  { label: 'Kind', cell: ({ kind }) => ACCOUNT_KINDS[kind] },
  buttons<Account>('Change', ({ code }) => `Change account ${code}`, askForAccount),
]

const inWords = ({ from, to }: FiscalYear) => `${formatDate(from)} to ${formatDate(to)}`

const askForYear = () =>
  ask({
    title: 'Add a fiscal year',
    action: 'Add',
    fields: [
      { name: 'from', label: 'First day', kind: 'date' },
      { name: 'to', label: 'Last day', kind: 'date' },
    ],
    submit: async values => {
      const year = { from: values.date('from'), to: values.date('to') }
      await change('PUT', 'fiscal-years', year)
      toast(`Added ${inWords(year)}`)
    },
  })

const askToRemove = (year: FiscalYear, years: readonly FiscalYear[]) =>
  ask({
    title: 'Remove this fiscal year?',
    action: 'Remove',
    text: `New orders dated ${inWords(year)} will be refused. Orders that are already registered stay as they are.`,
    submit: async () => {
      await change('PUT', 'fiscal-years', { fiscalYears: years.filter(each => each !== year) })
      toast(`Removed ${inWords(year)}`)
    },
  })

const yearColumns = (years: readonly FiscalYear[]): Column<FiscalYear>[] => [
  { label: 'First day', kind: 'plain', cell: ({ from }) => <DayInBoth date={from} /> },
  { label: 'Last day', cell: ({ to }) => <DayInBoth date={to} /> },
  buttons(
    'Remove',
    year => `Remove ${inWords(year)}`,
    year => askToRemove(year, years),
  ),
]

/** The connection settings, the accounts that receive money, and the years that orders may be dated in. */
export const SettingsPage = page(
  {
    title: () => 'Settings',
    reads: () => ({ settings: SETTINGS, people: CUSTOMERS, money: ACCOUNTS, calendar: FISCAL_YEARS }),
  },
  ({ settings, people: { customers }, money: { accounts }, calendar: { fiscalYears } }) => (
    <>
      <PageHead title="Settings" />
      <SettingsForm {...{ settings, customers, accounts }} />
      <Section
        id="accounts"
        title="Accounts"
        aside={<Button onClick={() => askForAccount()}>Add account</Button>}
      >
        <Table caption="Accounts" columns={ACCOUNT_COLUMNS} rows={accounts} keyOf={({ code }) => code} />
      </Section>
      <Section
        id="fiscal-years"
        title="Fiscal years"
        aside={<Button onClick={askForYear}>Add fiscal year</Button>}
      >
        {fiscalYears.length === 0 ? (
          <Empty title="No fiscal years">
            <p>Every order is refused until one is added.</p>
          </Empty>
        ) : (
          <Table
            caption="Fiscal years"
            columns={yearColumns(fiscalYears)}
            rows={fiscalYears}
            keyOf={({ from, to }) => `${from}/${to}`}
          />
        )}
      </Section>
    </>
  ),
)
