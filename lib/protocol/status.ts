/** The statuses of the spec (States and transitions), in their usual sequence. */
export const STATUSES = ['needs_review', 'invoiced', 'paid', 'refunded'] as const
export type Status = (typeof STATUSES)[number]

/**
 * The effect of a payment or refund on an order (spec: States and transitions): the resulting status, `held` or
 * `refused` until the invoice is finalized, or `settled` when there is nothing left to register.
 */
export type Effect = Status | 'held' | 'refused' | 'settled'

const TRANSITIONS: Readonly<Record<'payment' | 'refund', Readonly<Record<Status, Effect>>>> = {
  payment: { needs_review: 'held', invoiced: 'paid', paid: 'settled', refunded: 'settled' },
  refund: { needs_review: 'refused', invoiced: 'refunded', paid: 'refunded', refunded: 'settled' },
}

const isStatus = (status: string): status is Status => (STATUSES as readonly string[]).includes(status)

/** The effect of a payment or refund in a status; undefined for a status that the spec does not define. */
export const effectOf = (request: 'payment' | 'refund', status: string): Effect | undefined =>
  isStatus(status) ? TRANSITIONS[request][status] : undefined

/** Whether an accountant must review an order before anything else can happen to it. */
export const isInReview = (status: string): boolean => status === ('needs_review' satisfies Status)

/** Whether one status may follow another (promise P5). False for statuses that the spec does not define. */
export const isForward = (from: string, to: string): boolean =>
  isStatus(from) && isStatus(to) && STATUSES.indexOf(to) > STATUSES.indexOf(from)
