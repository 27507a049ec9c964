import { setTimeout as sleep } from 'node:timers/promises'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import { REFRESH_INTERVAL_MS, untilText } from '@order-relay/lib/platform/parameters.ts'
import { TOLERANCE_SECONDS } from '@order-relay/lib/protocol/signature.ts'
import { ROTATION_INTERVAL_MS, type RotationPhase } from '@order-relay/lib/webhook/secrets.ts'
import { accountingOf } from './core/accounting.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { cannot, messageOf } from './core/errors.ts'
import { durationOption, URL_OPTION } from './core/options.ts'
import { progress } from './core/terminal.ts'
import { nowSeconds, waitUntilAccepted } from './core/webhook.ts'
import {
  registerCommandFor,
  registrationsOf,
  removeSecret,
  storeSecret,
  webhookUrlOf,
} from './registration.ts'

type RotateOptions = {
  url?: string | undefined
  lead: number
  overlap: number
  wait: boolean
  /** Interrupts it while it waits; another run resumes it. */
  signal?: AbortSignal
}

/** How long the service may take to create a secret, in seconds. */
const SWITCH_SECONDS = 30

/** Long enough for a receiver that reads the secrets at this moment to read them again. */
const SWITCH_LEAD_SECONDS = (2 * ROTATION_INTERVAL_MS) / 1000

/** Long enough for every receiver to read the announcement, even while forged webhooks come in. */
export const LEAD_SECONDS = REFRESH_INTERVAL_MS / 1000 + 5

/** The interval at which `check` runs while a step waits, in seconds. */
const CHECK_SECONDS = 10

const waitFor = async (
  { terminal }: Context,
  label: string,
  seconds: number,
  signal?: AbortSignal,
  check?: () => Promise<void>,
) => {
  using shown = progress(terminal, label, seconds, ' s')
  for (let left = seconds; left > 0; left--) {
    signal?.throwIfAborted()
    if (left % CHECK_SECONDS === 0) await check?.()
    await sleep(1000)
    shown.advance()
  }
}

/** Announces the rotation to the receivers, for a limited time in case this command is killed. */
const announce = ({ parameters }: Context, phase: RotationPhase, seconds: number): Promise<void> =>
  parameters.put(PARAMETERS.webhookRotation, untilText(phase, nowSeconds() + seconds))

/**
 * Gets a new secret and stores it in addition to the old one. The service signs only with the new one, even before the
 * receivers can know it, so the rotation is announced to them first.
 */
const replaceSecret = async (context: Context, url: string, { lead, signal }: RotateOptions) => {
  const accounting = await accountingOf(context)
  await announce(context, 'announced', lead + SWITCH_SECONDS)
  await waitFor(context, 'Announcing the new secret to the relay', lead, signal)
  await announce(context, 'switching', SWITCH_LEAD_SECONDS + SWITCH_SECONDS)
  await waitFor(context, 'Announcing the new secret to the relay', SWITCH_LEAD_SECONDS, signal)
  const { secret } = await accounting.registerWebhook(url).catch(error => {
    const remedy =
      'run the command again soon: the service may have created a new secret that the relay does not know'
    throw cannot('rotate the webhook secret', messageOf(error), remedy, error)
  })
  return storeSecret(context, url, secret)
}

/** The new secret, created now or by an interrupted earlier run, and the old ones. */
const renew = async (context: Context, url: string, options: RotateOptions) => {
  const { ofUrl } = await registrationsOf(context, url)
  const newest = ofUrl.at(-1)
  if (newest === undefined) {
    const remedy = `register it first: ${registerCommandFor(context, url)}`
    throw cannot('rotate the webhook secret', `no secret is stored for ${url}`, remedy)
  }
  const resumed = ofUrl.length > 1
  return resumed
    ? { fresh: newest, old: ofUrl.slice(0, -1), resumed }
    : { fresh: await replaceSecret(context, url, options), old: ofUrl, resumed }
}

/** Replaces the error of an interrupted step by one that describes the state it leaves. */
const ifInterrupted =
  (signal: AbortSignal | undefined, found: string, remedy: string) => (error: unknown) => {
    throw signal?.aborted ? cannot('finish', found, remedy) : error
  }

export const rotate = async (context: Context, options: RotateOptions) => {
  const { overlap, wait, signal } = options
  const unchanged = ifInterrupted(
    signal,
    'interrupted before the secret was replaced',
    'the next rotation starts again',
  )
  const resumable = ifInterrupted(
    signal,
    'interrupted while both secrets are accepted',
    'the next rotation resumes this one and retires the old secret',
  )
  const url = await webhookUrlOf(context, options.url)
  const { fresh, old, resumed } = await renew(context, url, options)
    .catch(unchanged)
    .then(async renewed => {
      const { fresh, old } = renewed
      const known = old.at(-1)?.secret
      const accepting = { url, secret: fresh.secret, known, signal }
      await waitUntilAccepted(context.terminal, accepting).catch(resumable)
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
  /** Ends the rotation if another command has deleted its secret, such as `relay unregister`. */
  const requireStored = async () => {
    const { ofUrl } = await registrationsOf(context, url)
    if (ofUrl.some(({ id }) => id === fresh.id)) return
    const found = `another command has deleted the new secret ${fresh.id}`
    const remedy = `unless that was intended, register the webhook again: ${registerCommandFor(context, url)}`
    throw cannot('rotate the webhook secret', found, remedy)
  }
  const overlapping = 'Accepting both secrets during the overlap'
  await waitFor(context, overlapping, left, signal, requireStored).catch(resumable)
  await requireStored()
  for (const registration of old) await removeSecret(context, registration)
  return {
    data: { ...data, retired: true },
    text: `${resumed ? 'Finished an earlier rotation: the' : 'The'} secret ${fresh.id} is in use; retired: ${data.old.join(', ')}.`,
  }
}

const HELP = `
  1. Announces the rotation to the relay, for the duration of --lead.
  2. Has the accounting service create the new secret; both are accepted from then on.
  3. Retires the old secret after --overlap.
No webhook is refused in the meantime. If interrupted, run it again: it resumes where it stopped.`

/** `relay rotate`: replaces the webhook secret (spec: Webhook registration). */
export const rotateCommand = ({ program, run }: Cli): void => {
  program
    .command('rotate')
    .description('Replace the webhook secret without rejecting any webhook.')
    .addOption(URL_OPTION)
    .addOption(
      durationOption(
        '--lead <duration>',
        'how long to announce the rotation in advance; 0s is enough if no webhook was refused in the last minute',
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
