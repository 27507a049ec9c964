import { ExactNumber } from '@order-relay/lib/protocol/json.ts'
import { PAYMENT_METHODS } from '@order-relay/lib/protocol/requests.ts'
import { STATUSES } from '@order-relay/lib/protocol/status.ts'
import { ORDER_UPDATED } from '@order-relay/lib/protocol/webhook.ts'
import * as v from 'valibot'
import { OBSTACLES } from '../actions/documents.ts'
import * as panel from '../panel-requests.ts'
import * as requests from '../requests.ts'
import { DOCUMENT_KINDS } from '../store/document-list.ts'
import { RECEIPT_TYPES } from '../store/documents.ts'
import { MOVE_KINDS } from '../store/stock-moves.ts'

const text = v.string()
const number = v.pipe(v.number(), v.integer())
const digits = v.pipe(text, v.regex(/^\d+$/))
const day = v.pipe(text, v.isoDate())
const time = v.pipe(text, v.isoTimestamp())
const exact = v.union([v.number(), v.instance(ExactNumber)])
const uuid = v.pipe(text, v.uuid())
const status = v.picklist(STATUSES)

const key = { source: text, external_id: text }

const result = {
  ...key,
  status,
  status_display: text,
  total: digits,
  invoice_number: number,
  invoice_status: v.picklist(['draft', 'posted']),
  receipt_number: v.nullable(number),
  return_number: v.nullable(number),
  error: v.nullable(text),
}

const orderResult = v.strictObject(result)

const error = v.strictObject({
  error: v.strictObject({ code: text, message: text, field: v.exactOptional(text) }),
})

const settings = v.strictObject({
  defaultCustomer: v.nullable(text),
  automaticCustomerCreation: v.boolean(),
  orderPaymentReceivingAccount: v.nullable(text),
  taxRate: exact,
  pricesIncludeTax: v.boolean(),
  automaticFinalization: v.boolean(),
  duplicatesReturnOriginal: v.boolean(),
  correctionsSendWebhooks: v.boolean(),
})

const product = v.strictObject({ sku: text, name: text, stock: exact, price: v.nullable(exact), unit: text })

const identity = { economicCode: text, nationalId: text, address: text, postalCode: text, phone: text }

const seller = v.strictObject({ name: text, ...identity })

const buyer = v.strictObject({
  code: text,
  mobile: v.nullable(text),
  name: text,
  email: v.nullable(text),
  ...identity,
})

const dated = {
  ...result,
  date: day,
  created_at: time,
  updated_at: time,
  received: digits,
  returned: digits,
  repaid: digits,
  held: digits,
  review_reason: v.nullable(text),
}

const obstacles = v.array(v.strictObject({ kind: v.picklist(OBSTACLES), message: text }))

const orderSummary = v.strictObject({
  ...dated,
  customer: v.nullable(v.strictObject({ code: text, name: text, mobile: v.nullable(text) })),
  obstacles,
})

const money = { amount: digits, orderDiscount: digits, net: digits, tax: digits }

const quantity = v.union([v.number(), text])

const invoiceRow = v.strictObject({
  row: number,
  kind: v.picklist(['item', 'shipping']),
  sku: v.nullable(text),
  name: text,
  unit: v.nullable(text),
  quantity,
  returned: quantity,
  left: quantity,
  unit_price: text,
  discount: text,
  gross: digits,
  ...money,
})

const receiptType = v.picklist(RECEIPT_TYPES)

const account = v.strictObject({ code: text, name: text })

const accountDetail = v.strictObject({
  code: text,
  name: text,
  kind: v.picklist(panel.ACCOUNT_KINDS),
  openingBalance: exact,
  openingDate: v.nullable(day),
  inUse: v.boolean(),
})

const paid = {
  method: v.picklist(PAYMENT_METHODS),
  reference: text,
  note: text,
  date: day,
  account: v.nullable(account),
}

const signed = v.pipe(text, v.regex(/^-?\d+$/))

const receipt = { number, amount: digits, ...paid, type: receiptType }

const repayment = { number, amount: digits, ...paid, account }

const salesReturn = {
  number,
  date: day,
  reason: v.nullable(text),
  amount: digits,
  rows: v.array(
    v.strictObject({
      row: number,
      sku: v.nullable(text),
      name: text,
      unit: v.nullable(text),
      unit_price: text,
      quantity,
      net: digits,
      tax: digits,
    }),
  ),
}

