import { setTimeout as sleep } from 'node:timers/promises'
import { PARAMETERS } from '../lib/platform/names.ts'
import { REFRESH_INTERVAL_MS } from '../lib/platform/parameters.ts'
import { TOLERANCE_SECONDS } from '../lib/protocol/signature.ts'
import { type RotationPhase, rotationValue } from '../lib/webhook/secrets.ts'
import { accountingOf } from './core/accounting.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { cannot, messageOf } from './core/errors.ts'
import { durationOption, URL_OPTION } from './core/options.ts'
import type { Report } from './core/output.ts'
import {
  type Registration,
  registerCommandFor,
  registrationsOf,
  removeSecret,
  storeSecret,
  webhookUrlOf,
} from './core/registrations.ts'
import { progress } from './core/terminal.ts'
import { nowSeconds, waitUntilAccepted } from './core/webhook.ts'

type Options = {
  url?: string | undefined
  lead: number
  overlap: number
  wait: boolean
  /** Breaks it off while it waits; another run resumes it. */
  signal?: AbortSignal
}

/** How long the service may take to create a secret, in seconds. */
const SWITCH_SECONDS = 30

/** Long enough for every receiver to read the announcement, even while forged webhooks come in. */
export const LEAD_SECONDS = REFRESH_INTERVAL_MS / 1000 + 5

const waitFor = async ({ terminal }: Context, label: string, seconds: number, signal?: AbortSignal) => {
  using shown = progress(terminal, label, seconds)
  for (let left = seconds; left > 0; left--) {
    signal?.throwIfAborted()
    await sleep(1000)
    shown.advance()
  }
}

/** Announces the exchange to the receivers, for a limited time in case this command is killed. */
const announce = ({ parameters }: Context, phase: RotationPhase, seconds: number): Promise<void> =>
  parameters.put(PARAMETERS.webhookRotation, rotationValue(phase, nowSeconds() + seconds))

/**
 * Gets a new secret and stores it beside the old one. The service signs with it before the receivers can know
 * it, so the exchange is announced to them first.
 */
const exchange = async (context: Context, url: string, { lead, signal }: Options): Promise<Registration> => {
  const accounting = await accountingOf(context)
  await announce(context, 'announced', lead + SWITCH_SECONDS)
  await waitFor(context, 'Announcing the new secret to the relay', lead, signal)
  await announce(context, 'switching', SWITCH_SECONDS)
  const { secret } = await accounting.registerWebhook(url).catch(error => {
    throw cannot(
      'rotate the webhook secret',
      messageOf(error),
      'run the command again soon: the service may have created a new secret that the relay does not know',
      error,
    )
  })
  return storeSecret(context, url, secret)
}

/** The new secret, created now or by an earlier run that did not finish, and the old ones. */
const renew = async (context: Context, url: string, options: Options) => {
  const { ofUrl } = await registrationsOf(context, url)
  const newest = ofUrl.at(-1)
  if (newest === undefined) {
    const remedy = `register it first: ${registerCommandFor(context, url)}`
    throw cannot('rotate the webhook secret', `no secret is stored for ${url}`, remedy)
  }
  const resumed = ofUrl.length > 1
  return resumed
    ? { fresh: newest, old: ofUrl.slice(0, -1), resumed }
    : { fresh: await exchange(context, url, options), old: ofUrl, resumed }
}

export const rotate = async (context: Context, options: Options): Promise<Report> => {
  const { overlap, wait, signal } = options
  const url = await webhookUrlOf(context, options.url)
  const { fresh, old, resumed } = await renew(context, url, options)
    .then(async renewed => {
      await waitUntilAccepted(context.terminal, { url, secret: renewed.fresh.secret, signal })
      return renewed
    })
    .finally(() => context.parameters.remove(PARAMETERS.webhookRotation))

  const until = new Date(fresh.since.getTime() + overlap * 1000)
  const left = Math.max(0, Math.ceil((until.getTime() - Date.now()) / 1000))
  const data = { url, fresh: fresh.id, old: old.map(({ id }) => id), resumed }
  if (left > 0 && !wait) {
    return {
      data: { ...data, retired: false, until },
      text: `The secret ${fresh.id} is in use. The old one remains valid; run relay rotate${context.flags} again after ${until.toISOString()} to retire it.`,
    }
  }
  await waitFor(context, 'Accepting both secrets during the overlap', left, signal)
  for (const registration of old) await removeSecret(context, registration)
  return {
    data: { ...data, retired: true },
    text: `${resumed ? 'Finished an earlier rotation: the' : 'The'} secret ${fresh.id} is in use; retired: ${data.old.join(', ')}.`,
  }
}

const HELP = `
  1. Announces the exchange to the relay, for the duration of --lead.
  2. Has the accounting service create the new secret; both are accepted from then on.
  3. Retires the old secret after --overlap.
No webhook is refused in the meantime. If interrupted, run it again: it resumes where it stopped.`

/** `relay rotate`: replaces the webhook secret (spec: Webhook registration). */
export const rotateCommand = ({ program, run }: Cli): void => {
  program
    .command('rotate')
    .description('Replace the webhook secret without refusing a webhook.')
    .addOption(URL_OPTION)
    .addOption(
      durationOption(
        '--lead <duration>',
        'how long to announce the exchange in advance; 0s is enough if no webhook was refused in the last minute',
        `${LEAD_SECONDS}s`,
      ),
    )
    .addOption(
      durationOption(
        '--overlap <duration>',
        'how long both secrets are accepted',
        `${TOLERANCE_SECONDS}s`,
        ', after which old signatures are stale anyway',
      ),
    )
    .option('--no-wait', 'do not wait for the overlap; a later run retires the old secret')
    .addHelpText('after', HELP)
    .action(run(rotate))
}
