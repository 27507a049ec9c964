import { decimal, formatDate, sum } from '@order-relay/web/format.ts'
import { listed } from '@order-relay/web/language.ts'
import { Code, Name } from '@order-relay/web/pieces.tsx'
import type { SchemaData } from './api.ts'
import type { Account, Accounts } from './money.tsx'
import { t } from './persian.ts'
import { bookedAs, creditOf, PAYMENT_METHODS, RECEIPT_TYPES } from './pieces.tsx'

type Order = Pick<SchemaData<'OrderDetail'>, 'total' | 'held_payments'>
type Held = Order['held_payments'][number]

const typeIn = ({ kind }: Account, { method }: Held) =>
  kind === 'cash' ? RECEIPT_TYPES.cash.toLowerCase() : bookedAs(method)

/** The account that the receipt will be booked to. */
const Booking = ({ held, money: { accounts, receiving } }: { held: Held; money: Accounts }) => {
  const account = held.account ? accounts.find(({ code }) => code === held.account?.code) : receiving
  return account === undefined
    ? t('In a bank account it is booked as {type}, in a cash box as cash.', { type: bookedAs(held.method) })
    : t('It is booked to {account} as {type}.', {
        account: <Name>{account.name}</Name>,
        type: typeIn(account, held),
      })
}

/** Whether a payment pays the whole invoice, regardless of its total. */
const isWhole = ({ amount }: Held) => amount === null

const amountsOf = (held: readonly Held[]) => sum(...held.map(({ amount }) => amount ?? '0'))

/**
 * What the held payments leave due, or leave to the buyer, once the invoice is finalized; empty if they pay it exactly. They
 * keep the amounts that were received; only a payment of the whole invoice has its total.
 */
const restOf = ({ total, held_payments: held }: Order) => {
  const rest = held.some(isWhole) ? `-${amountsOf(held)}` : sum(total, `-${amountsOf(held)}`)
  if (held.length === 0 || ['0', '-0'].includes(rest)) return ''
  return rest.startsWith('-')
    ? t('The buyer will have a credit of {credit} rials.', { credit: decimal(creditOf({ balance: rest })) })
    : t('{due} rials will be due.', { due: decimal(rest) })
}

/** What a new total means for the held payments of an order. */
export const heldAt = (after: Order, before: Order) => {
  const held = amountsOf(after.held_payments)
  if (after.total === before.total && held === amountsOf(before.held_payments)) return []
  const whole = after.held_payments.findIndex(isWhole)
  const [total, old] = [after.total, before.held_payments[whole]?.amount ?? before.total].map(decimal)
  return [
    whole !== -1 &&
      total !== old &&
      t('The held payment pays the whole invoice: its receipt will have {total} rials instead of {old}.', {
        total,
        old,
      }),
    held !== '0' && t('The {amount} rials that are held do not change.', { amount: decimal(held) }),
    restOf(after),
  ]
}

/** Says that several held payments outside the open fiscal years keep their dates: one new date would replace them all. */
export const keptDates = (outside: readonly Held[], { total }: Order) =>
  t(
    'These held payments keep their dates, which are outside the open fiscal years: {payments}. Add or reopen the fiscal years to finalize the invoice.',
    {
      payments: listed(
        outside.map(({ amount, date }) =>
          t('{amount} rials of {date}', { amount: decimal(amount ?? total), date: formatDate(date) }),
        ),
      ),
    },
  )

/** The payments that are registered once the invoice is finalized, and what is due then. */
export const HeldPayments = ({ order, money }: { order: Order; money: Accounts }) => {
  const rest = restOf(order)
  return (
    <>
      {order.held_payments.map((held, index) => {
        const { amount, method, date, reference, total, whole } = held
        const old = { total: decimal(order.total), old: decimal(total) }
        return (
          <p key={String(index)}>
            {t('{held}: {method}, {date}. It is registered automatically once the invoice is finalized.', {
              held: (
                <strong>
                  {t('A payment of {amount} rials is held', { amount: decimal(amount ?? order.total) })}
                </strong>
              ),
              method: PAYMENT_METHODS[method].toLowerCase(),
              date: formatDate(date),
            })}{' '}
            {amount === null &&
              (total === order.total
                ? t('It pays the whole invoice.')
                : t('It pays the whole invoice: {total} rials now, {old} when it came in.', old))}
            {amount !== null &&
              whole &&
              t('A correction set it to the amount that came in; another correction can change that.')}{' '}
            <Booking held={held} money={money} />{' '}
            {reference && t('Reference: {reference}', { reference: <Code>{reference}</Code> })}
          </p>
        )
      })}
      {rest && <p class="strong">{rest}</p>}
    </>
  )
}
