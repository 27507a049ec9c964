/** The current time. It is always an argument, so that tests can set it. */
export type Clock = () => Date

/** The local calendar day, `YYYY-MM-DD` (spec: `date`, default today). */
export const dayOf = (time: Date): string => {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${String(time.getFullYear()).padStart(4, '0')}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
}
