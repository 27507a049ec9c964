import { type Announced, announcedRequests } from '@order-relay/lib/orders/announcements.ts'
import {
  idsOf,
  isRefused,
  isToBeSent,
  openRequests,
  type RequestKind,
} from '@order-relay/lib/orders/order.ts'
import type { Failing, StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { isInReview } from '@order-relay/lib/protocol/status.ts'
import { type Coded, textOf } from '../core/coded.ts'
import {
  attemptsLeft,
  type DeadLetter,
  type DeadLettersOfOrder,
  FEW_ATTEMPTS,
  isLost,
  isSpent,
  isUnavailable,
  placeOf,
  waitingLetters,
} from '../model/failing-event.ts'
import {
  FOR,
  isBeingWithdrawn,
  iso,
  named,
  nextCheck,
  type Reason,
  whenDeleted,
  whyDead,
  whyFailing,
  whyOpen,
  whyQueued,
  whyUndelivered,
  whyWithdrawal,
} from '../model/reasons.ts'
import { say, type WaitingCode } from '../model/waiting-texts.ts'

/**
 * An event of the order queue, a request by its kind with the number of others that share its outcome, the invoice, the
 * result, the order as a whole, or a message to the store.
 */
type WaitingLink = Reason & { what: string; id?: string; others?: number }

/** A message to the store, which blocks nothing. */
const MESSAGE = 'message to the store'

/** A possible action on an order and its effect; `of` is the request to withdraw. */
type WaitingAction = {
  action: 'retry' | 'check' | 'replay' | 'discard' | 'withdraw'
  of?: RequestKind
  effect: Coded<WaitingCode>
}

export type Waiting = {
  summary: string
  /** The first item blocks the others, except for messages to the store, which come last. */
  links: readonly WaitingLink[]
  actions: readonly WaitingAction[]
  /** If nothing waits: when the relay confirms a result in doubt, and why. */
  confirms?: Coded<WaitingCode>
}

/** Whether an accountant has to act: the invoice is in review, or a request is refused for a cause they can remove. */
export const waitsForAccountant = ({ order }: Pick<StoredOrder, 'order'>): boolean =>
  (order.result !== undefined && isInReview(order.result.status)) || openRequests(order).some(isRefused)

type Known = {
  stored: StoredOrder
  failing: Failing | undefined
  /** Whether the failing event has used all its attempts: it leaves the queue without another one. */
  isLast: boolean
  dead: DeadLettersOfOrder
  /** The dead letters that are not already done. */
  letters: readonly DeadLetter[]
  announced: Announced | undefined
  now: number
}

const linksOf = ({ stored, failing, isLast, dead, letters, announced, now }: Known): WaitingLink[] => {
  const { order, bulk } = stored
  const { result, doubt } = order
  const links: WaitingLink[] = []
  const add = (what: string, reason: Reason, id?: string, others = 0) =>
    links.push({ what, ...(id !== undefined && { id }), ...reason, ...(others > 0 && { others }) })
  for (const letter of letters)
    add(letter.event ?? 'message', whyDead(letter, stored, { failing, isLast }, announced), letter.delivery)
  if (failing !== undefined) add(failing.event, whyFailing(failing, dead, now), failing.delivery)
  // The request of a dead letter may wait for the failing event.
  links.sort((a, b) => Number(a.for === 'later event') - Number(b.for === 'later event'))
  if (result !== undefined && isInReview(result.status)) {
    const { error } = result
    const reason =
      typeof error === 'string'
        ? say('waits/review-reason', { reason: { foreign: error } })
        : say('waits/review')
    add('invoice', { for: 'accountant', reason, ...nextCheck(stored) })
    if (order.open.payment === undefined && order.ended.some(({ withPayment }) => withPayment))
      add('payment', { for: 'accountant', reason: say('waits/held-create') })
  }
  for (const request of openRequests(order)) {
    const { kind, id, others, withdrawals } = request
    const isDead = letters.some(({ delivery = '' }) => idsOf(request).includes(delivery))
    if (id !== failing?.delivery && !isDead)
      add(kind, whyOpen(request, stored, failing, announced), id, others.length)
    for (const withdrawal of withdrawals)
      if (!links.some(link => link.id === withdrawal.id))
        add('withdrawal', whyWithdrawal(kind, bulk, failing), withdrawal.id)
  }
  if (doubt !== false && failing === undefined)
    add('result', {
      for: 'check',
      reason: say('waits/doubt'),
      ...nextCheck(stored),
    })
  for (const { id, kind } of announcedRequests(order, announced)) {
    if (links.some(link => link.id === id)) continue
    // An announced withdrawal is never lost, since the worker reads it without its event.
    const accepted = announced?.requests?.find(each => each.id === id)?.accepted_at ?? now
    const reason = isLost(accepted, dead, now)
      ? ({ for: 'store', reason: say('waits/lost') } as const)
      : whyQueued(bulk, failing)
    add(kind, reason, id)
  }
  // The moved event is not a request, but for example a webhook.
  if (bulk !== undefined && failing === undefined && !links.some(link => link.for === 'bulk queue'))
    links.unshift({ what: 'order', ...whyQueued(bulk, failing) })
  for (const letter of dead.undelivered) add(MESSAGE, whyUndelivered(letter), letter.delivery)
  return links
}

/** When a result in doubt is read from the service, and why. */
const confirmation = ({ order, check_at }: StoredOrder, now: number) => {
  const reason = say(order.doubt === 'later' ? 'confirms/webhook' : 'confirms/doubt')
  return check_at === undefined || check_at * 1000 <= now
    ? say('confirms/soon', { reason })
    : say('confirms/by', { time: iso(check_at), reason })
}

const retryOf = (failing: Failing) => {
  if (isUnavailable(failing)) return 'retry/unavailable'
  return failing.code === 'unauthorized' ? 'retry/unauthorized' : 'retry/now'
}

const retryEffect = (failing: Failing, dead: DeadLettersOfOrder): Coded<WaitingCode> => {
  const effect = say(retryOf(failing), { event: named(failing.event) })
  const count = attemptsLeft(failing, dead)
  return count > FEW_ATTEMPTS ? say('retry/counts', { effect }) : say('retry/few', { effect, count })
}

/**
 * The effect of a check, which waits for earlier events of its order.
 *
 * @param check the effect when the worker handles the check
 */
export const checkEffect = (
  { bulk }: Pick<StoredOrder, 'bulk'>,
  { failing, isLast }: Pick<Known, 'failing' | 'isLast'>,
  check: Coded<WaitingCode>,
): Coded<WaitingCode> => {
  if (failing === undefined) return bulk === undefined ? check : say('check/bulk')
  const event = named(failing.event)
  return isLast
    ? say('check/spent', { event, time: failing.next_at, check })
    : say('check/blocked', { event })
}

/** The actions on the dead letters of an order. Both apply to all dead letters; the effects describe the first one. */
const onLetters = ({ stored, dead, letters: [letter], announced }: Known): WaitingAction[] => {
  if (letter !== undefined)
    return [
      { action: 'replay', effect: say('replay/now', { event: named(letter.event ?? 'message') }) },
      { action: 'discard', effect: whenDeleted(letter, stored, announced) },
    ]
  if (dead.undelivered.length === 0) return []
  return [
    { action: 'replay', effect: say('replay/feed') },
    { action: 'discard', effect: say('discard/feed-unknown') },
  ]
}

const actionsOf = (known: Known): WaitingAction[] => {
  const { stored, failing, isLast, dead, announced } = known
  const { order, bulk, check_at } = stored
  const open = openRequests(order)
  const kept = open.filter(request => !isBeingWithdrawn(request, stored, announced))
  const withdraws = kept.length < open.length ? 'check/withdraws' : 'check/reads'
  const sends = kept.some(isToBeSent) ? 'check/sends' : withdraws
  const reads = kept.some(isRefused) ? 'check/resends' : sends
  const read = check_at === undefined ? say(reads) : say(`${reads}-due`, { time: iso(check_at) })
  const check = checkEffect(stored, known, read)
  const withdrawal = (kind: Coded<WaitingCode>) => {
    if (failing !== undefined) {
      const event = named(failing.event)
      return isLast
        ? say('withdraw/spent', { event, time: failing.next_at, kind })
        : say('withdraw/later', { event, kind })
    }
    return say(bulk === undefined ? 'withdraw/now' : 'withdraw/bulk', { kind })
  }
  return [
    ...(failing !== undefined && !isLast
      ? [{ action: 'retry', effect: retryEffect(failing, dead) } as const]
      : []),
    { action: 'check', effect: check },
    ...onLetters(known),
    ...kept
      .filter(({ stage }) => stage !== 'held')
      .map(({ kind: of }) => ({ action: 'withdraw', of, effect: withdrawal(say(`kind/${of}`)) }) as const),
  ]
}

/** How long after its due time an attempt may be in progress, in milliseconds. */
const NOW_MS = 60_000

/** A sentence about the first link and those behind it; none without links. */
const sentenceOf = ([first, ...behind]: readonly WaitingLink[], now: number): string[] => {
  if (first === undefined) return []
  const { what, reason, since, next } = first
  const late = next === undefined ? 0 : now - Date.parse(next)
  const attempt = late < 0 ? `by ${next}` : late < NOW_MS ? 'now' : `due since ${next}`
  return [
    [
      `${what} ${since === undefined ? 'waits' : 'has been waiting'} for ${FOR[first.for]}${since === undefined ? '' : ` since ${since}`}: ${textOf(reason)}`,
      ...(next === undefined ? [] : [`next attempt ${attempt}`]),
      ...(behind.length === 0 ? [] : [`${behind.map(link => link.what).join(', ')} behind it`]),
    ].join('; '),
  ]
}

/** One line for the order, and one for each message to its store. */
const summaryOf = (links: readonly WaitingLink[], undelivered: readonly string[], now: number): string => {
  const [messages, others] = [true, false].map(isMessage =>
    links.filter(({ what }) => (what === MESSAGE) === isMessage),
  )
  const sentences = [
    ...sentenceOf(others ?? [], now),
    ...(messages ?? []).flatMap(message => sentenceOf([message], now)),
    ...undelivered,
  ]
  return sentences.length === 0 ? 'Nothing waits.' : sentences.join('\n')
}

/**
 * Why an order waits, since when, and the possible actions. Pure.
 *
 * @param now unix time in milliseconds
 * @param dead the dead letters of the order
 * @param announced requests that the stores' API has accepted and the worker may not have handled yet
 * @param undelivered sentences about messages that the store has not received and that are not dead letters
 */
export const whyWaiting = (
  stored: StoredOrder,
  now: number,
  dead: DeadLettersOfOrder,
  announced?: Announced,
  undelivered: readonly string[] = [],
): Waiting => {
  const { failing: event } = stored
  const failing = event && placeOf(event, dead, now) === 'queued' ? event : undefined
  const isLast = failing !== undefined && isSpent(failing, dead)
  const letters = waitingLetters(stored, dead, now)
  const known = { stored, failing, isLast, dead, letters, announced, now }
  const links = linksOf(known)
  if (links.every(({ what }) => what === 'result') && links.length > 0) {
    const confirms = confirmation(stored, now)
    const sentences = [summaryOf([], undelivered, now), confirms.text]
    return {
      summary: sentences.join(undelivered.length === 0 ? ' ' : '\n'),
      links: [],
      actions: [],
      confirms,
    }
  }
  return {
    summary: summaryOf(links, undelivered, now),
    links,
    actions: links.length === 0 ? [] : actionsOf(known),
  }
}

/** The same without codes, for output. */
export const waitingInWords = ({ summary, links, actions, confirms }: Waiting) => ({
  summary,
  ...(confirms && { confirms: confirms.text }),
  links: links.map(link => ({ ...link, reason: textOf(link.reason) })),
  actions: actions.map(action => ({ ...action, effect: action.effect.text })),
})
