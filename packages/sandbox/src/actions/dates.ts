import { refusedField } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import { requireFiscalYear } from './catalogue.ts'

/** What comes before a document. */
export type Earliest = { name: string; date: string }

/**
 * A date that the accountant gives must be in an open fiscal year, and neither in the future nor before the earliest one.
 *
 * @throws Refusal otherwise, of the field
 */
export const requirePast = (field: string, date: string, store: Store, earliest?: Earliest): void => {
  const today = store.clock.today()
  if (date > today) throw refusedField(field, `is ${date}: must not be after today, ${today}`)
  requireFiscalYear(`Field "${field}" is`, date, store, field)
  if (earliest !== undefined && date < earliest.date)
    throw refusedField(field, `is ${date}: must not be before ${earliest.name}, ${earliest.date}`)
}
