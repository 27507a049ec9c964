import { amountOf } from '../lib/amounts.ts'
import { mapOrder } from '../lib/mapping.ts'
import { DEFAULTS, FACTORS, methodOf, type Settings } from '../lib/settings.ts'
import type { Product, Shop } from '../lib/shop.ts'
import { ORDER_FIELDS, type ShopOrder } from '../lib/shop-order.ts'
import type { Accounting } from './accounting.ts'
import { FINDINGS, type Level } from './texts.ts'

/** What was found, how often, and the first examples: numbers of orders, or names of products. */
type Finding = { code: FindingCode; level: Level; count: number; examples: readonly string[] }

type FindingCode = keyof typeof FINDINGS

const EXAMPLES = 5

const FIELDS = ORDER_FIELDS.filter(field => field !== 'meta_data')

/** An order that would become no invoice, or one with another total; amounts are rials. */
type Difference = {
  order: string
  /** Undefined for an order in a currency that is not converted. */
  total: string | undefined
  /** The shop's amount of such an order, such as `100 USD`. */
  amount?: string
  invoiceTotal: string | undefined
  causes: readonly FindingCode[]
}

export type CheckReport = {
  shop: string
  from: string
  to: string
  /** Orders of the period, those that would get an invoice, and those whose totals are equal. */
  orders: number
  invoices: number
  equal: number
  /** Whether the prices of the shop, and those of the accounting, include tax. */
  tax: { shop: TaxMode; accounting: TaxMode; rate: number }
  /** Sums in rials: of all orders whose status makes them invoices, and of the invoices. */
  total: string
  invoiceTotal: string
  differences: readonly Difference[]
  findings: readonly Finding[]
  statuses: readonly { status: string; name: string; orders: number; isInvoiced: boolean }[]
  payments: readonly { gateway: string; title: string; method: string; orders: number }[]
  settings: Settings
  /** Whether `relay woo connect` takes these settings. */
  canConnect: boolean
}

type TaxMode = 'included' | 'excluded' | 'off'

const taxModeOf = async (shop: Shop): Promise<TaxMode> => {
  if ((await shop.setting('general', 'woocommerce_calc_taxes')) !== 'yes') return 'off'
  return (await shop.setting('tax', 'woocommerce_prices_include_tax')) === 'yes' ? 'included' : 'excluded'
}

const collector = () => {
  const found = new Map<FindingCode, Set<string>>()
  return {
    add: (code: FindingCode, example: string) => {
      const examples = found.get(code) ?? new Set()
      found.set(code, examples.add(example))
    },
    findings: (): Finding[] =>
      Object.entries(FINDINGS).flatMap(([name, { level }]) => {
        const code = name as FindingCode
        const examples = found.get(code)
        if (examples === undefined) return []
        return [{ code, level, count: examples.size, examples: [...examples].slice(0, EXAMPLES) }]
      }),
  }
}

/** The tax of an item in percent, rounded to a tenth; undefined for an item without a price. */
const rateOf = ({ total, total_tax }: ShopOrder['line_items'][number]) => {
  const [net, tax] = [amountOf(total), amountOf(total_tax)]
  return net === 0n ? undefined : Math.round((Number(tax) / Number(net)) * 1000) / 10
}

/** The payment method and the day of the settings that the shop itself suggests. */
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

/** The products and variations that can be sold, each with its own SKU, if any. */
async function* sellable(shop: Shop): AsyncGenerator<Product & { isShared: boolean }> {
  for await (const product of shop.products()) {
    if (product.type !== 'variable') {
      yield { ...product, isShared: false }
      continue
    }
    // A variation without a SKU reports that of its product.
    for await (const variation of shop.variations(product.id))
      yield {
        ...variation,
        name: `${product.name} – ${variation.name || variation.id}`,
        isShared: variation.sku === product.sku && product.sku !== '',
      }
  }
}

