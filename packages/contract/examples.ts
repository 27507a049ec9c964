import { FEED_TEST } from '@order-relay/lib/feeds/deliver.ts'
import { ORDER_UPDATED } from '@order-relay/lib/protocol/webhook.ts'

const KEY = { source: 'demo-shop', external_id: '1001' }
const CREATE = 'b7477d01-9040-4bdd-9c72-6a6a16670eed'
const PAYMENT = '9a41a4c7-9c8e-4d36-8f6c-7d2f6a5b0c11'
const TEST = '0a1b8c5e-5d0f-4c39-9a55-6b7f0a4f3f10'

/** Order results, in the sequence of their statuses. */
export const INVOICED = {
  ...KEY,
  status: 'invoiced',
  status_display: 'فاکتور شده',
  total: '1650000',
  invoice_number: 10231,
  invoice_status: 'posted',
  receipt_number: null as number | null,
  return_number: null as number | null,
  error: null,
}
export const PAID = { ...INVOICED, status: 'paid', status_display: 'پرداخت شده', receipt_number: 8112 }

export const WAITING = { id: CREATE, ...KEY, state: 'waiting' }
export const WAITING_PAYMENT = { ...WAITING, id: PAYMENT }

export const UNKNOWN_SKU = {
  error: {
    code: 'unknown_sku',
    message: 'Field "items[0].sku" is "SKU-9": no product has this code',
    field: 'items[0].sku',
  },
}

/** The messages of the feeds; docs/integrate.md shows the first two. */
export const MESSAGES = {
  OrderUpdated: {
    event: ORDER_UPDATED,
    delivery: 'bb17cde0-d1ee-89a3-a82b-01f007eeca87',
    version: 1,
    cause: { event: 'order.create', delivery: CREATE },
    data: INVOICED,
    requests: [{ id: CREATE, kind: 'create', state: 'registered' }],
  },
  RequestChanged: {
    event: 'order.held',
    delivery: '657d2c48-afc4-8a84-a0f2-64007764a07b',
    version: 2,
    cause: { event: 'order.payment', delivery: PAYMENT },
    data: { ...KEY, request: 'payment', id: PAYMENT },
  },
  Test: {
    event: FEED_TEST,
    delivery: TEST,
    version: 0,
    cause: { event: FEED_TEST, delivery: TEST },
    data: { ...KEY, external_id: FEED_TEST },
  },
}
