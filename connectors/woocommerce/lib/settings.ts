import * as v from 'valibot'
import { parse, stringify } from 'yaml'
import { rials } from './cases.ts'

/** Rials per unit of the currencies that Persian shops use. */
export const FACTORS: Readonly<Record<string, number>> = { IRR: 1, IRT: 10, IRHR: 1000, IRHT: 10_000 }

const METHODS = ['online', 'transfer', 'card', 'pos', 'cash'] as const
export type Method = (typeof METHODS)[number]

/** The payment methods included in WooCommerce; every other gateway is an online payment. */
const METHOD_OF: Readonly<Record<string, Method>> = { bacs: 'transfer', cheque: 'transfer', cod: 'cash' }

export const methodOf = (gateway: string): Method => METHOD_OF[gateway] ?? 'online'

/** Statuses of the accounting service that the shop can show with its own statuses. */
const SHOWN = ['needs_review', 'invoiced', 'paid', 'refunded'] as const

/** Setting these would refund the customer, restock the items, or hide the order. */
const NEVER_SET = ['refunded', 'cancelled', 'failed', 'trash', 'checkout-draft', 'auto-draft']

const isTimeZone = (text: string) => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: text }))
  } catch {
    return false
  }
}

/** The connection of one shop. */
const settings = v.strictObject({
  source: v.pipe(v.string('must be the source of the shop in stores.yml'), v.nonEmpty('must not be empty')),
  shop: v.pipe(v.string('must be a URL'), v.url('must be a URL, such as https://shop.example')),
  currency: v.picklist(Object.keys(FACTORS), `must be one of ${Object.keys(FACTORS).join(', ')}`),
  /** Decimals of the shop's prices, which limit the rounding difference of an order's total. */
  decimals: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(6)),
  timeZone: v.pipe(v.string(), v.check(isTimeZone, 'must be a time zone, such as Asia/Tehran')),
  /** The tax rate of the accounting service in percent. */
  taxRate: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
  /** Whether prices in the accounting service include tax. */
  pricesIncludeTax: v.boolean(),
  /** The statuses of orders that become invoices. */
  statuses: v.pipe(v.array(v.string()), v.minLength(1, 'must name at least one status')),
  /** The payment method in the accounting service for each method of the shop. */
  payments: v.record(v.string(), v.picklist(METHODS, `must be one of ${METHODS.join(', ')}`)),
  /** The shop's status for a status of the accounting service; others are not changed. */
  shopStatuses: v.optional(
    v.record(
      v.picklist(SHOWN, `must be one of ${SHOWN.join(', ')}`),
      v.pipe(v.string(), v.notValues(NEVER_SET, `must be none of ${NEVER_SET.join(', ')}`)),
    ),
    {},
  ),
})

export type Settings = v.InferOutput<typeof settings>

/** Defaults of settings that cannot be read from a shop. */
export const DEFAULTS = {
  timeZone: 'Asia/Tehran',
  statuses: ['processing', 'completed'],
  payments: {},
  shopStatuses: {},
} satisfies Partial<Settings>

const COMMENTS: Readonly<Record<string, string>> = {
  source: 'Source of the shop in stores.yml.',
  currency: `Currency of the shop: ${Object.entries(FACTORS)
    .map(([code, factor]) => `${code} (${rials(BigInt(factor), 'en')})`)
    .join(', ')}.`,
  decimals: 'Number of decimals of the prices in the shop.',
  timeZone: 'Time zone of the accounting service, for the dates of invoices.',
  taxRate: 'Tax rate of the accounting service in percent, and whether its prices include tax.',
  statuses: 'Statuses of orders that become invoices.',
  payments: `Payment method in the accounting service (${METHODS.join(', ')}) for each method of the shop.`,
  shopStatuses: `Status that an order gets in the shop for a status in the accounting service (${SHOWN.join(', ')}), such as paid: completed. {} changes none.`,
}

/** The file that `relay woo check` writes, with comments. */
export const settingsFile = (values: Settings): string =>
  Object.entries(values)
    .map(([name, value]) => {
      const comment = COMMENTS[name]
      return `${comment === undefined ? '' : `# ${comment}\n`}${stringify({ [name]: value })}`
    })
    .join('')

/**
 * Reads a settings file.
 *
 * @throws Error with the field, its value and the expected format
 */
export const readSettings = (text: string): Settings => {
  const reading = v.safeParse(settings, parse(text))
  if (reading.success) return reading.output
  const [issue] = reading.issues
  const field = v.getDotPath(issue) ?? 'the file'
  throw new Error(`Cannot read the settings: ${field} is ${JSON.stringify(issue.input)}: ${issue.message}`)
}
