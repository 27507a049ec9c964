/** Calendar dates, `YYYY-MM-DD`, in the Gregorian and Jalali calendars, independent of the page's language. */

const DAY_MS = 86_400_000
const persianDay = new Intl.DateTimeFormat('fa-IR-u-ca-persian-nu-latn', {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  timeZone: 'UTC',
})

export const midnight = (date: string) => new Date(`${date}T00:00:00Z`)

/** The date that is this number of days later. */
export const addDays = (date: string, days: number) =>
  new Date(midnight(date).getTime() + days * DAY_MS).toISOString().slice(0, 10)

/**
 * The time at which a day begins for the reader, in ISO 8601. Any other text is returned as it is.
 *
 * @param after the number of days after this one
 */
export const beginningOf = (date: string, after = 0) => {
  const at = new Date(`${date}T00:00`)
  at.setDate(at.getDate() + after)
  return Number.isNaN(at.getTime()) ? date : at.toISOString()
}

/** Replaces Persian and Arabic digits with Latin ones: the last four bits of a digit are its value. */
export const latinDigits = (text: string) =>
  text.replace(/[۰-۹٠-٩]/g, digit => String(digit.charCodeAt(0) & 0b1111))

const isoOf = (time: number, isIt: (at: Date) => boolean) => {
  const at = new Date(time)
  return !Number.isNaN(time) && isIt(at) ? at.toISOString().slice(0, 10) : undefined
}

/** Year, month and day of a date in the Jalali calendar. */
export const jalaliOf = (date: string): number[] => persianDay.format(midnight(date)).split('/').map(Number)

/** Between year, month and day: a space, or a slash, point, dash or comma as Latin, Persian and Arabic keyboards have them. */
const SEPARATOR = String.raw`(?:\s+|\s*[/.,\-\u2010-\u2014\u2044\u2212\u2215\u060c\u060d\u066b\u066c]\s*)`
const TYPED_DATE = RegExp(String.raw`^(\d{4})${SEPARATOR}(\d{1,2})${SEPARATOR}(\d{1,2})$`)

type Parts = { year: number; month: number; day: number }

/** Year, month and day as they are typed, even of a day that does not exist; undefined for any other text. */
export const datePartsOf = (typed: string): Parts | undefined => {
  const text = latinDigits(typed)
    // Text pasted from a Persian page may have direction marks.
    .replace(/[\u200e\u200f\u061c\u2066-\u2069]/g, '')
    .trim()
    .replace(/^(\d{4})(\d\d)(\d\d)$/, '$1/$2/$3')
  const parts = TYPED_DATE.exec(text)
  if (parts === null) return undefined
  const [year = 0, month = 0, day = 0] = parts.slice(1).map(Number)
  return { year, month, day }
}

/** Years before 1700 are Jalali, regardless of the calendar of the page. */
export const isJalali = ({ year }: Pick<Parts, 'year'>) => year < 1700

const dateOf = ({ year, month, day }: Parts) => {
  if (!isJalali({ year })) {
    return isoOf(
      Date.UTC(year, month - 1, day),
      at => at.getUTCMonth() + 1 === month && at.getUTCDate() === day,
    )
  }
  // The year begins on one of these days of March, and its first six months have 31 days.
  const days = (month - 1) * 30 + Math.min(month - 1, 6) + day - 1
  return [19, 20, 21, 22]
    .map(first => Date.UTC(year + 621, 2, first) + days * DAY_MS)
    .map(time => isoOf(time, at => persianDay.format(at) === `${year}/${month}/${day}`))
    .find(found => found !== undefined)
}

/**
 * A typed date, such as `1405/2/3`, `1405.2.3`, `2026-04-23` or `14050203`, as `YYYY-MM-DD`; undefined if the day does not exist
 * or the year does not have four digits.
 */
export const exactDate = (typed: string) => {
  const parts = datePartsOf(typed)
  return parts && dateOf(parts)
}

/** The last day of a month; undefined if the year has no such month. */
export const lastDayOf = ({ year, month }: Pick<Parts, 'year' | 'month'>) =>
  [31, 30, 29, 28].map(day => dateOf({ year, month, day })).find(found => found !== undefined)
