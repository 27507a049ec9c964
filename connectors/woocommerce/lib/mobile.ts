/** The last four bits of a Persian or Arabic digit are its value. */
const latinDigits = (text: string) => text.replace(/[۰-۹٠-٩]/g, digit => String(digit.charCodeAt(0) & 0b1111))

/**
 * The local form (`09123456789`) of a mobile number as customers type it: with `0098`, `98` or `+98`, Persian digits,
 * spaces, punctuation or invisible marks. Undefined for landline numbers and any other text: the accounting service
 * would refuse them (spec: business rule 2).
 */
export const mobileOf = (text: string): string | undefined => {
  const digits = latinDigits(text).replace(/[^\d+]/g, '')
  const match = /^(?:\+98|0098|98)?0?(9\d{9})$/.exec(digits)
  return match === null ? undefined : `0${match[1]}`
}
