import type { RequestKind, RequestState, StoreRequestKind } from '../../lib/orders/order.ts'
import type { Status } from '../../lib/protocol/status.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/**
 * The planned lifecycle of one order, from its creation to its last change by store and accountant. Times are
 * in milliseconds; a harness in real time scales them.
 */
export type Lifecycle = {
  /**
   * `relay`: by the store through the relay. `service`: by the store directly at the service. `both`: at the service,
   * then again through the relay. `nobody`: never.
   */
  createdBy: 'relay' | 'service' | 'both' | 'nobody'
  /**
   * The service refuses the order for an unknown product: `always`; `later`: until it is added a day later; or `first`:
   * until the store is notified, has it added and sends the order again.
   */
  unknownProduct?: 'first' | 'later' | 'always'
  /** The store sends each of its requests twice. */
  twice?: true
  /**
   * When the store withdraws its request, counted from its acceptance. `surely`: before the service can register it;
   * otherwise it is a race.
   */
  withdraws?: { what: RequestKind; after: number; surely?: boolean }
  /** The create request contains the payment. */
  paidAtOnce?: boolean
  /** Out of stock: an accountant must review the order. */
  review?: boolean
  /** When the accountant fixes the cause, counted from the creation; undefined for never. */
  fixedAfter?: number
  /** When the store requests the payment through the relay. */
  pays?: boolean
  /** When the store requests the payment again, counted from its withdrawal. */
  paysAgain?: number
  /** When the store requests the return through the relay, counted from the accepted payment. */
  refunds?: boolean
  /** The store requests the return more often than the relay allows. */
  asksTooOften?: true
  /** Other actions of the accountant, counted from the creation: a payment, or a change of the total. */
  accountant?: readonly { after: number; does: 'payment' | 'edit' }[]
}

export type ServiceDocument = 'invoice' | 'receipt' | 'return'

/** The expected end state of an order. */
export type Expected = {
  /** Undefined if the service must not know the order. */
  status: Status | undefined
  /** The documents that the service must have registered, each exactly once. */
  documents: readonly ServiceDocument[]
  /** Whether the service holds a payment until the invoice is finalized. */
  holdsPayment: boolean
  /** For each requested kind: the possible number of registered requests, and the possible states of the others. */
  requests: { readonly [kind in StoreRequestKind]?: Ends }
}

type Ends = { registered: readonly number[]; others: readonly RequestState[] }

const once = (...others: RequestState[]): Ends => ({ registered: [1], others: ['duplicate', ...others] })
const all = (...others: RequestState[]): Ends => ({ registered: [0], others })

/**
 * The expected end of a lifecycle, which does not depend on chance or faults except for the race of a withdrawal.
 *
 * @param wasFaster whether the request was registered before its withdrawal
 */
export const expectedOf = (lifecycle: Lifecycle, wasFaster = false): Expected => {
  const { createdBy, unknownProduct, paidAtOnce, review, fixedAfter, accountant, withdraws } = lifecycle
  const isPaidAgain = lifecycle.paysAgain !== undefined
  const withdrawn = withdraws === undefined || wasFaster || isPaidAgain ? undefined : withdraws.what
  const requests: { [kind in StoreRequestKind]?: Ends } =
    withdraws === undefined
      ? {}
      : {
          [withdraws.what]: {
            registered: isPaidAgain ? [1] : withdraws.surely ? [0] : [0, 1],
            others: ['withdrawn', 'duplicate'],
          },
          // A repeated withdrawal, or the withdrawal of a rejected request, finds nothing to withdraw.
          withdrawal: {
            registered: withdraws.surely ? [1] : [0, 1],
            others: wasFaster && !isPaidAgain ? ['rejected'] : ['rejected', 'duplicate'],
          },
        }
  if (createdBy === 'nobody') {
    const { withdrawal } = requests
    return {
      status: undefined,
      documents: [],
      holdsPayment: false,
      requests: {
        payment: all('rejected', 'withdrawn'),
        // No request is registered or held, so the withdrawal is never rejected.
        ...(withdrawal && { withdrawal: { ...withdrawal, others: ['duplicate'] } }),
      },
    }
  }
  if (unknownProduct === 'always' || withdrawn === 'create') {
    return {
      status: undefined,
      documents: [],
      holdsPayment: false,
      requests: { create: all('rejected'), ...requests },
    }
  }
  const [pays, refunds] = [
    lifecycle.pays && withdrawn !== 'payment',
    lifecycle.refunds && withdrawn !== 'refund',
  ]
  const overflow: RequestState[] = lifecycle.asksTooOften ? ['rejected'] : []
  const isFinal = review !== true || fixedAfter !== undefined
  const isPaidByOthers = paidAtOnce || accountant?.some(({ does }) => does === 'payment')
  const isPaid = isFinal && (pays || isPaidByOthers)
  const isRefunded = isFinal && refunds
  return {
    status: !isFinal ? 'needs_review' : isRefunded ? 'refunded' : isPaid ? 'paid' : 'invoiced',
    documents: [
      'invoice',
      ...(isPaid ? ['receipt' as const] : []),
      ...(isRefunded ? ['return' as const] : []),
    ],
    holdsPayment: !isFinal && (paidAtOnce === true || pays === true),
    requests: {
      ...(createdBy === 'relay' && { create: unknownProduct === undefined ? once() : once('rejected') }),
      ...(createdBy === 'both' && { create: all('duplicate') }),
      ...(pays && {
        payment: isFinal ? { ...once(), registered: isPaidByOthers ? [0, 1] : [1] } : all('held'),
      }),
      ...(lifecycle.refunds && { refund: isFinal ? once() : all('waiting', ...overflow) }),
      ...requests,
    },
  }
}
