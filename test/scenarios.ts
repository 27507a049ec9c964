import type { Intent, IntentKind } from '../lib/orders/order.ts'
import type { Status } from '../lib/protocol/status.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/**
 * What happens to one order from its creation to its last change, as store and accountant plan it. Times are
 * in milliseconds of the scenario; a harness in real time scales them.
 */
export type Lifecycle = {
  /** `relay`: by the store through the relay. `service`: by the store at the service, before it used a relay. */
  createdBy: 'relay' | 'service'
  /**
   * The service rejects the order because it does not know its product: `always`, or `first`, until the store
   * has had the rejection and the product was added.
   */
  unknownProduct?: 'first' | 'always'
  /** The create request contains the payment. */
  paidAtOnce?: boolean
  /** Out of stock: an accountant must review the order. */
  review?: boolean
  /** When the accountant fixes the cause, counted from the creation; never when missing. */
  fixedAfter?: number
  /** The store asks the relay to register the payment. */
  pays?: boolean
  /** The store asks the relay to register the return, once the payment was accepted. */
  refunds?: boolean
  /** What the accountant does by himself, counted from the creation: a payment, or a change of the total. */
  accountant?: readonly { after: number; does: 'payment' | 'edit' }[]
}

export type ServiceDocument = 'invoice' | 'receipt' | 'return'

/** How an order must end. */
export type Expected = {
  /** Undefined when the service must not know the order. */
  status: Status | undefined
  /** Every document the service must have registered, each exactly once. */
  documents: readonly ServiceDocument[]
  /** Whether the service holds a payment until the invoice is finalized. */
  holdsPayment: boolean
  /** The state of everything the store asked the relay for. */
  intents: { readonly [kind in IntentKind]?: Intent['state'] }
}

/** Where a lifecycle must have led: nothing of it depends on chance or on faults. */
export const expectedOf = (lifecycle: Lifecycle): Expected => {
  const { createdBy, unknownProduct, paidAtOnce, review, fixedAfter, pays, refunds, accountant } = lifecycle
  if (unknownProduct === 'always') {
    return { status: undefined, documents: [], holdsPayment: false, intents: { create: 'rejected' } }
  }
  const isFinal = review !== true || fixedAfter !== undefined
  const isPaid = isFinal && (paidAtOnce || pays || accountant?.some(({ does }) => does === 'payment'))
  const isRefunded = isFinal && refunds
  return {
    status: !isFinal ? 'needs_review' : isRefunded ? 'refunded' : isPaid ? 'paid' : 'invoiced',
    documents: [
      'invoice',
      ...(isPaid ? ['receipt' as const] : []),
      ...(isRefunded ? ['return' as const] : []),
    ],
    holdsPayment: !isFinal && (paidAtOnce === true || pays === true),
    intents: {
      ...(createdBy === 'relay' && { create: 'registered' }),
      ...(pays && { payment: isFinal ? 'registered' : 'held' }),
      ...(refunds && { refund: isFinal ? 'registered' : 'waiting' }),
    },
  }
}

/** The lifecycles that every harness runs; a harness adds the faults, the network and the time. */
export const LIFECYCLES = {
  'held payment registered after review': {
    createdBy: 'service',
    paidAtOnce: true,
    review: true,
    fixedAfter: 0,
  },
  'payment registered by the accountant': {
    createdBy: 'service',
    review: true,
    fixedAfter: 0,
    accountant: [{ after: SECOND, does: 'payment' }],
  },
  'edited without a change of status': {
    createdBy: 'service',
    accountant: [
      { after: 0, does: 'payment' },
      ...[1, 4, 9, 16].map(minutes => ({ after: minutes * MINUTE, does: 'edit' as const })),
    ],
  },
  'created, paid and refunded': { createdBy: 'relay', pays: true, refunds: true },
  'reviewed for twenty minutes': {
    createdBy: 'relay',
    review: true,
    fixedAfter: 20 * MINUTE,
    pays: true,
    refunds: true,
  },
  'accountant as fast as the store': {
    createdBy: 'relay',
    review: true,
    fixedAfter: 30,
    pays: true,
    refunds: true,
  },
  'never reviewed': { createdBy: 'relay', review: true, pays: true, refunds: true },
  rejected: { createdBy: 'relay', unknownProduct: 'always' },
  'created and paid': { createdBy: 'relay', pays: true },
} as const satisfies Record<string, Lifecycle>
