import { normaliseMobile } from '../../lib/protocol/mobile.ts'
import type { OrderRequest } from '../../lib/protocol/requests.ts'
import { Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Settings } from '../store/settings.ts'

const defaultCustomer = ({ defaultCustomer }: Settings, state: string) => {
  if (defaultCustomer !== null) return defaultCustomer
  const field = 'customer.mobile'
  throw new Refusal('no_customer', `Field "${field}" ${state}, and no default customer is selected`, field)
}

/**
 * The code of the customer an order is booked to, found or created by the mobile number (spec: business
 * rules 1 to 3). Part of the caller's transaction.
 *
 * @throws Refusal when there is none and no default customer is selected
 */
export const customerFor = (customer: OrderRequest['customer'], settings: Settings, store: Store): string => {
  const mobile = normaliseMobile(customer?.mobile ?? '')
  if (mobile === undefined) return defaultCustomer(settings, 'is missing')
  const known = store.customers.findByMobile(mobile)
  if (known !== undefined) return known.code
  if (!settings.automaticCustomerCreation) {
    return defaultCustomer(settings, `is ${mobile}: unknown, automatic customer creation is off`)
  }
  const { name, email } = customer ?? {}
  store.customers.insert({ code: mobile, mobile, name: name || mobile, email: email || null })
  store.changes.note({ kind: 'customer', code: mobile })
  return mobile
}
