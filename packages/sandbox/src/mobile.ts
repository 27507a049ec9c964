import { latinDigits } from '@order-relay/web/calendar.ts'

/**
 * The local form with a leading zero (`09123456789`) of a mobile number in any accepted form: local, without the zero,
 * `+98`, Persian digits (spec: business rule 2). Undefined for any other text.
 */
export const normalizeMobile = (text: string): string | undefined => {
  const match = /^(?:\+98|0)?(9\d{9})$/.exec(latinDigits(text).trim())
  return match === null ? undefined : `0${match[1]}`
}
