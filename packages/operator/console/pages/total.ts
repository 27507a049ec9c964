import { visible } from '@order-relay/lib/platform/visible.ts'
import { decimal, isDecimal } from '@order-relay/web/format.ts'
import { t } from './persian.ts'

/** The total of an order, in rials if it is a number: the relay passes on any value that the service sends. */
export const totalText = (value: unknown) => {
  const total = visible(String(value))
  return isDecimal(total) ? t('{total} rials', { total: decimal(total) }) : t('Total: {total}', { total })
}

/** Maximum length of a total in a list. */
const LONGEST = 24

/** The total of an order in a column of rials. A value that is not a number, or is cut, is not an amount of rials. */
export const totalInRials = (value: unknown) => {
  const whole = visible(String(value))
  const total = whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole
  return isDecimal(total) ? decimal(total) : t('Total: {total}', { total })
}
