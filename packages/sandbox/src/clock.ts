export type Clock = {
  now: () => Date
  /** The time in ISO 8601. */
  iso: () => string
  /** The current day in the accounting time zone, `YYYY-MM-DD` (spec: `date`, default today). */
  today: () => string
}

export const DEFAULT_TIME_ZONE = 'Asia/Tehran'

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
    return { now, iso: () => now().toISOString(), today: () => day.format(now()) }
  } catch (cause) {
    throw new Error(
      `Cannot use the accounting time zone "${timeZone}": must be an IANA name such as ${DEFAULT_TIME_ZONE}`,
      { cause },
    )
  }
}
