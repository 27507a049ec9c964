import { decimal, formatDate } from '@order-relay/web/format.ts'
import { listed } from '@order-relay/web/language.ts'
import type { Account, Hint } from './money.tsx'
import { t } from './persian.ts'

/** How a receipt is booked in an account. */
export const bookingIn: Hint = account => {
  if (account === undefined) return t('No receiving account is selected in the settings.')
  return account.kind === 'cash'
    ? t('Booked to {account} as a cash receipt.', { account: account.name })
    : t('Booked to {account} as a card-reader receipt if paid by card, otherwise as a transfer receipt.', {
        account: account.name,
      })
}

const amountIn = ({ lowest }: Account) => (lowest?.startsWith('-') ? '0' : (lowest ?? '0'))

/** What each cash box can pay. */
const fundsOf = (boxes: readonly Account[]) =>
  listed(
    boxes.map(box =>
      t('{account} can pay {amount} rials', { account: box.name, amount: decimal(amountIn(box)) }),
    ),
  )

/** What an account pays. */
export const payingFrom: Hint = (account, { date, short }) => {
  if (account === undefined) {
    return (
      short.length > 0 &&
      t('No cash box has this amount on {date}: {boxes}', { date: formatDate(date), boxes: fundsOf(short) })
    )
  }
  if (account.kind === 'bank') return t('No cash is paid from a bank account.')
  const limit = t('Only cash is paid from a cash box. On {date}, this one can pay up to {amount} rials.', {
    date: formatDate(date),
    amount: decimal(amountIn(account)),
  })
  return short.length === 0
    ? limit
    : `${limit} ${t('It is preset because these cash boxes do not have this amount: {boxes}', { boxes: fundsOf(short) })}`
}
