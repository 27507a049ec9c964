// Money and quantities are formatted as decimal text, never as doubles: rials may exceed 2^53.

const grouped = new Intl.NumberFormat('en-US')
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const persianDay = new Intl.DateTimeFormat('fa-IR-u-ca-persian', { dateStyle: 'long', timeZone: 'UTC' })
const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/**
 * Groups the whole part of a decimal and keeps its fraction: `1234567.25` is `1,234,567.25`.
 *
 * @param {string | number} value
 */
export const decimal = value => {
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(String(value))
  if (match === null) return String(value)
  const [, sign = '', whole = '', fraction = ''] = match
  return `${sign === '-' ? '−' : ''}${grouped.format(BigInt(whole))}${fraction}`
}

/**
 * Whole rials.
 *
 * @param {string | number} value
 */
export const money = value => decimal(value)

/**
 * The sum of two amounts of whole rials.
 *
 * @param {string} a
 * @param {string} b
 */
export const sum = (a, b) => String(BigInt(a) + BigInt(b))

/**
 * A calendar date `YYYY-MM-DD`.
 *
 * @param {string} date
 */
export const formatDate = date => day.format(new Date(`${date}T00:00:00Z`))

/**
 * The same day in the Persian calendar, in Persian.
 *
 * @param {string} date
 */
export const formatPersianDate = date => persianDay.format(new Date(`${date}T00:00:00Z`))

/**
 * A moment, in the reader's own time zone.
 *
 * @param {string} iso
 */
export const formatMoment = iso => moment.format(new Date(iso))

/**
 * How long until a moment, coarse enough to read: `in 12 s`, `in 4 min`, `in 2 h`.
 *
 * @param {string} iso
 * @param {number} now
 */
export const formatWait = (iso, now) => {
  const seconds = Math.ceil((Date.parse(iso) - now) / 1000)
  if (seconds <= 0) return 'now'
  if (seconds < 100) return `in ${seconds} s`
  if (seconds < 6000) return `in ${Math.round(seconds / 60)} min`
  return `in ${Math.round(seconds / 3600)} h`
}

/**
 * `1 order`, `2 orders`.
 *
 * @param {number} count
 * @param {string} noun
 */
export const plural = (count, noun) => `${grouped.format(count)} ${noun}${count === 1 ? '' : 's'}`
