import { messageOf, Refusal } from './http.ts'
import { listed } from './language.ts'
import { translateMessage } from './messages.ts'
import { t } from './persian.ts'

/** The control of a field. */
export const controlOf = (form: HTMLFormElement, name: string | undefined) =>
  [...form.elements].find(control => name !== undefined && control.getAttribute('name') === name)

export const labelOf = (control: Element | undefined) =>
  control instanceof HTMLInputElement || control instanceof HTMLSelectElement
    ? control.labels?.[0]?.textContent
    : undefined

const quotedLabel = (control: Element | undefined) => {
  const label = labelOf(control)
  return label == null ? undefined : `"${label}"`
}

/** An amount at the end of a rule, with separators. Mobile numbers, dates and fractions have none. */
const grouped = (rule: string) =>
  rule.replace(/(?<![\d.-])[1-9]\d{3,}$/, digits => BigInt(digits).toLocaleString('en'))

/** The problem with the form's labels instead of field names. Leaves out the field itself, next to which it is shown. */
export const inWords = (error: unknown, form: HTMLFormElement) => {
  if (!(error instanceof Refusal)) return new Refusal(messageOf(error))
  const { field, message } = error
  // The service may name a part of the value, such as `items[0].sku`.
  const known = [field, field?.split(/[.[]/)[0], field?.split('.').at(-1)].find(name => controlOf(form, name))
  if (known === undefined) return new Refusal(messageOf(error))
  const rule = message
    .replace(/^Field "[^"]*" is missing$/, t('Fill in this field'))
    .replace(/^Field "[^"]*" is (?:".*"|[^:]*): /s, '')
    .replace(/"([^"]+)"/g, (whole, name) => quotedLabel(controlOf(form, name)) ?? whole)
  return new Refusal(
    translateMessage(grouped(rule)).replace(/^./, first => first.toUpperCase()),
    { field: known },
  )
}

/** The problem, preceded by the row and the label of its field, for places away from the field. */
export const namedProblem = (error: unknown, form: HTMLFormElement) => {
  const { field, message } = inWords(error, form)
  const control = controlOf(form, field)
  const row = control?.closest('fieldset')?.querySelector('legend')?.textContent
  const names = [row, labelOf(control)].filter(name => name != null)
  return names.length === 0 ? message : t('{field}: {problem}', { field: listed(names), problem: message })
}
