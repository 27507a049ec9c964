import { exactDate } from './calendar.ts'
import { notDate } from './date-input.tsx'
import { decimal, decimalSignIn, exactNumber, isMisgrouped, withoutRials } from './format.ts'
import { Refusal } from './http.ts'
import { t } from './persian.ts'
import { controlOf, labelOf } from './problems.ts'

/** The values of a form when it is submitted. */
export type Values = ReturnType<typeof valuesOf>

const NOTHING = JSON.rawJSON('0')

/**
 * The values of a form.
 *
 * @param problems collects the problems of all fields; without it, the first problem is thrown
 */
export const valuesOf = (form: HTMLFormElement, problems?: Refusal[]) => {
  const data = new FormData(form)
  const text = (field: string) => String(data.get(field) ?? '').trim()
  const refuse = <Value>(field: string, message: string, instead: Value) => {
    const problem = new Refusal(message, { field })
    if (problems === undefined) throw problem
    problems.push(problem)
    return instead
  }
  const required = (field: string) =>
    text(field) === '' ? refuse(field, t('Fill in this field'), '') : text(field)
  const numberIn = (field: string, typed: string) => {
    const number = exactNumber(typed)
    if (number !== undefined) return number
    const problem = isMisgrouped(typed)
      ? t('"{typed}" is not a number: separators make groups of three digits', { typed })
      : t('"{typed}" is not a number', { typed })
    return refuse(field, problem, NOTHING)
  }
  const number = (field: string) => {
    const typed = required(field)
    return typed === '' ? NOTHING : numberIn(field, typed)
  }
  const rials = (field: string) => {
    const typed = required(field)
    const sign = decimalSignIn(typed)
    if (typed === '') return NOTHING
    if (sign === undefined) return numberIn(field, withoutRials(typed))
    const problem = t(
      '"{typed}" has a decimal point, and rials have no fractions: "{sign}" separates decimals, not thousands. Type thousands like {example}.',
      { typed, sign, example: decimal(5_000_000) },
    )
    return refuse(field, problem, NOTHING)
  }
  return {
    text,
    isOn: (field: string) => data.has(field),
    /** The bytes of a body, or of its file if one is chosen. In base64, since JSON has only text. */
    base64: async (field: string) => {
      const file = data.get(`${field}-file`)
      const isChosen = file instanceof File && file.size > 0
      const bytes = await (isChosen ? file : new Blob([data.get(field) ?? ''])).arrayBuffer()
      return btoa(Array.from(new Uint8Array(bytes), byte => String.fromCharCode(byte)).join(''))
    },
    /** @throws Refusal when nothing is typed */
    required,
    /** @throws Refusal when it is not a number */
    number,
    /** @throws Refusal when it is not a whole number, or has a point that may separate thousands */
    rials,
    /** A number whose digits beyond the sixteenth do not matter. @throws Refusal if it is not a number */
    count: (field: string) => Number(JSON.stringify(number(field))),
    /** @throws Refusal when it is not a date */
    date: (field: string) => {
      const typed = required(field)
      const date = typed === '' ? typed : exactDate(typed)
      return date ?? refuse(field, notDate(typed, labelOf(controlOf(form, field)) ?? field), '')
    },
  }
}
