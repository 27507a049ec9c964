import { accountingOf } from '../place/accounting.ts'
import type { Place } from '../place/place.ts'
import { act, type Relay } from '../relay-command.ts'
import type { Report } from '../report.ts'
import { waitUntilAccepted } from '../webhook/accepted.ts'
import { keep, registrationsOf } from '../webhook/registrations.ts'
import { webhookUrl } from '../webhook/url.ts'

type Options = { url?: string | undefined; again?: boolean | undefined; check: boolean }

const register = async (place: Place, { url: given, again = false, check }: Options): Promise<Report> => {
  const url = await webhookUrl(place, given)
  const known = (await registrationsOf(place, url)).at(-1)
  const isNew = known === undefined || again

  const registration = isNew
    ? await accountingOf(place)
        .then(accounting => accounting.registerWebhook(url))
        .then(({ secret }) => keep(place, url, secret, new Date()))
    : known
  if (check) await waitUntilAccepted(url, registration.secret)

  const { id, since } = registration
  return {
    data: { url, registered: isNew ? 'now' : 'before', secret: id, since, accepted: check },
    text: [
      isNew
        ? `Registered ${url} at the accounting service; its secret is kept as ${id}.`
        : `${url} was registered before (${since.toISOString()}), its secret is ${id}: nothing to do. A new secret: relay rotate${place.flags}`,
      ...(check ? ['The relay accepts what is signed with it.'] : []),
    ].join('\n'),
  }
}

/** `relay register`: tells the accounting service where its webhooks go (spec: PUT webhook). */
export const registerCommand = (relay: Relay): void => {
  relay
    .command('register')
    .description(
      'Register the webhook URL at the accounting service and keep the secret. Registers once, however often it is called.',
    )
    .option('--url <url>', "the webhook URL (default: the deployment's own)")
    .option('--again', 'register even so, for instance when somebody has removed the URL at the service')
    .option('--no-check', 'do not wait until the relay accepts the secret')
    .action((options, command) => act(command, place => register(place, options)))
}