const cancellation = { cancelled_at: time, cancel_reason: v.nullable(text) }

const shortages = v.array(v.strictObject({ sku: text, name: text, needed: text, available: text }))

const orderDetail = v.strictObject({
  ...dated,
  seller,
  customer: v.nullable(buyer),
  rows: v.array(invoiceRow),
  original_total: digits,
  totals: v.strictObject({ rowDiscounts: digits, ...money, total: digits }),
  balance: signed,
  tax_rate: exact,
  prices_include_tax: v.boolean(),
  receipts: v.array(v.strictObject(receipt)),
  repayments: v.array(v.strictObject(repayment)),
  returns: v.array(v.strictObject({ ...salesReturn, shortages })),
  returned_shortages: shortages,
  cancelled: v.strictObject({
    receipts: v.array(v.strictObject({ ...receipt, ...cancellation })),
    repayments: v.array(v.strictObject({ ...repayment, ...cancellation })),
    returns: v.array(v.strictObject({ ...salesReturn, ...cancellation })),
  }),
  held_payments: v.array(
    v.strictObject({ amount: v.nullable(digits), ...paid, total: digits, whole: v.boolean() }),
  ),
  obstacles,
  shortages,
  warnings: v.array(text),
  history: v.array(v.strictObject({ at: time, kind: text, message: text })),
})

const document = v.strictObject({
  kind: v.picklist(DOCUMENT_KINDS),
  number,
  date: day,
  ...key,
  invoice_number: number,
  customer: text,
  method: v.nullable(v.picklist(PAYMENT_METHODS)),
  type: v.nullable(receiptType),
  account: v.nullable(account),
  reference: v.nullable(text),
  note: v.nullable(text),
  reason: v.nullable(text),
  amount: digits,
  net: v.nullable(digits),
  tax: v.nullable(digits),
  created_at: time,
  cancelled_at: v.nullable(time),
  cancel_reason: v.nullable(text),
})

const documentSums = { count: number, amount: digits }

const refusal = v.strictObject({
  ...key,
  code: text,
  message: text,
  field: v.nullable(text),
  current: v.nullable(v.strictObject({ code: text, message: text, field: v.nullable(text) })),
  body: v.nullable(text),
  customer: v.nullable(text),
  sent: v.nullable(
    v.strictObject({
      items: v.array(
        v.strictObject({
          sku: text,
          name: v.nullable(text),
          quantity: exact,
          unit_price: exact,
          discount: exact,
        }),
      ),
      shipping: exact,
      discount: exact,
      date: v.nullable(text),
      method: v.nullable(v.picklist(PAYMENT_METHODS)),
      total: v.nullable(digits),
    }),
  ),
  missing: v.array(v.strictObject({ sku: text, name: text, unit_price: exact })),
  attempts: number,
  first_at: time,
  last_at: time,
  resolved_at: v.nullable(time),
})

const attempt = {
  at: time,
  t: number,
  headers: v.record(text, text),
  status: v.nullable(number),
  latency_ms: number,
  error: v.nullable(text),
  response: v.nullable(text),
}

const fault = v.strictObject({
  id: number,
  kind: v.picklist(panel.FAULTS),
  operation: v.nullable(v.picklist(panel.OPERATIONS)),
  delay: number,
  status: number,
  retryAfter: v.nullable(number),
  until: v.nullable(time),
  requests: v.nullable(number),
})

const delivery = v.strictObject({
  delivery: uuid,
  url: text,
  event: v.literal(ORDER_UPDATED),
  ...key,
  status,
  state: v.picklist(['pending', 'delivered', 'failed']),
  created_at: time,
  next_attempt_at: v.nullable(time),
  body: text,
  attempts: v.array(v.strictObject(attempt)),
})

const invoiced = { count: number, net: digits, tax: digits, total: digits }

const counts = v.strictObject({ needs_review: number, invoiced: number, paid: number, refunded: number })

