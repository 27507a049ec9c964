import { wrongUsage } from '../failure.ts'
import type { Place } from '../place/place.ts'

/**
 * The webhook URL that a command is about: the given one, else the deployment's own.
 *
 * @throws Failure when what was given is not an address
 */
export const webhookUrl = async (place: Place, given: string | undefined): Promise<string> => {
  if (given === undefined) return (await place.deployment()).webhookUrl
  if (URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) return given
  throw wrongUsage(
    `use the URL "${given}"`,
    'it is not an http or https address',
    'such as https://relay.example/webhook',
  )
}
