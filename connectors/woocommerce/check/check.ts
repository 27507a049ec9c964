import { amountOf, moneyText } from '../lib/amounts.ts'
import { type CaseCode, LEVELS, type Level, levelOf } from '../lib/cases.ts'
import { mapOrder } from '../lib/mapping.ts'
import { DEFAULTS, FACTORS, type Method, methodOf, type Settings } from '../lib/settings.ts'
import type { Product, Shop } from '../lib/shop.ts'
import { ORDER_FIELDS, type ShopOrder } from '../lib/shop-order.ts'
import type { Accounting } from './accounting.ts'

/** What was found, how often, and the first examples: numbers of orders, products or statuses. */
type Finding = { code: CaseCode; level: Level; count: number; examples: readonly string[] }

const EXAMPLES = 5

const FIELDS = ORDER_FIELDS.filter(field => field !== 'meta_data')

/** An order to be invoiced and, if it has no invoice or one with a different total, the reason. */
export type CheckedOrder = {
  order: string
  /** The total in the shop, such as `1500 IRT`. */
  amount: string
  /** The same in rials; undefined in a currency that is not converted. */
  total?: string
  /** The total of the invoice in rials; undefined if there is none. */
  invoiceTotal?: string
  causes: readonly CaseCode[]
}

export type CheckReport = {
  shop: string
  from: string
  to: string
  /** Orders of the period, and the invoices that they become. */
  orders: number
  invoices: number
  /** Whether prices include tax in the shop and in the accounting service, and the rate of the service in percent. */
  tax: { shop: TaxMode; accounting: TaxMode; rate: number }
  /** Sums in rials: of all orders with a status that is invoiced, and of the invoices. */
  total: string
  invoiceTotal: string
  /** The orders whose invoices have the same total, and all other orders to be invoiced. */
  equal: readonly CheckedOrder[]
  differences: readonly CheckedOrder[]
  findings: readonly Finding[]
  statuses: readonly { status: string; name: string; orders: number; isInvoiced: boolean }[]
  payments: readonly { gateway: string; title: string; method: Method; orders: number }[]
  settings: Settings
  /** Whether `relay woo connect` accepts these settings. */
  canConnect: boolean
}

type TaxMode = 'included' | 'excluded' | 'off'

const taxModeOf = async (shop: Shop): Promise<TaxMode> => {
  if ((await shop.setting('general', 'woocommerce_calc_taxes')) !== 'yes') return 'off'
  return (await shop.setting('tax', 'woocommerce_prices_include_tax')) === 'yes' ? 'included' : 'excluded'
}

const collector = () => {
  const found = new Map<CaseCode, Set<string>>()
  return {
    add: (code: CaseCode, example: string) => {
      found.set(code, (found.get(code) ?? new Set()).add(example))
    },
    /** Most severe first. */
    findings: (): Finding[] =>
      LEVELS.flatMap(level =>
        [...found]
          .filter(([code]) => levelOf(code) === level)
          .map(([code, all]) => ({
            code,
            level,
            count: all.size,
            examples: [...all].filter(Boolean).slice(0, EXAMPLES),
          })),
      ),
  }
}

/** The tax of an item in percent, rounded to a tenth; undefined for an item without a price. */
const rateOf = ({ total, total_tax }: ShopOrder['line_items'][number]) => {
  const [net, tax] = [amountOf(total), amountOf(total_tax)]
  return net === 0n ? undefined : Math.round((Number(tax) / Number(net)) * 1000) / 10
}

/** The settings derived from the shop and the accounting service, unless others are given. */
const suggested = async (
  shop: Shop,
  url: string,
  accounting: Accounting,
  given: Partial<Settings>,
): Promise<Settings> => ({
  source: new URL(url).hostname,
  shop: url,
  currency: String(await shop.setting('general', 'woocommerce_currency')),
  decimals: Number(await shop.setting('general', 'woocommerce_price_num_decimals')),
  ...DEFAULTS,
  taxRate: accounting.taxRate,
  pricesIncludeTax: accounting.pricesIncludeTax,
  ...given,
})

/** The products and variations that can be sold; `isShared` if a variation has the SKU of its product. */
async function* sellable(shop: Shop): AsyncGenerator<Product & { isShared: boolean }> {
  for await (const product of shop.products()) {
    if (product.type !== 'variable') {
      yield { ...product, isShared: false }
      continue
    }
    // WooCommerce reports the product's SKU for a variation without one.
    for await (const variation of shop.variations(product.id))
      yield {
        ...variation,
        name: `${product.name} – ${variation.name || variation.id}`,
        isShared: variation.sku === product.sku && product.sku !== '',
      }
  }
}

/**
 * Reads the orders of a period and reports how each would be invoiced. Writes nothing.
 *
 * @param given settings of the user, which override those derived from the shop
 */
