import { randomUUID } from 'node:crypto'
import type { Accounting } from '../../lib/accounting/client.ts'
import { AccountingError } from '../../lib/accounting/errors.ts'

export type Access = 'granted' | { refused: string } | { unavailable: string }

/**
 * Whether the key may change orders. The spec has no call for this, so a refund of an order that cannot exist
 * is tried: refused for the key's sake, or for the order's.
 */
export const accessOf = async (accounting: Accounting): Promise<Access> => {
  try {
    await accounting.refund({ source: 'relay doctor', external_id: `no order ${randomUUID()}` }, {})
    return 'granted'
  } catch (error) {
    if (!(error instanceof AccountingError)) throw error
    const { code, status, message } = error
    if (code === 'unavailable') return { unavailable: message }
    return code === 'unauthorized' ? { refused: `${status} ${message}` } : 'granted'
  }
}
