/**
 * The service alone makes a webhook's new secret, and signs with it before anybody can have told the
 * receivers. So an exchange is announced among the secrets, by entries that are none:
 *
 * - `announced`: there will be a new secret soon, look for it more often
 * - `switching`: the service is being asked for it now; it will be there in a moment
 */
export type Phase = 'announced' | 'switching'

const BEGINNING = 'rotation-'

/**
 * The name of an announcement, below the path of the webhook secrets. Its value is of no meaning, and must
 * not be guessable.
 *
 * @param until when it ends by itself should nobody take it away, in unix seconds
 */
export const announcementName = (phase: Phase, until: number): string => `${BEGINNING}${phase}-${until}`

export const isAnnouncement = (name: string): boolean => name.startsWith(BEGINNING)

/**
 * How far an exchange has come that is announced among these names.
 *
 * @param now unix seconds
 */
export const phaseOf = (names: readonly string[], now: number): Phase | undefined => {
  const announced = names.flatMap(name => {
    const [, phase, until] = /^rotation-(announced|switching)-(\d{1,15})$/.exec(name) ?? []
    return phase !== undefined && Number(until) > now ? [phase] : []
  })
  if (announced.length === 0) return undefined
  return announced.includes('switching') ? 'switching' : 'announced'
}
