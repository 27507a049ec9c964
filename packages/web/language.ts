import type { ComponentChild } from 'preact'

/**
 * The language, digits, calendar and appearance of a page. The reader chooses them in the header, and the browser keeps
 * them. A change reloads the page, so module constants may hold text.
 *
 * Each set of pages has its Persian texts next to it, keyed by the English texts:
 *
 *     export const t = translator({ Paid: 'پرداخت‌شده', 'Order {id}': 'سفارش {id}' })
 *
 *     t('Paid')                          // unknown texts and missing values are type errors
 *     t('Order {id}', { id })            // text: numbers are formatted, other values isolated from the rest
 *     t('Order {id}', { id: <b>1</b> })  // children, once a value is an element
 *     t('{count} {count|order|orders}', { count })  // one of the two in English; Persian has one form
 *
 * Numbers, dates and moments are formatted by `format.ts`; names, codes and ids are isolated by `Name` and `Code` of
 * `pieces.tsx`. Style sheets use logical properties (`margin-inline`, not `margin-left`).
 */

const READINGS = {
  en: { region: 'en-GB', direction: 'ltr', digits: 'latn', calendar: 'gregory' },
  fa: { region: 'fa-IR', direction: 'rtl', digits: 'arabext', calendar: 'persian' },
} as const

const stored = (name: string) => {
  try {
    return localStorage.getItem(name)
  } catch {
    // The browser does not allow storage.
    return null
  }
}

const choice = <const Value extends string>(name: string, values: readonly Value[], preset: Value) => ({
  chosen: values.find(each => each === stored(name)) ?? preset,
  keep: (value: Value) => localStorage.setItem(name, value),
})

/** A preference of the reader: the current value, and a function that stores another one for the next start. */
export const choices = (() => {
  const language = choice('language', ['en', 'fa'], /^fa\b/.test(navigator.language) ? 'fa' : 'en')
  const { digits, calendar } = READINGS[language.chosen]
  return {
    language,
    digits: choice(`digits.${language.chosen}`, ['latn', 'arabext'], digits),
    calendar: choice(`calendar.${language.chosen}`, ['gregory', 'persian'], calendar),
    appearance: choice('appearance', ['system', 'light', 'dark'], 'system'),
  }
})()

export const otherCalendar = choices.calendar.chosen === 'gregory' ? 'persian' : 'gregory'

export const language = choices.language.chosen
export const { direction } = READINGS[language]

/** The locale for `Intl`, with digits and calendar. */
export const locale = `${READINGS[language].region}-u-ca-${choices.calendar.chosen}-nu-${choices.digits.chosen}`

const integer = new Intl.NumberFormat(locale)

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\u2067\u2068]/u
const OVERRIDES = /[\u202a-\u202e]/g

/** External text, truncated: a browser takes seconds to lay out 200 KB without a break. */
export const shortened = (text: string, longest = 300) =>
  text.length > longest ? `${text.slice(0, longest)}…` : text

/** Isolates the direction of a text from its surroundings. */
export const isolated = (text: string) => {
  const plain = shortened(text.replace(OVERRIDES, ''))
  return language === 'fa' || RIGHT_TO_LEFT.test(plain) ? `\u2068${plain}\u2069` : plain
}

/** Texts with the commas of the language between them. */
export const listed = (texts: readonly string[]) => texts.join(language === 'fa' ? '، ' : ', ')

const hasPersianDigits = language === 'fa' || choices.digits.chosen === 'arabext'

/** Between the facts of a line. Beside Persian digits, a middle dot looks like a zero or a decimal point. */
export const separator = language === 'fa' ? '؛ ' : hasPersianDigits ? '; ' : ' · '

/** Between a name and what it belongs to. */
export const dash = hasPersianDigits ? ' – ' : ' · '

type Names<Text extends string> = Text extends `${string}{${infer Place}}${infer Rest}`
  ? (Place extends `${infer Name}|${string}` ? Name : Place) | Names<Rest>
  : never

type Values<Text extends string, Value> = [Names<Text>] extends [never] ? [] : [Record<Names<Text>, Value>]

/** A text of the dictionary. For any other text, the compiler's message says what is missing. */
type Translated<Text extends string, Known> = Text extends Known
  ? Text
  : `Add a Persian text to persian.ts for: ${Text}`

type Translate<Known extends string> = {
  <Text extends string>(text: Translated<Text, Known>, ...values: Values<Text, string | number>): string
  <Text extends string>(
    text: Translated<Text, Known>,
    ...values: Values<Text, ComponentChild>
  ): ComponentChild[]
}

const PLURAL = /\{(\w+)\|([^|}]*)\|([^|}]*)\}/g

/**
 * Translates the texts of a dictionary.
 *
 * @param persian Persian texts by their English texts, with the same `{names}` of values
 */
export const translator = <const Texts extends Record<string, string>>(persian: Texts) => {
  const translate = (text: string, values: Record<string, unknown> = {}) => {
    const parts = (language === 'fa' ? (persian[text] ?? text) : text)
      .replace(PLURAL, (_, name, one, other) => (values[name] === 1 ? one : other))
      .split(/\{(\w+)\}/)
      .map((part, index) => (index % 2 === 0 ? part : shown(values[part])))
      .filter(part => part !== '')
    return parts.every(part => typeof part === 'string') ? parts.join('') : parts
  }
  return translate as Translate<Extract<keyof Texts, string>>
}

const shown = (value: unknown) => {
  if (typeof value === 'number') return integer.format(value)
  return typeof value === 'string' ? isolated(value) : value
}
