import { refusedField } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import { requireFiscalYear } from './catalogue.ts'

/** The document that a date must not precede. */
export type Earliest = { name: string; date: string }

/** @throws Refusal that names the field of a date in the future */
export const requireNotFuture = (field: string, date: string, store: Store): void => {
  const today = store.clock.today()
  if (date > today) throw refusedField(field, `is ${date}: must not be after today, ${today}`)
}

/**
 * Requires that a date from the accountant is in an open fiscal year, not in the future, and not before the earliest date.
 *
 * @throws Refusal that names the field
 */
export const requirePast = (field: string, date: string, store: Store, earliest?: Earliest): void => {
  requireNotFuture(field, date, store)
  requireFiscalYear(`Field "${field}" is`, date, store, field)
  if (earliest !== undefined && date < earliest.date)
    throw refusedField(field, `is ${date}: must not be before ${earliest.name}, ${earliest.date}`)
}
