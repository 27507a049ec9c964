import { Refusal } from '../refusal.ts'
import type { Store } from '../store/open.ts'

/**
 * A date that is given must be in a fiscal year (spec: business rule 8), and so must that of a posted document that is
 * changed or cancelled.
 *
 * @param dated the beginning of the message, such as `Receipt 7 is dated`
 * @throws Refusal when no fiscal year covers the date
 */
export const requireFiscalYear = (dated: string, date: string, store: Store, field?: string): void => {
  if (store.fiscalYears.cover(date)) return
  throw new Refusal('outside_fiscal_years', `${dated} ${date}: outside the fiscal years`, field)
}
