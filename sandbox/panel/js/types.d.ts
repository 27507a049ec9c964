/** The panel's HTTP interface as the page reads it. Money is a string of digits: whole rials, any size. */

export type Status = 'needs_review' | 'invoiced' | 'paid' | 'refunded'

export type OrderResult = {
  source: string
  external_id: string
  status: Status
  status_display: string
  total: string
  invoice_number: number
  invoice_status: string
  receipt_number: number | null
  return_number: number | null
  error: string | null
}

export type Customer = { code: string; mobile: string | null; name: string; email: string | null }

export type OrderSummary = OrderResult & {
  date: string
  created_at: string
  updated_at: string
  customer: Pick<Customer, 'code' | 'name' | 'mobile'> | null
}

export type OrderList = { orders: OrderSummary[]; next: string | null; counts: Record<Status, number> }

export type InvoiceRow = {
  kind: 'item' | 'shipping'
  sku: string | null
  name: string
  quantity: number | string
  unit_price: string
  discount: string
  amount: string
  orderDiscount: string
  net: string
  tax: string
}

export type Totals = Record<'amount' | 'orderDiscount' | 'net' | 'tax' | 'total', string>

export type Receipt = {
  number: number
  method: string
  type: 'cash' | 'transfer' | 'pos'
  amount: string
  reference: string | null
  date: string
  account: { code: string; name: string }
}

export type HistoryEntry = {
  at: string
  kind:
    | 'created'
    | 'held'
    | 'finalized'
    | 'paid'
    | 'reversed'
    | 'refunded'
    | 'retried'
    | 'reviewed'
    | 'corrected'
    | 'refused'
    | 'webhook'
  message: string
}

export type OrderDetail = OrderResult & {
  date: string
  created_at: string
  updated_at: string
  customer: Customer | null
  rows: InvoiceRow[]
  totals: Totals
  tax_rate: number
  prices_include_tax: boolean
  receipt: Receipt | null
  return: { number: number; date: string; reason: string | null } | null
  held_payment: { method: string; reference: string | null; date: string | null } | null
  history: HistoryEntry[]
}

export type Product = { sku: string; name: string; stock: number }

export type Account = { code: string; name: string; kind: 'cash' | 'bank' }

export type FiscalYear = { from: string; to: string }

export type Settings = {
  defaultCustomer: string | null
  automaticCustomerCreation: boolean
  orderPaymentReceivingAccount: string | null
  taxRate: number
  pricesIncludeTax: boolean
  automaticFinalization: boolean
  duplicatesReturnOriginal: boolean
}

export type Webhook = { url: string; created_at: string }

export type Attempt = {
  at: string
  t: number
  status: number | null
  latency_ms: number
  error: string | null
  response: string | null
}

export type Delivery = {
  delivery: string
  url: string
  event: string
  source: string
  external_id: string
  status: Status
  state: 'pending' | 'delivered' | 'failed'
  created_at: string
  next_attempt_at: string | null
  attempts: Attempt[]
}

export type ChangeKind =
  | 'order'
  | 'product'
  | 'customer'
  | 'settings'
  | 'account'
  | 'fiscal-year'
  | 'webhook'
  | 'delivery'

/** What the address names: `#/orders/1001?source=api` is path ['orders', '1001'] with its query. */
export type Route = { path: string[]; query: URLSearchParams }

export type Context = {
  route: Route
  /** Draws again with the data at hand, for a change of the page's own state. */
  redraw: () => void
  /** Reads the data again and draws. */
  reload: () => Promise<void>
}

/** One page of the panel: reads what it shows, and draws it without side effects. */
export type View<Data> = {
  /** Which changes in the service make this page read again. */
  depends: ChangeKind[]
  title(route: Route): string
  load(route: Route): Promise<Data>
  draw(data: Data, context: Context): Child[]
  /** What to tell a screen reader when the data changed while the page was open. */
  news?(before: Data, after: Data): string | undefined
  /** Forgets the page's own state when the page is entered. */
  enter?(): void
}

export type Child = Node | string | number | null | undefined | false | Child[]