/**
 * Reads the orders of a period and says what would become of each. Writes nothing.
 *
 * @param given settings that the user has chosen, instead of those that the shop suggests
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
  const differences: Difference[] = []
  const sums = { orders: 0, invoices: 0, equal: 0, total: 0n, invoiceTotal: 0n }
  if (!(base.currency in FACTORS)) add('shop_currency', base.currency)
  if (!base.pricesIncludeTax) add('prices_exclude_tax', `${base.taxRate} %`)
  if (accounting.skus === undefined) add('unknown_products', '')

  const checkOrder = (order: ShopOrder) => {
    const name = order.number ?? String(order.id)
    sums.orders++
    statuses.set(order.status, (statuses.get(order.status) ?? 0) + 1)
    if (!base.statuses.includes(order.status)) return
    if (order.payment_method !== '')
      payments.set(order.payment_method, (payments.get(order.payment_method) ?? 0) + 1)
    if (!(order.currency in FACTORS)) {
      // That of the whole shop is a finding of its own.
      if (order.currency !== base.currency) add('currency', `${name}: ${order.currency}`)
      const amount = `${order.total} ${order.currency}`
      differences.push({
        order: name,
        total: undefined,
        amount,
        invoiceTotal: undefined,
        causes: ['currency'],
      })
      return
    }
    const { problems, total, invoiceTotal, request, isPhoneOmitted } = mapOrder(order, base)
    const causes = new Set<FindingCode>()
    for (const problem of problems) {
      add(problem.code, 'item' in problem ? problem.item : name)
      causes.add(problem.code)
    }
    for (const { sku, name: item } of request?.items ?? []) {
      if (accounting.skus === undefined || accounting.skus.has(sku)) continue
      add('unknown_sku', item === undefined ? sku : `${sku} (${item})`)
      causes.add('unknown_sku')
    }
    if (order.line_items.some(line => (rateOf(line) ?? base.taxRate) !== base.taxRate))
      add('tax_differs', name)
    if (isPhoneOmitted) add('phone_omitted', name)
    if (request !== undefined && request.customer?.mobile === undefined && !accounting.hasDefaultCustomer) {
      add('no_customer', name)
      causes.add('no_customer')
    }
    if (order.refunds.length > 0) add('partial_refund', name)
    const invoice = causes.has('unknown_sku') ? undefined : invoiceTotal
    if (invoice !== undefined) sums.invoices++
    sums.total += total
    sums.invoiceTotal += invoice ?? 0n
    if (causes.size === 0) sums.equal++
    else
      differences.push({
        order: name,
        total: String(total),
        invoiceTotal: invoice?.toString(),
        causes: [...causes],
      })
  }

  for await (const order of shop.orders(from, to, FIELDS)) {
    checkOrder(order)
    onOrder()
  }
  for await (const { name, sku, isShared } of sellable(shop)) {
    if (sku === '') add('no_sku', name)
    else if (isShared) add('shared_sku', name)
    else if (accounting.skus !== undefined && !accounting.skus.has(sku))
      add('unknown_sku', `${sku} (${name})`)
  }

  const names = new Map((await shop.statuses()).map(({ slug, name }) => [slug, name]))
  const inUse = [...statuses].map(([status, orders]) => ({
    ...{ status, name: names.get(status) ?? status, orders },
    isInvoiced: base.statuses.includes(status),
  }))
  for (const { status, isInvoiced } of inUse)
    if (!isInvoiced && !STANDARD_STATUSES.has(status)) add('unmapped_status', status)
  const known = await shop.gateways()
  const titles = new Map(known.map(({ id, title }) => [id, title]))
  const enabled = known.filter(gateway => gateway.enabled).map(({ id }) => id)
  const gateways = new Set([...enabled, ...payments.keys()])
  const settings: Settings = {
    ...base,
    payments: Object.fromEntries([...gateways].map(id => [id, base.payments[id] ?? methodOf(id)])),
  }
  const found = findings()
  return {
    ...{ shop: url, from: from.toISOString(), to: to.toISOString() },
    ...{ orders: sums.orders, invoices: sums.invoices, equal: sums.equal },
    tax: {
      shop: await taxModeOf(shop),
      ...{ accounting: settings.pricesIncludeTax ? 'included' : 'excluded', rate: settings.taxRate },
    },
    ...{ total: String(sums.total), invoiceTotal: String(sums.invoiceTotal) },
    differences,
    findings: found,
    statuses: inUse,
    payments: [...gateways].map(gateway => ({
      ...{ gateway, title: titles.get(gateway) ?? '', method: settings.payments[gateway] ?? '' },
      orders: payments.get(gateway) ?? 0,
    })),
    settings,
    canConnect: !found.some(({ level }) => level === 'stop'),
  }
}

/** WooCommerce's own statuses. Those that become no invoice have nothing to invoice yet, or no more. */
const STANDARD_STATUSES = new Set([
  ...['pending', 'processing', 'on-hold', 'completed', 'cancelled', 'refunded', 'failed'],
  ...['checkout-draft', 'auto-draft', 'trash'],
])
