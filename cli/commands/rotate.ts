import { setTimeout as sleep } from 'node:timers/promises'
import { Option } from '@commander-js/extra-typings'
import { TOLERANCE_SECONDS } from '../../lib/protocol/signature.ts'
import { REFRESH_EVERY_MS } from '../../lib/secrets.ts'
import { cannot } from '../failure.ts'
import { accountingOf } from '../place/accounting.ts'
import type { Place } from '../place/place.ts'
import { progress } from '../progress.ts'
import { act, type Relay } from '../relay-command.ts'
import type { Report } from '../report.ts'
import { duration } from '../since.ts'
import { waitUntilAccepted } from '../webhook/accepted.ts'
import { announce, withdraw } from '../webhook/announce.ts'
import { keep, type Registration, registrationsOf, retire } from '../webhook/registrations.ts'
import { webhookUrl } from '../webhook/url.ts'

type Options = { url?: string | undefined; lead: number; overlap: number; wait: boolean }

/** How long the service may take to make a secret, seconds. */
const SWITCH_SECONDS = 30

/** Longer than a receiver goes without looking for new secrets when forged webhooks come in. */
const LEAD_SECONDS = REFRESH_EVERY_MS / 1000 + 5

const waitFor = async (label: string, seconds: number) => {
  const shown = progress(label, seconds)
  try {
    for (let left = seconds; left > 0; left--) {
      await sleep(1000)
      shown.advance()
    }
  } finally {
    shown.done()
  }
}

/**
 * Gets a new secret and keeps it beside the old one. From the moment the service has it until the receivers
 * know it, what it signs would be refused: so they are told before, and wait for it.
 */
const exchange = async (place: Place, url: string, lead: number): Promise<Registration> => {
  const accounting = await accountingOf(place)
  await announce(place.parameters, 'announced', lead + SWITCH_SECONDS)
  await waitFor('Telling the relay of the new secret to come', lead)
  await announce(place.parameters, 'switching', SWITCH_SECONDS)
  const { secret } = await accounting.registerWebhook(url).catch(error => {
    throw cannot(
      'rotate the webhook secret',
      error instanceof Error ? error.message : String(error),
      'call again soon: if the service has made a new secret all the same, only another one helps',
      error,
    )
  })
  return keep(place, url, secret, new Date())
}

/** The new secret, got now or by an earlier call that did not finish, and the old ones. */
const renew = async (place: Place, url: string, lead: number) => {
  const before = await registrationsOf(place, url)
  const newest = before.at(-1)
  if (newest === undefined) {
    throw cannot(
      'rotate the webhook secret',
      `none is kept for ${url}`,
      `register it first: relay register${place.flags}`,
    )
  }
  return before.length > 1
    ? { fresh: newest, old: before.slice(0, -1), resumed: true }
    : { fresh: await exchange(place, url, lead), old: before, resumed: false }
}

const rotate = async (place: Place, { url: given, lead, overlap, wait }: Options): Promise<Report> => {
  const url = await webhookUrl(place, given)
  const { fresh, old, resumed } = await renew(place, url, lead)
    .then(async renewed => {
      await waitUntilAccepted(url, renewed.fresh.secret)
      return renewed
    })
    .finally(() => withdraw(place.parameters))

  const until = new Date(fresh.since.getTime() + overlap * 1000)
  const left = Math.ceil((until.getTime() - Date.now()) / 1000)
  const outcome = { url, fresh: fresh.id, old: old.map(({ id }) => id), resumed }
  if (left > 0 && !wait) {
    return {
      data: { ...outcome, retired: false, until },
      text: `The secret ${fresh.id} is in use. The old one is accepted until you call relay rotate${place.flags} again, after ${until.toISOString()}.`,
    }
  }
  await waitFor('Accepting both secrets until the old one is stale', left)
  for (const registration of old) await retire(place, registration)
  return {
    data: { ...outcome, retired: true },
    text: `${resumed ? 'Finished the rotation begun before: the' : 'The'} secret ${fresh.id} is in use, ${outcome.old.join(', ')} retired.`,
  }
}

const HELP = `
  1. The relay is told that there will be a new secret, for as long as --lead says.
  2. The accounting service makes the new secret; both are accepted from now on.
  3. After --overlap the old one is retired.
Nothing is refused meanwhile. Interrupted, call it again: it goes on where it was.`

/** `relay rotate`: a new webhook secret (spec: Webhook registration). */
export const rotateCommand = (relay: Relay): void => {
  relay
    .command('rotate')
    .description('Exchange the webhook secret without refusing a webhook.')
    .option('--url <url>', "the webhook URL (default: the deployment's own)")
    .addOption(
      new Option(
        '--lead <time>',
        'how long before the relay is told; 0s does if no webhook was refused in the last minute',
      )
        .argParser(duration)
        .default(LEAD_SECONDS, `${LEAD_SECONDS}s`),
    )
    .addOption(
      new Option('--overlap <time>', 'how long the old secret is accepted beside the new')
        .argParser(duration)
        .default(TOLERANCE_SECONDS, `${TOLERANCE_SECONDS}s, when what it has signed is stale`),
    )
    .option('--no-wait', 'do not wait for the overlap; a later call retires the old secret')
    .addHelpText('after', HELP)
    .action((options, command) => act(command, place => rotate(place, options)))
}
