import { accountingOf } from '../place/accounting.ts'
import type { Place } from '../place/place.ts'
import { act, type Relay } from '../relay-command.ts'
import type { Report } from '../report.ts'
import { count } from '../table.ts'
import { registrationsOf, retire } from '../webhook/registrations.ts'
import { webhookUrl } from '../webhook/url.ts'

const unregister = async (place: Place, given: string | undefined): Promise<Report> => {
  const url = await webhookUrl(place, given)
  const accounting = await accountingOf(place)
  // At the service first: as long as it sends, its secret must be known.
  await accounting.removeWebhook(url)
  const registrations = await registrationsOf(place, url)
  for (const registration of registrations) await retire(place, registration)
  return {
    data: { url, removed: registrations.map(({ id }) => id) },
    text: `The accounting service sends nothing to ${url} any more; ${count(registrations.length, 'secret')} removed.`,
  }
}

/** `relay unregister`: no webhooks any more (spec: DELETE webhook). */
export const unregisterCommand = (relay: Relay): void => {
  relay
    .command('unregister')
    .description('Remove the webhook URL at the accounting service, and its secrets here.')
    .option('--url <url>', "the webhook URL (default: the deployment's own)")
    .action((options, command) => act(command, place => unregister(place, options.url)))
}
