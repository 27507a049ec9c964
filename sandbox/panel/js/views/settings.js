/** @import { Account, Context, Customer, FiscalYear, Settings, View } from '../types.d.ts' */

import { getAccounts, getCustomers, getFiscalYears, getSettings, putSettings } from '../api.js'
import { h } from '../dom.js'
import { field, onSubmit, requireNumber, textOf } from '../form.js'
import { toast } from '../notices.js'
import { pageHead } from '../pieces.js'
import { accountsSection } from './accounts.js'
import { fiscalYearsSection } from './fiscal-years.js'

/** @typedef {{ settings: Settings, customers: Customer[], accounts: Account[], fiscalYears: FiscalYear[] }} Data */

/**
 * @param {{ id: keyof Settings, label: string, help: string, value: string | null, none: string }} choice
 * @param {{ code: string, text: string }[]} options
 */
const choiceField = ({ id, label, help, value, none }, options) =>
  field({ id, label, help }, attributes =>
    h(
      'select',
      { ...attributes, name: id },
      h('option', { value: '', selected: value === null }, none),
      options.map(({ code, text }) =>
        h('option', { value: code, selected: code === value, dir: 'auto' }, text),
      ),
    ),
  )

/** @param {{ id: keyof Settings, label: string, help: string, value: boolean }} choice */
const switchField = ({ id, label, help, value }) =>
  field({ id, label, help, kind: 'switch-field' }, attributes =>
    h('input', {
      ...attributes,
      name: id,
      type: 'checkbox',
      role: 'switch',
      class: 'switch',
      checked: value,
    }),
  )

/** @param {Data} data */
const settingFields = ({ settings, customers, accounts }) => [
  choiceField(
    {
      id: 'defaultCustomer',
      label: 'Default customer',
      help: 'Orders without a mobile number are booked to this customer; while none is selected, they are refused.',
      value: settings.defaultCustomer,
      none: 'None selected',
    },
    customers.map(({ code, name }) => ({
      code,
      text: name === '' || name === code ? code : `${name} (${code})`,
    })),
  ),
  switchField({
    id: 'automaticCustomerCreation',
    label: 'Automatic customer creation',
    help: 'An unknown mobile number creates a new customer.',
    value: settings.automaticCustomerCreation,
  }),
  choiceField(
    {
      id: 'orderPaymentReceivingAccount',
      label: 'Order payment receiving account',
      help: 'Receives the money of paid orders; while none is selected, paid orders wait for review.',
      value: settings.orderPaymentReceivingAccount,
      none: 'None selected',
    },
    accounts.map(({ code, name, kind }) => ({
      code,
      text: `${name} (${kind === 'cash' ? 'cash box' : 'bank'})`,
    })),
  ),
  field(
    {
      id: 'taxRate',
      label: 'Tax rate',
      help: 'In percent, for all item rows and the shipping row.',
      kind: 'narrow',
    },
    attributes => [
      h('input', {
        ...attributes,
        name: 'taxRate',
        inputmode: 'decimal',
        autocomplete: 'off',
        value: settings.taxRate,
      }),
      h('span', { class: 'suffix', 'aria-hidden': 'true' }, '%'),
    ],
  ),
  switchField({
    id: 'pricesIncludeTax',
    label: 'Prices include tax',
    help: 'On: tax is separated out of the prices. Off: tax is added to them.',
    value: settings.pricesIncludeTax,
  }),
  switchField({
    id: 'automaticFinalization',
    label: 'Automatic finalization',
    help: 'Off: every invoice stays a draft and its order waits for review.',
    value: settings.automaticFinalization,
  }),
  switchField({
    id: 'duplicatesReturnOriginal',
    label: 'Duplicates return the original result',
    help: 'On: a repeated create answers as the first one did. Off: with the present state of the order.',
    value: settings.duplicatesReturnOriginal,
  }),
]

/** @param {HTMLFormElement} form @returns {Settings} */
const settingsOf = form => {
  const data = new FormData(form)
  return {
    defaultCustomer: textOf(form, 'defaultCustomer') || null,
    automaticCustomerCreation: data.has('automaticCustomerCreation'),
    orderPaymentReceivingAccount: textOf(form, 'orderPaymentReceivingAccount') || null,
    taxRate: requireNumber(form, 'taxRate', 'the tax rate'),
    pricesIncludeTax: data.has('pricesIncludeTax'),
    automaticFinalization: data.has('automaticFinalization'),
    duplicatesReturnOriginal: data.has('duplicatesReturnOriginal'),
  }
}

/** @param {Data} data @param {Context} context */
const settingsForm = (data, context) =>
  h(
    'form',
    {
      class: 'card settings',
      novalidate: true,
      'aria-label': 'Connection settings',
      onsubmit: onSubmit(async form => {
        await putSettings(settingsOf(form))
        await context.reload()
        // From here on the fields follow the service again.
        form.reset()
        toast('Settings saved. They apply to orders from now on.')
      }),
    },
    settingFields(data),
    h('p', { class: 'form-error', role: 'alert' }),
    h('div', { class: 'actions' }, h('button', { type: 'submit', class: 'button primary' }, 'Save settings')),
  )

/**
 * The connection settings, fiscal years and accounts.
 *
 * @type {View<Data>}
 */
export const settingsView = {
  depends: ['settings', 'customer', 'account', 'fiscal-year'],
  title: () => 'Settings',
  load: async () => {
    const [settings, customers, accounts, fiscalYears] = await Promise.all([
      getSettings(),
      getCustomers(),
      getAccounts(),
      getFiscalYears(),
    ])
    return { settings, customers, accounts, fiscalYears }
  },
  draw: (data, context) => [
    pageHead('Settings'),
    settingsForm(data, context),
    accountsSection(data.accounts, context),
    fiscalYearsSection(data.fiscalYears, context),
  ],
}
