// Money and quantities are formatted as decimal text, never as doubles: rials may exceed 2^53.

const grouped = new Intl.NumberFormat('en-US')
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const persianDay = new Intl.DateTimeFormat('fa-IR-u-ca-persian', { dateStyle: 'long', timeZone: 'UTC' })
const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** Groups the whole part of a decimal and keeps its fraction: `1234567.25` is `1,234,567.25`. */
export const decimal = (value: string | number) => {
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(String(value))
  if (match === null) return String(value)
  const [, sign = '', whole = '', fraction = ''] = match
  return `${sign === '-' ? '−' : ''}${grouped.format(BigInt(whole))}${fraction}`
}

/** The sum of amounts of whole rials. */
export const sum = (...amounts: string[]) => String(amounts.reduce((total, each) => total + BigInt(each), 0n))

/** A calendar date `YYYY-MM-DD`. */
export const formatDate = (date: string) => day.format(new Date(`${date}T00:00:00Z`))

/** The same day in the Persian calendar, in Persian. */
export const formatPersianDate = (date: string) => persianDay.format(new Date(`${date}T00:00:00Z`))

/** A moment, in the reader's own time zone. */
export const formatMoment = (iso: string) => moment.format(new Date(iso))

/** How long until a moment, coarse enough to read: `in 12 s`, `in 4 min`, `in 2 h`. */
export const formatWait = (iso: string, now: number) => {
  const seconds = Math.ceil((Date.parse(iso) - now) / 1000)
  if (seconds <= 0) return 'now'
  if (seconds < 100) return `in ${seconds} s`
  if (seconds < 6000) return `in ${Math.round(seconds / 60)} min`
  return `in ${Math.round(seconds / 3600)} h`
}

/** `1 order`, `2 orders`. */
export const plural = (count: number, noun: string) =>
  `${grouped.format(count)} ${noun}${count === 1 ? '' : 's'}`

/**
 * A number as a person types it, Persian digits and grouping included, as exact JSON; undefined if it is none.
 */
export const exactNumber = (typed: string) => {
  const latin = typed
    .replace(/[۰-۹]/g, digit => String(digit.charCodeAt(0) - 0x06f0))
    .replace(/[٠-٩]/g, digit => String(digit.charCodeAt(0) - 0x0660))
    .replace(/[,٬\s]/g, '')
    .replace('٫', '.')
  return /^-?\d+(\.\d+)?$/.test(latin) ? JSON.rawJSON(latin.replace(/^(-?)0+(?=\d)/, '$1')) : undefined
}
