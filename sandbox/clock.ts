/** Tells the time; an argument everywhere, so that a test can set it. */
export type Clock = () => Date

/** The day on the calendar that hangs on this machine's wall, `YYYY-MM-DD` (spec: `date`, default today). */
export const dayOf = (time: Date): string => {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${String(time.getFullYear()).padStart(4, '0')}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
}
