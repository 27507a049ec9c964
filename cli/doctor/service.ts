import { TOLERANCE_SECONDS } from '../../lib/protocol/signature.ts'
import { Failure } from '../failure.ts'
import { accessOf } from '../place/access.ts'
import { accountingOf } from '../place/accounting.ts'
import type { Place } from '../place/place.ts'
import { type Finding, note, ok, problem } from './finding.ts'

const access = async (place: Place): Promise<Finding> => {
  const check = 'the accounting service lets us change orders'
  const { accountingUrl } = await place.deployment()
  const remedy = `give a key with the scope orders.write: relay key set${place.flags}`
  try {
    const found = await accessOf(await accountingOf(place))
    if (found === 'granted') return ok(check, accountingUrl)
    return 'refused' in found
      ? problem(check, `${accountingUrl} answers ${found.refused}`, remedy)
      : problem(
          check,
          `${accountingUrl}: ${found.unavailable}`,
          'see whether it is up; messages wait meanwhile',
        )
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return problem(check, 'no key is kept', remedy)
  }
}

/** How far the clock behind an address is ahead of ours, in seconds; undefined when it does not tell. */
const ahead = async (url: string): Promise<number | undefined> => {
  try {
    const before = Date.now()
    const { headers } = await fetch(url, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(10_000),
    })
    const middle = (before + Date.now()) / 2
    const told = new Date(headers.get('date') ?? Number.NaN).getTime()
    // The header leaves out the part of a second.
    return Number.isNaN(told) ? undefined : (told + 500 - middle) / 1000
  } catch {
    return undefined
  }
}

/** Further than the header's whole seconds and the way there explain. */
const NOTABLE_SECONDS = 30

const clocks = async (place: Place, webhookUrl: string): Promise<Finding> => {
  const check = 'the clocks of the service and the relay agree'
  const { accountingUrl } = await place.deployment()
  const [service, relay] = await Promise.all([ahead(accountingUrl), ahead(webhookUrl)])
  if (service === undefined || relay === undefined) {
    return note(check, `${service === undefined ? accountingUrl : webhookUrl} does not tell the time`)
  }
  const apart = Math.round(Math.abs(service - relay))
  const found = `${apart} seconds apart; ${TOLERANCE_SECONDS} are tolerated`
  if (apart >= TOLERANCE_SECONDS)
    return problem(check, found, 'set the clock of the accounting service: all its webhooks are refused')
  return apart > NOTABLE_SECONDS
    ? note(check, found, 'set the clock of the accounting service')
    : ok(check, found)
}

/** The accounting service: there, with the right scope, and with the right time. */
export const service = (place: Place, webhookUrl: string): Promise<Finding[]> =>
  Promise.all([access(place), clocks(place, webhookUrl)])
