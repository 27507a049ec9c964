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

/** What an account pays. */
export const payingFrom: Hint = (account, { date, short }) => {
  const amountIn = ({ lowest }: Account) => (lowest?.startsWith('-') ? '0' : (lowest ?? '0'))
  if (account === undefined) {
    return (
      short.length > 0 &&
      t('No cash box has this amount on {date}: {boxes}', {
        date: formatDate(date),
        boxes: listed(
          short.map(box =>
            t('{account} can pay {amount} rials', { account: box.name, amount: decimal(amountIn(box)) }),
          ),
        ),
      })
    )
  }
  return account.kind === 'cash'
    ? t('Only cash is paid from a cash box. On {date}, this one can pay up to {amount} rials.', {
        date: formatDate(date),
        amount: decimal(amountIn(account)),
      })
    : t('No cash is paid from a bank account.')
}
