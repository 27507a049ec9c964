import { decimalOf, type JsonNumber } from '@order-relay/lib/protocol/json.ts'
import { text } from '@order-relay/lib/protocol/order.ts'
import { date, number, object } from '@order-relay/lib/protocol/requests.ts'
import * as v from 'valibot'
import { decimal, isLess, isWhole } from './decimal.ts'
import { isNationalId } from './identity.ts'
import { amount, customer, item, nonEmptyText, orderKey, paymentEntries, searchText } from './requests.ts'

/** An object with these fields and no others, so that a misspelled name is an error. */
const strict = <const Entries extends v.ObjectEntries>(entries: Entries) => {
  const rule = `must be an object with ${Object.keys(entries).join(', ')}`
  return v.pipe(
    v.unknown(),
    v.check(body => !Array.isArray(body), rule),
    v.strictObject(entries, issue => (issue.expected === 'never' ? 'is not known here' : rule)),
  )
}

const flag = v.boolean('must be true or false')

const whole = (least: number, most: number) =>
  v.pipe(
    v.number('must be a number'),
    v.integer('must be a whole number'),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(most, `must be at most ${most}`),
  )

const percent = v.pipe(
  amount,
  v.check(value => !isLess(decimal(100), decimal(value)), 'must not exceed 100'),
  v.metadata({ maximum: 100 }),
)

/** The settings to change; the others keep their values. */
export const settingsChange = strict({
  defaultCustomer: v.exactOptional(v.nullable(nonEmptyText)),
  automaticCustomerCreation: v.exactOptional(flag),
  orderPaymentReceivingAccount: v.exactOptional(v.nullable(nonEmptyText)),
  taxRate: v.exactOptional(percent),
  pricesIncludeTax: v.exactOptional(flag),
  automaticFinalization: v.exactOptional(flag),
  duplicatesReturnOriginal: v.exactOptional(flag),
  correctionsSendWebhooks: v.exactOptional(flag),
})

export const review = strict({ error: nonEmptyText, dryRun: v.exactOptional(flag) })

/** Orders to retry: the given ones, or every matching order whose cause is resolved. */
export const retries = v.pipe(
  strict({
    orders: v.exactOptional(v.array(orderKey, 'must be an array')),
    filter: v.exactOptional(
      strict({
        source: v.exactOptional(text),
        from: v.exactOptional(date),
        to: v.exactOptional(date),
        q: v.exactOptional(searchText),
      }),
    ),
    dryRun: v.exactOptional(flag),
  }),
  v.check(
    ({ orders, filter }) => orders === undefined || filter === undefined,
    'must not have both orders and a filter',
  ),
  v.metadata({ not: { required: ['orders', 'filter'] } }),
)

const wholeRials = v.check((value: JsonNumber) => isWhole(decimal(value)), 'must be a whole number of rials')

/** An amount of money that the accountant enters. Amounts from stores may have fractions. */
const rials = v.pipe(amount, wholeRials, v.metadata({ type: 'integer' }))

const atLeastOneRial = v.pipe(
  amount,
  v.check(value => !isLess(decimal(value), decimal(1)), 'must be at least 1'),
  wholeRials,
  v.metadata({ type: 'integer', minimum: 1 }),
)

const bookedPayment = {
  ...paymentEntries,
  amount: v.nullish(atLeastOneRial),
  account: v.nullish(text),
  note: v.nullish(text),
}

/** A full or partial payment of an invoice. */
export const panelPayment = object({ ...bookedPayment, dryRun: v.exactOptional(flag) })

/** Money that is paid back to the buyer. */
export const repayment = object(bookedPayment)

const documentNumber = v.exactOptional(whole(1, Number.MAX_SAFE_INTEGER))

/** The receipt to cancel, and why. */
export const reversal = strict({
  receipt: documentNumber,
  reason: v.nullish(text),
  dryRun: v.exactOptional(flag),
})

/** The return to cancel, and why. */
export const returnReversal = strict({
  return: documentNumber,
  reason: v.nullish(text),
  dryRun: v.exactOptional(flag),
})

/** The repayment to cancel, and why. */
export const repaymentReversal = strict({ repayment: documentNumber, reason: v.nullish(text) })

/** What to return; without rows, all remaining goods. */
export const panelReturn = object(
  {
    source: v.nullish(nonEmptyText),
    reason: v.nullish(text),
    date: v.nullish(date),
    rows: v.nullish(
      v.pipe(
        v.array(strict({ row: whole(1, 1_000_000), quantity: amount }), 'must be an array'),
        v.minLength(1, 'must have at least one row'),
      ),
    ),
    unchangedSince: v.exactOptional(text),
    dryRun: v.exactOptional(flag),
  },
  'must be a JSON object',
)

/** The amount of a payment that is held for the whole invoice: the total when it arrived, or the corrected total. */
const HELD_AMOUNTS = ['received', 'invoice'] as const

/** The parts of an order to correct; `items` replaces all rows. */
export const correction = strict({
  items: v.exactOptional(
    v.pipe(v.array(item, 'must be an array'), v.minLength(1, 'must have at least one item')),
  ),
  shipping: v.exactOptional(amount),
  discount: v.exactOptional(amount),
  customer: v.exactOptional(customer),
  date: v.exactOptional(date),
  paymentDate: v.exactOptional(date),
  reason: v.nullish(text),
  heldPayment: v.exactOptional(v.picklist(HELD_AMOUNTS, `must be one of ${HELD_AMOUNTS.join(', ')}`)),
  unchangedSince: v.exactOptional(text),
  dryRun: v.exactOptional(flag),
})

