import { ask } from '@order-relay/web/dialog.tsx'
import { type Draft, Field, type FieldProps, Form } from '@order-relay/web/form.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { decimal } from '@order-relay/web/format.ts'
import { Refusal } from '@order-relay/web/http.ts'
import { toast } from '@order-relay/web/notices.ts'
import {
  Button,
  buttons,
  Chip,
  Code,
  type Column,
  Day,
  Name,
  Section,
  Table,
} from '@order-relay/web/pieces.tsx'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { signal } from '@preact/signals'
import { accountChange, checkedSellerChange, settingsChange } from '../panel-requests.ts'
import { ACCOUNTS, change, customersOf, FISCAL_YEARS, type SchemaData, SELLER, SETTINGS } from './api.ts'
import { FiscalYears } from './fiscal-years.tsx'
import { issuesOf } from './issues.ts'
import { t } from './persian.ts'
import { ACCOUNT_KINDS, accountOptions, changedIn, customerName, IDENTITY } from './pieces.tsx'

type Settings = SchemaData<'Settings'>
type Account = SchemaData<'Account'>

/** Kept while other pages are shown, until they are saved or discarded. */
const unsavedSettings = signal<Draft>({})

/** Kept like the settings. */
const unsavedSeller = signal<Draft>({})

export const isUnsaved = () =>
  [unsavedSettings, unsavedSeller].some(({ value }) => Object.keys(value).length > 0)

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

const check = (values: Values) => issuesOf(settingsChange, changedSettings(values))

const save = async (values: Values) => {
  await change('PUT', 'settings', changedSettings(values))
  discard()
  toast(t('Settings saved. They apply to orders from now on.'))
}

type Choices = { customers: SchemaData<'CustomerList'>['customers']; accounts: readonly Account[] }

/** Maximum number of customers that the service lists. */
const CHOICES = 500

const NONE = ['', t('None selected')] as const

const fieldsOf = ({ customers, accounts }: Choices): (FieldProps & { name: keyof Settings })[] => [
  {
    name: 'defaultCustomer',
    label: t('Default customer'),
    help: t(
      'Orders without a mobile number are booked to this customer; while none is selected, they are refused.',
    ),
    // If there are too many to choose from, it is entered by code.
    ...(customers.length < CHOICES && {
      options: [
        NONE,
        ...customers.map(
          ({ code, name }) =>
            [code, name && name !== code ? `${name} (${customerName(code)})` : customerName(code)] as const,
        ),
      ],
    }),
  },
  {
    name: 'automaticCustomerCreation',
    label: t('Automatic customer creation'),
    help: t('An unknown mobile number creates a new customer.'),
    kind: 'switch',
  },
  {
    name: 'orderPaymentReceivingAccount',
    label: t('Order payment receiving account'),
    help: t('Receives the money of paid orders; while none is selected, paid orders wait for review.'),
    options: [NONE, ...accountOptions(accounts)],
  },
  {
    name: 'taxRate',
    label: t('Tax rate'),
    help: t('In percent, for all item rows and the shipping row.'),
    kind: 'number',
    suffix: t('%'),
  },
  {
    name: 'pricesIncludeTax',
    label: t('Prices include tax'),
    help: t('On: tax is separated out of the prices. Off: tax is added to them.'),
    kind: 'switch',
  },
  {
    name: 'automaticFinalization',
    label: t('Automatic finalization'),
    help: t('Off: every invoice stays a draft and its order waits for review.'),
    kind: 'switch',
  },
  {
    name: 'duplicatesReturnOriginal',
    label: t('Duplicates return the original result'),
    help: t(
      'On: a repeated order returns the original result. Off: it returns the current state of the order.',
    ),
    kind: 'switch',
  },
  {
    name: 'correctionsSendWebhooks',
    label: t('Corrections send webhooks'),
    help: t(
      'On: a correction that changes the total sends a webhook. Off: only a change of status sends one, as in the interface.',
    ),
    kind: 'switch',
  },
]

const SettingsForm = ({ settings, ...choices }: Choices & { settings: Settings }) => {
  const unsaved = Object.keys(unsavedSettings.value).length > 0 && (
    <>
      <Button onClick={discard}>{t('Discard')}</Button>
      <Chip tone="wait">{t('Unsaved changes')}</Chip>
    </>
  )
  const about = { class: 'card settings sided', label: t('Connection settings'), action: t('Save settings') }
  return (
    <Form {...about} check={check} submit={save} draft={unsavedSettings} buttons={unsaved}>
      {fieldsOf(choices).map(field => (
        <Field key={field.name} value={settings[field.name]} {...field} />
      ))}
    </Form>
  )
}

const SELLER_FIELDS = [['name', t('Name')], ...IDENTITY] as const

const sellerOf = (values: Values) =>
  Object.fromEntries(SELLER_FIELDS.map(([name]) => [name, values.text(`seller-${name}`)]))

/** The same refusal with the field's name in the form. */
const ofSeller = ({ message, status, field }: Refusal) =>
  new Refusal(message, { status, field: `seller-${field}` })

const checkSeller = (values: Values) => issuesOf(checkedSellerChange, sellerOf(values)).map(ofSeller)

