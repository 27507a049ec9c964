import { setTimeout as sleep } from 'node:timers/promises'
import { TOLERANCE_SECONDS } from '../../lib/protocol/signature.ts'
import { cannot } from '../failure.ts'
import { accountingOf } from '../place/accounting.ts'
import type { Place } from '../place/place.ts'
import { progress } from '../progress.ts'
import { act, type Relay } from '../relay-command.ts'
import type { Report } from '../report.ts'
import { duration } from '../since.ts'
import { waitUntilAccepted } from '../webhook/accepted.ts'
import { keep, type Registration, registrationsOf, retire } from '../webhook/registrations.ts'
import { webhookUrl } from '../webhook/url.ts'

type Options = { url?: string | undefined; overlap: number; wait: boolean }

/** The new secret, just fetched or left by an earlier call that did not finish, and the old ones. */
const renew = async (
  place: Place,
  url: string,
): Promise<{ fresh: Registration; old: Registration[]; resumed: boolean }> => {
  const before = await registrationsOf(place.parameters, url)
  const newest = before.at(-1)
  if (newest === undefined) {
    throw cannot(
      'rotate the webhook secret',
      `none is kept for ${url}`,
      `register it first: relay register${place.flags}`,
    )
  }
  if (before.length > 1) return { fresh: newest, old: before.slice(0, -1), resumed: true }
  const accounting = await accountingOf(place)
  const { secret } = await accounting.registerWebhook(url)
  return { fresh: await keep(place.parameters, url, secret, new Date()), old: before, resumed: false }
}

const waitFor = async (seconds: number) => {
  const shown = progress(
    'Both secrets are accepted; the old one is retired when its signatures are stale',
    seconds,
  )
  try {
    for (let left = seconds; left > 0; left--) {
      await sleep(1000)
      shown.advance()
    }
  } finally {
    shown.done()
  }
}

const rotate = async (place: Place, { url: given, overlap, wait }: Options): Promise<Report> => {
  const url = await webhookUrl(place, given)
  const { fresh, old, resumed } = await renew(place, url)
  await waitUntilAccepted(url, fresh.secret)

  const until = new Date(fresh.since.getTime() + overlap * 1000)
  const left = Math.ceil((until.getTime() - Date.now()) / 1000)
  const outcome = { url, fresh: fresh.id, old: old.map(({ id }) => id), resumed }
  if (left > 0 && !wait) {
    return {
      data: { ...outcome, retired: false, until },
      text: `The new secret ${fresh.id} is in use; the old one is accepted until you call again, after ${until.toISOString()}: relay rotate${place.flags}`,
    }
  }
  await waitFor(left)
  for (const registration of old) await retire(place.parameters, registration)
  return {
    data: { ...outcome, retired: true },
    text: `${resumed ? 'Finished the rotation begun before: the' : 'The'} secret ${fresh.id} is in use, ${outcome.old.join(', ')} retired.`,
  }
}

/** `relay rotate`: a new webhook secret, without refusing anything signed with the old one meanwhile. */
export const rotateCommand = (relay: Relay): void => {
  relay
    .command('rotate')
    .description(
      'Exchange the webhook secret: get a new one, accept both, then retire the old one. Interrupted, call it again and it goes on.',
    )
    .option('--url <url>', "the webhook URL (default: the deployment's own)")
    .option(
      '--overlap <time>',
      'how long the old secret is accepted beside the new; by default until its signatures are stale',
      duration,
      TOLERANCE_SECONDS,
    )
    .option('--no-wait', 'do not wait for that; a later call retires the old secret')
    .action((options, command) => act(command, place => rotate(place, options)))
}
