const DIGITS: Record<string, string> = Object.fromEntries(
  ['۰۱۲۳۴۵۶۷۸۹', '٠١٢٣٤٥٦٧٨٩'].flatMap(row => [...row].map((digit, value) => [digit, String(value)])),
)

/**
 * The local form with a leading zero (`09123456789`) of a mobile number in any accepted form: local, without the zero,
 * `+98`, Persian digits (spec: business rule 2). Undefined for any other text.
 */
export const normalizeMobile = (text: string): string | undefined => {
  const latin = text.replace(/[۰-۹٠-٩]/g, digit => DIGITS[digit] ?? digit)
  const match = /^(?:\+98|0)?(9\d{9})$/.exec(latin.trim())
  return match === null ? undefined : `0${match[1]}`
}
