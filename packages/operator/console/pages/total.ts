import { visible } from '@order-relay/lib/platform/visible.ts'
import { decimal, isDecimal } from '@order-relay/web/format.ts'
import { t } from './persian.ts'

/** The total of an order, in rials if it is a number: the relay passes on any value that the service sends. */
export const totalText = (value: unknown) => {
  const total = visible(String(value))
  return isDecimal(total) ? t('{total} rials', { total: decimal(total) }) : t('Total: {total}', { total })
}
