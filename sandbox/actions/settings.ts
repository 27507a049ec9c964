import { decimal, shown } from '../decimal.ts'
import { exactNumber } from '../exact-number.ts'
import type { SettingsChange } from '../panel-requests.ts'
import { quoted, Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'

/** The six connection settings as the panel shows them; `taxRate` is a number of percent. */
export const readSettings = (store: Store) => {
  const settings = store.settings.read()
  return { ...settings, taxRate: exactNumber(shown(settings.taxRate)) }
}

const requireKnown = (field: string, code: string | null | undefined, found: unknown) => {
  if (code == null || found !== undefined) return
  throw new Refusal('invalid', `Field "${field}" is ${quoted(code)}: there is none with this code`, field)
}

/**
 * Changes the settings that are named.
 *
 * @throws Refusal when a customer or account is not known
 */
export const changeSettings = (change: SettingsChange, store: Store) =>
  store.transact(() => {
    const { defaultCustomer: customer, orderPaymentReceivingAccount: account, taxRate, ...flags } = change
    requireKnown('defaultCustomer', customer, customer && store.customers.find(customer))
    requireKnown('orderPaymentReceivingAccount', account, account && store.accounts.find(account))
    store.settings.put({
      ...store.settings.read(),
      ...flags,
      ...(customer !== undefined && { defaultCustomer: customer }),
      ...(account !== undefined && { orderPaymentReceivingAccount: account }),
      ...(taxRate !== undefined && { taxRate: decimal(taxRate) }),
    })
    store.changes.note({ kind: 'settings' })
    return readSettings(store)
  })
