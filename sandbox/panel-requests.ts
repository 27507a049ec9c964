import * as v from 'valibot'
import { STATUSES } from '../lib/protocol/order.ts'
import { amount, date } from '../lib/protocol/requests.ts'
import { decimal, isLess } from './decimal.ts'

const text = v.string('must be a string')
const required = v.pipe(text, v.nonEmpty('must not be empty'))
const flag = v.boolean('must be true or false')

const percent = v.pipe(
  amount,
  v.check(value => !isLess(decimal(100), decimal(value)), 'must not exceed 100'),
)

/** Part of the settings; what is not named stays as it is. A misspelt name is refused. */
export const settingsChange = v.strictObject(
  {
    defaultCustomer: v.exactOptional(v.nullable(required)),
    automaticCustomerCreation: v.exactOptional(flag),
    orderPaymentReceivingAccount: v.exactOptional(v.nullable(required)),
    taxRate: v.exactOptional(percent),
    pricesIncludeTax: v.exactOptional(flag),
    automaticFinalization: v.exactOptional(flag),
  },
  'must be an object of settings',
)

export const productChange = v.strictObject(
  { name: v.exactOptional(required), stock: v.exactOptional(amount) },
  'must be an object with name or stock',
)

export const account = v.strictObject(
  { code: required, name: required, kind: v.picklist(['cash', 'bank'], 'must be cash or bank') },
  'must be an object with code, name and kind',
)

const fiscalYear = v.pipe(
  v.strictObject({ from: date, to: date }, 'must be an object with from and to'),
  v.forward(
    v.partialCheck([['from'], ['to']], ({ from, to }) => from <= to, 'must not be before "from"'),
    ['to'],
  ),
)

/** One fiscal year to add, or the whole list to replace. */
export const fiscalYearsChange = v.lazy(body =>
  typeof body === 'object' && body !== null && 'fiscalYears' in body
    ? v.strictObject({ fiscalYears: v.array(fiscalYear, 'must be an array') })
    : fiscalYear,
)

const whole = (name: string) =>
  v.pipe(v.string(), v.regex(/^\d{1,15}$/, `must be a whole number, as ${name}`), v.transform(Number))

export const ordersQuery = v.object({
  status: v.optional(v.picklist(STATUSES, `must be one of ${STATUSES.join(', ')}`)),
  source: v.optional(text),
  q: v.optional(text),
  limit: v.optional(v.pipe(whole('limit'), v.minValue(1), v.maxValue(500)), '50'),
  before: v.optional(whole('before')),
})

export const deliveriesQuery = v.object({
  order: v.optional(text),
  limit: v.optional(v.pipe(whole('limit'), v.minValue(1), v.maxValue(500)), '50'),
})

export type SettingsChange = v.InferOutput<typeof settingsChange>
export type ProductChange = v.InferOutput<typeof productChange>
export type FiscalYearsChange = v.InferOutput<typeof fiscalYearsChange>
export type OrdersQuery = v.InferOutput<typeof ordersQuery>