export const checkShop = async (
  shop: Shop,
  {
    url,
    accounting,
    from,
    to,
    given = {},
    onOrder = () => undefined,
  }: {
    url: string
    accounting: Accounting
    from: Date
    to: Date
    given?: Partial<Settings>
    /** Called for each order that was read. */
    onOrder?: () => void
  },
): Promise<CheckReport> => {
  const base = await suggested(shop, url, accounting, given)
  const { add, findings } = collector()
  const statuses = new Map<string, number>()
  const payments = new Map<string, number>()
  const equal: CheckedOrder[] = []
  const differences: CheckedOrder[] = []
  const sums = { orders: 0, invoices: 0, total: 0n, invoiceTotal: 0n }
  if (!(base.currency in FACTORS)) add('shop_currency', base.currency)
  if (!base.pricesIncludeTax) add('prices_exclude_tax', '')
  if (accounting.skus === undefined) add('unknown_products', '')

  const checkOrder = (order: ShopOrder) => {
    const name = order.number ?? String(order.id)
    sums.orders++
    statuses.set(order.status, (statuses.get(order.status) ?? 0) + 1)
    if (!base.statuses.includes(order.status)) return
    if (order.payment_method !== '')
      payments.set(order.payment_method, (payments.get(order.payment_method) ?? 0) + 1)
    const amount = moneyText(amountOf(order.total), order.currency)
    if (!(order.currency in FACTORS)) {
      // Reported once for the whole shop.
      if (order.currency !== base.currency) add('currency', `${name}: ${order.currency}`)
      differences.push({ order: name, amount, causes: ['currency'] })
      return
    }
    const { problems, total, invoiceTotal, request, isPhoneOmitted } = mapOrder(order, base)
    const causes = new Set<CaseCode>()
    const addCause = (code: CaseCode, example = name) => {
      add(code, example)
      causes.add(code)
    }
    const hasOtherRate = order.line_items.some(line => (rateOf(line) ?? base.taxRate) !== base.taxRate)
    if (hasOtherRate) add('tax_differs', name)
    for (const { code, detail } of problems)
      if (code === 'tax_rounding' && hasOtherRate) causes.add('tax_differs')
      else addCause(code, code === 'no_sku' ? detail : name)
    for (const { sku, name: item = '' } of request?.items ?? [])
      if (accounting.skus?.has(sku) === false) addCause('unknown_sku', `${sku}: ${item}`)
    if (request !== undefined && request.customer?.mobile === undefined && !accounting.hasDefaultCustomer)
      addCause('no_customer')
    else if (isPhoneOmitted) add('phone_omitted', name)
    if (order.refunds.length > 0) add('partial_refund', name)
    const invoice = causes.has('unknown_sku') ? undefined : invoiceTotal
    if (invoice !== undefined) sums.invoices++
    sums.total += total
    sums.invoiceTotal += invoice ?? 0n
    const checked = {
      order: name,
      amount,
      total: String(total),
      causes: [...causes],
      ...(invoice !== undefined && { invoiceTotal: String(invoice) }),
    }
    if (causes.size === 0) equal.push(checked)
    else differences.push(checked)
  }

  for await (const order of shop.orders(from, to, FIELDS)) {
    checkOrder(order)
    onOrder()
  }
  for await (const { name, sku, isShared } of sellable(shop)) {
    if (sku === '') add('no_sku', name)
    else if (isShared) add('shared_sku', name)
    else if (accounting.skus?.has(sku) === false) add('unknown_sku', `${sku}: ${name}`)
  }

  const names = new Map((await shop.statuses()).map(({ slug, name }) => [slug, name]))
  const inUse = [...statuses].map(([status, orders]) => ({
    status,
    name: names.get(status) ?? status,
    orders,
    isInvoiced: base.statuses.includes(status),
  }))
  for (const { status, isInvoiced } of inUse)
    if (!isInvoiced && !STANDARD_STATUSES.has(status)) add('unmapped_status', status)
  const gateways = await shop.gateways()
  const titles = new Map(gateways.map(({ id, title }) => [id, title]))
  const enabled = gateways.filter(gateway => gateway.enabled).map(({ id }) => id)
  const methods = [...new Set([...enabled, ...payments.keys()])].map(gateway => ({
    gateway,
    title: titles.get(gateway) ?? '',
    orders: payments.get(gateway) ?? 0,
    method: base.payments[gateway] ?? methodOf(gateway),
  }))
  const settings: Settings = {
    ...base,
    payments: Object.fromEntries(methods.map(({ gateway, method }) => [gateway, method])),
  }
  const found = findings()
  return {
    shop: url,
    from: from.toISOString(),
    to: to.toISOString(),
    orders: sums.orders,
    invoices: sums.invoices,
    tax: {
      shop: await taxModeOf(shop),
      accounting: settings.pricesIncludeTax ? 'included' : 'excluded',
      rate: settings.taxRate,
    },
    total: String(sums.total),
    invoiceTotal: String(sums.invoiceTotal),
    equal,
    differences,
    findings: found,
    statuses: inUse,
    payments: methods,
    settings,
    canConnect: !found.some(({ level }) => level === 'stop'),
  }
}

/** WooCommerce's own statuses. Those that are not invoiced have nothing to invoice yet, or no longer. */
const STANDARD_STATUSES = new Set([
  'pending',
  'processing',
  'on-hold',
  'completed',
  'cancelled',
  'refunded',
  'failed',
  'checkout-draft',
  'auto-draft',
  'trash',
])
