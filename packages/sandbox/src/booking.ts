import type { Receipt } from './store/documents.ts'

/** The type of the receipt of a payment into a bank account, by its method (spec: business rule 6). */
export const bankReceipt = (method: Receipt['method']): Exclude<Receipt['type'], 'cash'> =>
  method === 'card' || method === 'pos' ? 'pos' : 'transfer'