export const productChange = strict({
  name: v.exactOptional(nonEmptyText),
  stock: v.exactOptional(amount),
  price: v.exactOptional(v.nullable(rials)),
  unit: v.exactOptional(nonEmptyText),
})

const digits = (form: RegExp, rule: string) => v.pipe(text, v.regex(form, rule))

const nationalId = digits(
  /^([0-9۰-۹٠-٩]{10,11})?$/,
  'must have 11 digits for a company or 10 digits for a person',
)

/** Not in the documented rules, because JSON Schema cannot describe a check digit. */
const CHECKED = {
  nationalId: v.exactOptional(
    v.pipe(
      nationalId,
      v.check(id => id === '' || isNationalId(id), 'must have a valid check digit'),
    ),
  ),
}

/** What invoices say about the seller or the buyer besides the name. */
const identity = {
  // Announcement 36 of the tax administration: a company uses its national ID, a person the national code and four more digits.
  economicCode: v.exactOptional(
    digits(
      /^([0-9۰-۹٠-٩]{11,12}|[0-9۰-۹٠-٩]{14})?$/,
      'must have 11 digits for a company, 14 digits for a person, or the 12 digits of an old code',
    ),
  ),
  nationalId: v.exactOptional(nationalId),
  address: v.exactOptional(text),
  postalCode: v.exactOptional(digits(/^([0-9۰-۹٠-٩]{10})?$/, 'must have 10 digits')),
  phone: v.exactOptional(
    digits(/^\+?[0-9۰-۹٠-٩ ()-]*$/, 'must have digits only, apart from +, hyphens and brackets'),
  ),
}

const seller = { name: v.exactOptional(text), ...identity }

/** Changes of the seller on invoices; other fields do not change. */
export const sellerChange = strict(seller)
export const checkedSellerChange = strict({ ...seller, ...CHECKED })

const buyer = { name: v.exactOptional(nonEmptyText), ...identity }

/** Changes of a customer as the buyer on invoices; other fields do not change. */
export const customerChange = strict(buyer)
export const checkedCustomerChange = strict({ ...buyer, ...CHECKED })

export const ACCOUNT_KINDS = ['cash', 'bank'] as const

/** An account to add or change. A name, opening balance or date that is left out does not change. */
export const accountChange = strict({
  code: nonEmptyText,
  name: v.exactOptional(nonEmptyText),
  kind: v.picklist(ACCOUNT_KINDS, `must be ${ACCOUNT_KINDS.join(' or ')}`),
  openingBalance: v.exactOptional(rials),
  openingDate: v.exactOptional(v.nullable(date)),
})

export const fiscalYear = strict({ from: date, to: date, closed: v.exactOptional(flag, false) })

export const fiscalYearList = strict({ fiscalYears: v.array(fiscalYear, 'must be an array') })

/** A fiscal year to add, or a list that replaces all fiscal years. */
export const fiscalYearsChange = v.lazy(body =>
  typeof body === 'object' && body !== null && 'fiscalYears' in body ? fiscalYearList : fiscalYear,
)

/** The requests of the order API, by their `operationId`. */
export const OPERATIONS = [
  'createOrder',
  'readOrder',
  'registerPayment',
  'registerRefund',
  'registerWebhook',
  'removeWebhook',
] as const

export const FAULTS = ['reset', 'slow', 'error', 'lose'] as const

/** An intentional fault for a period or a number of requests; without either, it lasts until it is ended. */
export const fault = strict({
  kind: v.picklist(FAULTS, `must be one of ${FAULTS.join(', ')}`),
  operation: v.exactOptional(v.picklist(OPERATIONS, `must be one of ${OPERATIONS.join(', ')}`)),
  seconds: v.exactOptional(whole(1, 86_400)),
  requests: v.exactOptional(whole(1, 1_000_000)),
  delay: v.exactOptional(whole(0, 600_000)),
  status: v.exactOptional(whole(400, 599)),
  retryAfter: v.exactOptional(whole(0, 86_400)),
})

export const examples = strict({
  orders: v.exactOptional(whole(1, 1000)),
  source: v.exactOptional(nonEmptyText),
})

/** The stock and the settings to change before a retry. */
export const retry = object(
  {
    stock: v.nullish(v.array(strict({ sku: nonEmptyText, stock: amount }), 'must be an array')),
    settings: v.exactOptional(settingsChange),
  },
  'must be a JSON object',
)

export const stockChange = strict({ stock: amount })

/** Goods to add to the stock or, with a negative number, to remove from it. */
export const stockAdjustment = strict({
  change: v.pipe(
    number,
    v.check(value => decimalOf(value)?.digits !== '0', 'must not be zero'),
    v.metadata({ not: { const: 0 } }),
  ),
  reason: nonEmptyText,
})

export type SettingsChange = v.InferOutput<typeof settingsChange>
export type FaultRequest = v.InferOutput<typeof fault>
export type Examples = v.InferOutput<typeof examples>
export type Retry = v.InferOutput<typeof retry>
export type Retries = v.InferOutput<typeof retries>
export type PanelPayment = v.InferOutput<typeof panelPayment>
export type Repayment = v.InferOutput<typeof repayment>
export type Return = v.InferOutput<typeof panelReturn>
export type SellerChange = v.InferOutput<typeof sellerChange>
export type CustomerChange = v.InferOutput<typeof customerChange>
export type Correction = v.InferOutput<typeof correction>
export type AccountChange = v.InferOutput<typeof accountChange>
export type StockAdjustment = v.InferOutput<typeof stockAdjustment>
export type ProductChange = v.InferOutput<typeof productChange>
export type FiscalYearsChange = v.InferOutput<typeof fiscalYearsChange>
