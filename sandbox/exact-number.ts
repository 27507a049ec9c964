import { ExactNumber, type JsonNumber } from '../lib/protocol/json.ts'
import { decimal, shown } from './decimal.ts'

/** Plain digits as a JSON number that keeps them all. */
export const exactNumber = (digits: string): JsonNumber =>
  shown(decimal(Number(digits))) === digits ? Number(digits) : new ExactNumber(digits)
