import { midnight } from '@order-relay/web/calendar.ts'

export type Clock = {
  /** The accounting time zone: an IANA name. */
  timeZone: string
  now: () => Date
  /** The time in ISO 8601. */
  iso: () => string
  /** The current day in the accounting time zone, `YYYY-MM-DD` (spec: `date`, default today). */
  today: () => string
  /** The day of a time in the accounting time zone. */
  dayOf: (iso: string) => string
  /**
   * The time at which a day begins in the accounting time zone, in ISO 8601.
   *
   * @param after the number of days after this one; 0 by default
   */
  beginningOf: (day: string, after?: number) => string
}

export const DEFAULT_TIME_ZONE = 'Asia/Tehran'

const DAY_MS = 86_400_000

/** Later times have more digits, with which texts do not sort by time. */
const LAST_TIME = Date.UTC(10_000, 0) - 1

/** The offset of a time zone, such as `GMT+03:30`. */
const OFFSET = /^GMT([+-])(\d+):(\d+)(?::(\d+))?$/

/**
 * The clock of an accounting service.
 *
 * @param timeZone IANA name
 * @param now the current time; an argument, so that tests can set it
 * @throws Error when the time zone is unknown
 */
export const clockIn = (timeZone: string, now = () => new Date()): Clock => {
  try {
    // The Swedish locale formats dates as ISO 8601.
    const day = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })
    const named = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    const offsetAt = (time: number) => {
      const name = named.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? ''
      const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(name) ?? []
      const offset = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
      return 1000 * (sign === '-' ? -offset : offset)
    }
    const beginningOf = (date: string, after = 0) => {
      const time = midnight(date).getTime() + after * DAY_MS
      // The clocks may be changed between midnight in UTC and in the time zone.
      const began = time - offsetAt(time - offsetAt(time))
      return new Date(Math.min(began, LAST_TIME)).toISOString()
    }
    return {
      timeZone,
      now,
      beginningOf,
      iso: () => now().toISOString(),
      today: () => day.format(now()),
      dayOf: iso => day.format(Date.parse(iso)),
    }
  } catch (cause) {
    throw new Error(
      `Cannot use the accounting time zone "${timeZone}": must be an IANA name such as ${DEFAULT_TIME_ZONE}`,
      { cause },
    )
  }
}
