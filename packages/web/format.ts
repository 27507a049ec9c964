import { latinDigits, midnight } from './calendar.ts'
import { choices, language, locale, otherCalendar } from './language.ts'

// Money and quantities are formatted as decimal text, never as doubles: rials may exceed 2^53.
const exact = new Intl.NumberFormat(locale, { maximumFractionDigits: 40 })
const milliseconds = new Intl.NumberFormat(locale, { style: 'unit', unit: 'millisecond' })
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
const year = new Intl.DateTimeFormat(locale, { year: 'numeric', timeZone: 'UTC' })
const moment = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
const minute = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
const wait = new Intl.RelativeTimeFormat(locale, { style: 'short', numeric: 'auto' })
const otherDay = new Intl.DateTimeFormat(
  otherCalendar === 'persian' ? 'fa-IR-u-ca-persian' : `${language}-u-ca-gregory`,
  { dateStyle: 'long', timeZone: 'UTC' },
)

export const isDecimal = (text: string) => /^-?\d+(\.\d+)?$/.test(text)

/** A decimal with grouped digits: `1234567.25` becomes `1,234,567.25`. Other text is returned unchanged. */
export const decimal = (value: string | number) => {
  const text = String(value)
  return isDecimal(text) ? exact.format(text as `${number}`).replace('-', '−') : text
}

export const formatMilliseconds = (duration: number) => milliseconds.format(duration)

const signs = Object.fromEntries([...'0123456789'].map(digit => [digit, exact.format(Number(digit))]))
signs['.'] = exact.format(0.5).slice(1, 2)

/** A number in the reader's digits, ungrouped: for document numbers and fields. */
export const serial = (number: number | string) =>
  String(number).replace(/[\d.]/g, sign => signs[sign] ?? sign)

/** The sum of amounts of whole rials. */
export const sum = (...amounts: string[]) => String(amounts.reduce((total, each) => total + BigInt(each), 0n))

/** A calendar date `YYYY-MM-DD`. */
export const formatDate = (date: string) => day.format(midnight(date))

/** The year of a date: `1405`. Browsers add the era to a Jalali one. */
export const formatYear = (date: string) =>
  year.formatToParts(midnight(date)).find(({ type }) => type === 'year')?.value ?? ''

/** The same day in the calendar that the reader has not chosen. */
export const formatOtherDate = (date: string) => otherDay.format(midnight(date))

/** A moment, in the reader's own time zone. */
export const formatMoment = (iso: string) => moment.format(new Date(iso))

/** A time of day. */
export const formatTime = (at: number) => time.format(at)

/** A moment to the minute. */
export const formatMinute = (at: number) => minute.format(at)

/** The hour that begins at a moment, in the reader's own time zone. */
export const formatHour = (at: number) => minute.formatRange(at, at + 3_600_000)

const UNITS = [
  ['second', 1, 100],
  ['minute', 60, 6000],
  ['hour', 3600, 172_800],
  ['day', 86_400, Number.POSITIVE_INFINITY],
] as const

/** Seconds in a readable unit. */
const inUnit = (seconds: number) => {
  const [unit, length] = UNITS.find(([, , below]) => seconds < below) ?? UNITS[0]
  return { unit, count: Math.round(seconds / length) }
}

/** How long until a moment: `in 12 sec`, `in 4 min`, `in 2 hr`. */
export const formatWait = (iso: string, now: number) => {
  const { count, unit } = inUnit(Math.max(0, Math.ceil((Date.parse(iso) - now) / 1000)))
  return wait.format(count, unit)
}

/** How long ago a moment was. */
export const formatAgo = (iso: string, now: number) => {
  const { count, unit } = inUnit(Math.max(0, (now - Date.parse(iso)) / 1000))
  return wait.format(-count, unit)
}

const durationParts = (seconds: number) => {
  const { count, unit } = inUnit(seconds)
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).formatToParts(count)
}

const textOf = (parts: readonly { value: string }[]) => parts.map(({ value }) => value).join('')

/** How long it takes: `12 seconds`, `4 minutes`, `3 days`. */
export const formatDuration = (seconds: number) => textOf(durationParts(seconds))

/** An interval, to follow "every": `second`, `10 seconds`. */
export const formatInterval = (seconds: number) => {
  const parts = durationParts(seconds)
  const isOne = parts.some(({ type, value }) => type === 'integer' && value === exact.format(1))
  return textOf(isOne ? parts.filter(({ type }) => type === 'unit') : parts)
}

/** Separators of thousands: `,`, the Persian `٬` and `،`, and spaces. */
const SEPARATORS = /[,٬،\s]/g

/** The decimal separators. Persian is often typed with a slash, which would be a fraction in English. */
const DECIMAL_SIGN = language === 'fa' ? /[.٫/]/ : /[.٫]/

/**
 * A typed number, with Persian digits and groups of three digits allowed, as exact JSON; undefined if it is not a number.
 */
export const exactNumber = (typed: string) => {
  const latin = latinDigits(typed)
    // In Persian, a negative number begins with a direction mark.
    .replace(/[\u200e\u200f\u061c]/g, '')
    .trim()
    .replaceAll(SEPARATORS, ',')
    .replace(DECIMAL_SIGN, '.')
    .replace('−', '-')
    .replace(/^\+(?=\d)/, '')
  if (!/^-?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/.test(latin)) return undefined
  return JSON.rawJSON(latin.replaceAll(',', '').replace(/^(-?)0+(?=\d)/, '$1'))
}

/** Whether the text is a number without its separators. */
export const isMisgrouped = (typed: string) => exactNumber(typed.replaceAll(SEPARATORS, '')) !== undefined

/** The decimal separator in a typed number. Some readers type it between thousands. */
export const decimalSignIn = (typed: string) => DECIMAL_SIGN.exec(typed)?.[0]

/** A typed amount without its unit. */
export const withoutRials = (typed: string) => typed.replace(/\s*(ریال|rials?)\s*$/i, '')

/** A calendar date `YYYY-MM-DD` in the form typed in a Jalali calendar: `1405/2/3`. */
export const persianInput = (date: string) =>
  new Intl.DateTimeFormat(`fa-IR-u-ca-persian-nu-${choices.digits.chosen}`, {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    timeZone: 'UTC',
  }).format(midnight(date))