const saveSeller = async (values: Values, seller: SchemaData<'Seller'>) => {
  await change('PUT', 'seller', changedIn(sellerOf(values), seller)).catch(error => {
    throw error instanceof Refusal ? ofSeller(error) : error
  })
  unsavedSeller.value = {}
  toast(t('Saved. Invoices show this seller.'))
}

const SellerForm = ({ seller }: { seller: SchemaData<'Seller'> }) => (
  <Form
    class="card seller pairs"
    label={t('Seller')}
    action={t('Save seller')}
    submit={values => saveSeller(values, seller)}
    check={checkSeller}
    draft={unsavedSeller}
  >
    {SELLER_FIELDS.map(([name, label]) => (
      <Field key={name} name={`seller-${name}`} label={label} value={seller[name]} />
    ))}
  </Form>
)

const accountOf = ({ required, rials, text, date }: Values, account?: Account) => ({
  code: required('code'),
  name: required('name'),
  kind: account?.inUse ? account.kind : required('kind'),
  openingBalance: rials('openingBalance'),
  openingDate: text('openingDate') === '' ? null : date('openingDate'),
})

const NO_KIND = ['', t('Select the kind')] as const

/** The kind decides how the documents of the account are booked, so it cannot change once there are any. */
const kindField = (account?: Account): FieldProps => {
  const about = { name: 'kind', label: t('Kind') }
  if (account?.inUse) {
    const help = t(
      'Receipts or repayments use this account, so its kind cannot be changed. For another kind, add another account.',
    )
    return { ...about, help, value: ACCOUNT_KINDS[account.kind], readOnly: true }
  }
  return {
    ...about,
    value: account?.kind ?? '',
    help: t(
      'Payments into a cash box get cash receipts, payments into a bank account transfer or card-reader receipts.',
    ),
    options: [...(account === undefined ? [NO_KIND] : []), ...Object.entries(ACCOUNT_KINDS)],
  }
}

const askForAccount = (account?: Account) =>
  ask({
    title: account === undefined ? t('Add an account') : t('Edit account {code}', { code: account.code }),
    action: account === undefined ? t('Add') : t('Save'),
    fields: [
      { name: 'code', label: t('Code'), value: account?.code ?? '', readOnly: account !== undefined },
      { name: 'name', label: t('Name'), value: account?.name ?? '', autofocus: account !== undefined },
      kindField(account),
      {
        name: 'openingBalance',
        label: t('Opening balance in rials'),
        kind: 'rials',
        value: account?.openingBalance ?? 0,
      },
      {
        name: 'openingDate',
        label: t('Date of the opening balance'),
        kind: 'date',
        help: t(
          'Leave empty for a balance before all documents. On a date, it is added to what the documents before that day leave, so enter only what they do not include.',
        ),
        value: account?.openingDate ?? '',
      },
    ],
    check: values => issuesOf(accountChange, accountOf(values, account)),
    submit: async values => {
      const { code, kind, ...others } = accountOf(values, account)
      const changed = account === undefined ? others : changedIn(others, account)
      await change('PUT', account === undefined ? 'accounts?new=true' : 'accounts', {
        code,
        kind,
        ...changed,
      })
      toast(t('Saved account {code}', { code }))
    },
  })

const ACCOUNT_COLUMNS: Column<Account>[] = [
  { label: t('Code'), kind: 'breaks', cell: ({ code }) => <Code>{code}</Code> },
  { label: t('Name'), kind: 'breaks', cell: ({ name }) => <Name>{name}</Name> },
  { label: t('Kind'), cell: ({ kind }) => ACCOUNT_KINDS[kind] },
  {
    label: t('Opening balance in rials'),
    kind: 'number',
    cell: ({ openingBalance, openingDate }) => (
      <>
        {decimal(openingBalance)}
        {openingDate !== null && (
          <p class="small muted">
            <Day date={openingDate} />
          </p>
        )}
      </>
    ),
  },
  buttons<Account>([t('Edit'), ({ code }) => t('Edit account {code}', { code }), askForAccount]),
]

/** The connection settings, the seller on invoices, the accounts that receive money, and the fiscal years of order dates. */
export const SettingsPage = page(
  {
    title: () => t('Settings'),
    reads: () => ({
      settings: SETTINGS,
      people: customersOf(),
      money: ACCOUNTS,
      calendar: FISCAL_YEARS,
      seller: SELLER,
    }),
  },
  ({ settings, people: { customers }, money: { accounts }, calendar: { fiscalYears }, seller }) => (
    <>
      <PageHead />
      <SettingsForm settings={settings} customers={customers} accounts={accounts} />
      <Section id="seller" title={t('Seller on invoices')}>
        <SellerForm seller={seller} />
      </Section>
      <Section
        id="accounts"
        title={t('Accounts')}
        aside={<Button onClick={() => askForAccount()}>{t('Add account')}</Button>}
      >
        <Table columns={ACCOUNT_COLUMNS} rows={accounts} keyOf={({ code }) => code} />
      </Section>
      <FiscalYears years={fiscalYears} />
    </>
  ),
)
