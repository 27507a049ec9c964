import { latinDigits } from '@order-relay/web/calendar.ts'

const digitsOf = (text: string) => Array.from(latinDigits(text), Number)

const weighted = (digits: readonly number[], weights: readonly number[]) =>
  weights.reduce((sum, weight, index) => sum + weight * (digits[index] ?? 0), 0)

const isPerson = (digits: readonly number[]) => {
  // The formula accepts ten equal digits, which are never issued.
  if (new Set(digits).size === 1) return false
  const rest = weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11
  return digits[9] === (rest < 2 ? rest : 11 - rest)
}

const isCompany = (digits: readonly number[]) => {
  const added = (digits[9] ?? 0) + 2
  const shifted = digits.map(digit => digit + added)
  return digits[10] === (weighted(shifted, [29, 27, 23, 19, 17, 29, 27, 23, 19, 17]) % 11) % 10
}

/** Whether the check digit of an Iranian national ID is right: a person's has 10 digits, a company's 11. */
export const isNationalId = (text: string): boolean => {
  const digits = digitsOf(text)
  return digits.length === 10 ? isPerson(digits) : isCompany(digits)
}
