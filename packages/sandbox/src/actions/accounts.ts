import { exactNumber } from '../decimal.ts'
import type { AccountsQuery } from '../panel-queries.ts'
import type { AccountChange } from '../panel-requests.ts'
import { rials, whole } from '../pricing.ts'
import { quoted, refusedField } from '../refusal.ts'
import type { Account } from '../store/catalogue.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { requireNew } from './catalogue.ts'
import { prevented } from './change.ts'
import { requireNotFuture } from './dates.ts'

const shownAccount = ({ code, name, kind, opening_balance, opening_date }: Account, store: Store) => ({
  code,
  name,
  kind,
  openingBalance: exactNumber(opening_balance),
  openingDate: opening_date,
  inUse: store.accounts.isUsed(code),
})

/** The lowest balance of an account at the end of a day or any later day, with its day. */
const lowestFrom = (day: string, { code, opening_balance, opening_date }: Account, store: Store) => {
  const opening = { date: opening_date ?? '', amount: opening_balance }
  const movements = [opening, ...store.accounts.movements(code)].toSorted((a, b) =>
    a.date.localeCompare(b.date),
  )
  const earlier = movements.filter(({ date }) => date <= day)
  let balance = earlier.reduce((all, { amount }) => all + BigInt(amount), 0n)
  let lowest = { date: day, balance }
  for (const { date, amount } of movements.slice(earlier.length)) {
    balance += BigInt(amount)
    if (balance < lowest.balance) lowest = { date, balance }
  }
  return lowest
}

/** All accounts; with a day, what each cash box can pay on that day. */
export const listAccounts = ({ from }: AccountsQuery, store: Store) => ({
  accounts: store.accounts.list().map(account => ({
    ...shownAccount(account, store),
    lowest:
      from === undefined || account.kind !== 'cash' ? null : String(lowestFrom(from, account, store).balance),
  })),
})

/** The lowest balance of a cash box on or after a day, if it is negative. A bank account may be overdrawn: undefined. */
export const shortfallFrom = (day: string, code: string, store: Store) => {
  const account = store.accounts.find(code)
  if (account?.kind !== 'cash') return undefined
  const lowest = lowestFrom(day, account, store)
  return lowest.balance < 0n ? { name: account.name, ...lowest } : undefined
}

/**
 * Requires that a repayment does not make a cash box negative, on its date or later. A bank account may be overdrawn.
 *
 * @throws Refusal if the cash box would become negative
 */
export const requireCash = (
  order: Order,
  { account_code, amount, date }: { account_code: string; amount: string; date: string },
  store: Store,
): void => {
  const account = store.accounts.find(account_code)
  if (account?.kind !== 'cash') return
  const lowest = lowestFrom(date, account, store)
  if (BigInt(amount) <= lowest.balance) return
  const state = `the cash box ${quoted(account.name)} has only ${rials(lowest.balance)} rials on ${lowest.date}`
  throw prevented('repay', order, `${state}; pay from another account, or correct its opening balance first`)
}

/** The first closed fiscal year in which a change of the opening balance would change the balances of the account. */
const closedYearOf = (before: Account, after: Account, store: Store) => {
  const [first] = store.accounts.movements(after.code)
  const dates = [before, after].flatMap(each =>
    each.opening_balance === '0' ? [] : (each.opening_date ?? ''),
  )
  const [from] = dates.sort()
  if (from === undefined || first === undefined) return undefined
  return store.fiscalYears.list().find(({ to, closed }) => closed && to >= from && to >= first.date)
}

/** @throws Refusal when the opening balance would change the balances of a closed fiscal year */
const requireSameBalances = (before: Account, after: Account, store: Store): void => {
  const isSame = after.opening_balance === before.opening_balance
  if (isSame && after.opening_date === before.opening_date) return
  const year = closedYearOf(before, after, store)
  if (year === undefined) return
  const is = isSame ? after.opening_date : rials(after.opening_balance)
  const rule = `the balances of the closed fiscal year from ${year.from} to ${year.to} would change; reopen it first`
  throw refusedField(isSame ? 'openingDate' : 'openingBalance', `is ${is}: ${rule}`, 'conflict')
}

/**
 * Requires that a change of an account does not contradict its documents. The kind decides how its receipts are booked and
 * which repayments it can pay.
 *
 * @throws Refusal when documents use the account as the other kind, when balances of a closed fiscal year would change, or
 * when a cash box would become negative
 */
const requireSameHistory = (before: Account, after: Account, store: Store): void => {
  if (after.kind !== before.kind && store.accounts.isUsed(before.code)) {
    const state = `is ${after.kind}: documents use the account as ${before.kind}; add another account instead`
    throw refusedField('kind', state, 'conflict')
  }
  requireSameBalances(before, after, store)
  if (after.kind !== 'cash') return
  const { date, balance } = lowestFrom('', after, store)
  // The reversal of a receipt may already have made it negative.
  if (balance >= 0n || balance >= lowestFrom('', before, store).balance) return
  const state = `is ${rials(after.opening_balance)}: the cash box would have ${rials(balance)} rials on ${date}`
  throw refusedField('openingBalance', state, 'conflict')
}

/**
 * Changes or adds an account. By default, a new account has its code as its name, and no opening balance.
 *
 * @throws Refusal when the opening date is in the future, when `isNew` is set and the account exists, or when its documents do
 * not allow the change
 */
export const putAccount = (
  { code, name, kind, openingBalance, openingDate }: AccountChange,
  store: Store,
  isNew = false,
) =>
  store.transact(() => {
    if (openingDate != null) requireNotFuture('openingDate', openingDate, store)
    const found = store.accounts.find(code)
    if (isNew) requireNew('code', code, found)
    const account: Account = {
      code,
      name: name ?? found?.name ?? code,
      kind,
      opening_balance:
        openingBalance === undefined ? (found?.opening_balance ?? '0') : String(whole(openingBalance)),
      opening_date: openingDate === undefined ? (found?.opening_date ?? null) : openingDate,
    }
    if (found !== undefined) requireSameHistory(found, account, store)
    store.accounts.put(account)
    store.changes.note({ kind: 'account', code })
    return shownAccount(account, store)
  })
