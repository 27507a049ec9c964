import { normaliseMobile } from '../../lib/protocol/mobile.ts'
import { type Clock, dayOf } from '../clock.ts'
import { shown } from '../decimal.ts'
import { digitsOf, type PricedRow, price } from '../pricing.ts'
import { quoted, Refusal, valid } from '../refusal.ts'
import { type OrderRequest, orderKey, orderRequest } from '../requests.ts'
import type { Settings } from '../store/catalogue.ts'
import type { Store } from '../store/open.ts'
import type { InvoiceRow } from '../store/orders.ts'
import { finalize } from './finalize.ts'
import { paymentOf } from './pay-invoice.ts'
import { type Result, readOrder, resultOf } from './read-order.ts'

const defaultCustomer = ({ defaultCustomer }: Settings, state: string) => {
  if (defaultCustomer !== null) return defaultCustomer
  const field = 'customer.mobile'
  throw new Refusal('no_customer', `Field "${field}" ${state}, and no default customer is selected`, field)
}

/**
 * The code of the order's customer, found or created by mobile number (spec: business rules 1 to 3). Runs in
 * the caller's transaction.
 *
 * @throws Refusal when no customer matches and no default customer is selected
 */
const customerFor = (customer: OrderRequest['customer'], settings: Settings, store: Store): string => {
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

const fiscalDate = (date: string, store: Store) => {
  if (store.fiscalYears.cover(date)) return date
  throw new Refusal('outside_fiscal_years', `Field "date" is ${date}: outside the fiscal years`, 'date')
}

const productName = (sku: string, index: number, store: Store) => {
  const product = store.products.find(sku)
  if (product !== undefined) return product.name
  const field = `items[${index}].sku`
  throw new Refusal('unknown_sku', `Field "${field}" is ${quoted(sku)}: no product has this code`, field)
}

/** The fields of the rows other than their amounts (spec: item; the name defaults to the product name). */
const descriptions = (request: OrderRequest, store: Store) => [
  ...request.items.map(({ sku, name, quantity, unit_price, discount }, index) => {
    const product = productName(sku, index, store)
    return {
      sku,
      name: name || product,
      quantity: digitsOf(quantity),
      unit_price: digitsOf(unit_price),
      discount: digitsOf(discount ?? 0),
    }
  }),
  {
    sku: null,
    name: 'هزینه ارسال',
    quantity: '1',
    unit_price: digitsOf(request.shipping ?? 0),
    discount: '0',
  },
]

const invoiceRow = (row: PricedRow, description: ReturnType<typeof descriptions>[number]): InvoiceRow => ({
  kind: row.kind,
  ...description,
  amount: String(row.amount),
  order_discount: String(row.orderDiscount),
  net: String(row.net),
  tax: String(row.tax),
})

/** Stores the draft and its rows. */
const draft = (request: OrderRequest, store: Store, now: Date) => {
  const settings = store.settings.read()
  const date = fiscalDate(request.date ?? dayOf(now), store)
  const described = descriptions(request, store)
  const { rows, totals } = price(request, settings)
  const total = String(totals.total)
  const invoice_number = store.orders.insert({
    source: request.source,
    external_id: request.external_id,
    status: 'needs_review',
    error: 'Not finalized yet',
    date,
    customer_code: customerFor(request.customer, settings, store),
    tax_rate: shown(settings.taxRate),
    prices_include_tax: settings.pricesIncludeTax ? 1 : 0,
    amount: String(totals.amount),
    order_discount: String(totals.orderDiscount),
    net: String(totals.net),
    tax: String(totals.tax),
    total,
    created_at: now.toISOString(),
  })
  rows.forEach((row, index) => {
    const description = described[index]
    if (description !== undefined)
      store.invoiceRows.insert(invoice_number, index, invoiceRow(row, description))
  })
  return { invoice_number, total, date }
}

const register = (request: OrderRequest, store: Store, clock: Clock) => {
  const now = clock()
  const { source, external_id, payment } = request
  const { date, ...invoice } = draft(request, store, now)
  const { invoice_number } = invoice
  const message = `Order received${payment ? ' with its payment' : ''}, invoice ${invoice_number} drafted`
  store.history.add(invoice_number, { at: now.toISOString(), kind: 'created', message })
  const paid = payment ? paymentOf(payment, date) : undefined
  const isFinal = finalize(invoice, paid, store, clock)
  if (!isFinal && paid) store.heldPayments.put(invoice_number, paid)
  store.changes.note({ kind: 'order', source, external_id })
}

/**
 * Turns a store order into an invoice, and a receipt if it is paid (spec: POST orders). For an order that is
 * already registered, returns its current state and ignores the rest of the body, even if it is invalid.
 *
 * @param body the parsed JSON body, not yet validated
 * @throws Refusal when the order is rejected; nothing is registered
 */
export const createOrder = (body: unknown, store: Store, clock: Clock): Result & { duplicate: boolean } => {
  const key = valid(orderKey, body)
  return store.transact(() => {
    const registered = store.orders.find(key)
    if (registered !== undefined) return { ...resultOf(registered), duplicate: true }
    register(valid(orderRequest, body), store, clock)
    return { ...readOrder(key, store), duplicate: false }
  })
}