/** The schemas of the document by name: those that validate requests, and those of the responses. */
export const SCHEMAS = {
  OrderRequest: requests.orderRequest,
  Customer: requests.customer,
  Item: requests.item,
  Payment: requests.payment,
  PaymentRequest: requests.directPayment,
  NestedPaymentRequest: requests.nestedPayment,
  RefundRequest: requests.refundRequest,
  WebhookRequest: requests.webhookRequest,
  WebhookRemoval: requests.webhookRemovalBody,
  OrderResult: orderResult,
  CreateResult: v.strictObject({ ...result, duplicate: v.boolean() }),
  WebhookRegistration: v.strictObject({ url: text, secret: text }),
  Webhook: v.strictObject({ event: v.literal(ORDER_UPDATED), data: orderResult, delivery: uuid }),
  Error: error,
  SettingsChange: panel.settingsChange,
  Review: panel.review,
  Retries: panel.retries,
  RetryRequest: panel.retry,
  StockChange: panel.stockChange,
  FaultRequest: panel.fault,
  Examples: panel.examples,
  PanelPaymentRequest: panel.panelPayment,
  Reversal: panel.reversal,
  Repayment: panel.repayment,
  RepaymentReversal: panel.repaymentReversal,
  ReturnReversal: panel.returnReversal,
  ReturnRequest: panel.panelReturn,
  Correction: panel.correction,
  ProductChange: panel.productChange,
  StockAdjustment: panel.stockAdjustment,
  SellerChange: panel.sellerChange,
  Seller: seller,
  CustomerChange: panel.customerChange,
  Buyer: buyer,
  AccountChange: panel.accountChange,
  Account: accountDetail,
  FiscalYear: panel.fiscalYear,
  FiscalYears: panel.fiscalYearList,
  Settings: settings,
  Product: product,
  ProductList: v.strictObject({ products: v.array(product) }),
  StockMoves: v.strictObject({
    product,
    moves: v.array(
      v.strictObject({
        number,
        at: time,
        kind: v.picklist(MOVE_KINDS),
        from: exact,
        to: exact,
        change: exact,
        reason: v.nullable(text),
        invoice_number: v.nullable(number),
        source: v.nullable(text),
        external_id: v.nullable(text),
      }),
    ),
    next: v.nullable(text),
  }),
  CustomerList: v.strictObject({ customers: v.array(buyer) }),
  AccountList: v.strictObject({
    accounts: v.array(v.strictObject({ ...accountDetail.entries, lowest: v.nullable(signed) })),
  }),
  OrderSummary: orderSummary,
  OrderList: v.strictObject({ orders: v.array(orderSummary), next: v.nullable(text) }),
  OrderSums: v.strictObject({
    counts,
    totals: v.strictObject({
      ...invoiced,
      received: digits,
      returned: digits,
      repaid: digits,
      due: digits,
      credit: digits,
      held: digits,
      returns: v.strictObject({ net: digits, tax: digits }),
      finalized: v.strictObject(invoiced),
      drafts: v.strictObject(invoiced),
    }),
    sources: v.array(text),
  }),
  OrderDetail: orderDetail,
  DocumentList: v.strictObject({
    documents: v.array(document),
    next: v.nullable(text),
    otherwise_dated: number,
    changed_later: number,
    sums: v.strictObject({
      receipts: v.strictObject(documentSums),
      repayments: v.strictObject(documentSums),
      returns: v.strictObject({ ...documentSums, net: digits, tax: digits }),
      accounts: v.array(
        v.strictObject({
          account: v.nullable(account),
          opening: v.nullable(signed),
          received: digits,
          repaid: digits,
          balance: signed,
          closing: v.nullable(signed),
        }),
      ),
      types: v.array(v.strictObject({ type: receiptType, ...documentSums })),
    }),
  }),
  RefusalList: v.strictObject({ refusals: v.array(refusal), open: number }),
  RefusalCount: v.strictObject({ open: number }),
  WebhookList: v.strictObject({ webhooks: v.array(v.strictObject({ url: text, created_at: time })) }),
  RetryResults: v.strictObject({
    dryRun: v.boolean(),
    orders: v.array(
      v.strictObject({
        ...key,
        customer: v.nullable(text),
        status: v.nullable(status),
        total: v.nullable(digits),
        received: v.nullable(digits),
        review_reason: v.nullable(text),
        error: v.nullable(text),
      }),
    ),
  }),
  WebhookTest: v.strictObject({ url: text, body: text, ...attempt }),
  Fault: fault,
  FaultList: v.strictObject({ faults: v.array(fault) }),
  ExampleList: v.strictObject({ orders: v.array(v.strictObject({ ...key, status })) }),
  Delivery: delivery,
  DeliveryList: v.strictObject({ deliveries: v.array(delivery) }),
} as const satisfies Record<string, v.GenericSchema>

export type SchemaName = keyof typeof SCHEMAS
