import { setTimeout as sleep } from 'node:timers/promises'
import { mayHaveActed } from '@order-relay/lib/accounting/errors.ts'
import { REFRESH_INTERVAL_MS } from '@order-relay/lib/platform/parameters.ts'
import { TOLERANCE_SECONDS } from '@order-relay/lib/protocol/signature.ts'
import { ROTATION_INTERVAL_MS } from '@order-relay/lib/webhook/secrets.ts'
import { accountingOf } from './core/accounting.ts'
import { ifInterrupted, interruptible } from './core/async.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { cannot, messageOf } from './core/errors.ts'
import { durationOption, URL_OPTION } from './core/options.ts'
import { progress } from './core/terminal.ts'
import { waitUntilAccepted } from './core/webhook.ts'
import {
  othersOf,
  type Registration,
  registerCommandFor,
  registrationsOf,
  retireOthers,
  rotateCommandFor,
  storeSecret,
  webhookUrlOf,
} from './registration.ts'
import { lockRegistration } from './registration-lock.ts'

type RotateOptions = {
  url?: string | undefined
  lead: number
  overlap: number
  wait: boolean
  /** Interrupts it while it waits; another run resumes it. */
  signal?: AbortSignal
  /** Waits for milliseconds; tests replace it. */
  pause?: (milliseconds: number) => Promise<unknown>
}

/** How long the service may take to create a secret, in seconds. */
const SWITCH_SECONDS = 30

/** Long enough for an environment of the webhook function to read the secrets again if it reads them at this moment. */
const SWITCH_LEAD_SECONDS = (2 * ROTATION_INTERVAL_MS) / 1000

/** Long enough for every environment of the webhook function to read the announcement, even during a flood of forgeries. */
export const LEAD_SECONDS = REFRESH_INTERVAL_MS / 1000 + 5

/** The interval at which `check` runs while a step waits, in seconds. */
const CHECK_SECONDS = 10

const waitFor = async (
  { terminal }: Context,
  label: string,
  seconds: number,
  { signal, pause = sleep }: Pick<RotateOptions, 'signal' | 'pause'>,
  check?: () => Promise<unknown>,
) => {
  using shown = progress(terminal, label, seconds, ' s')
  for (let left = seconds; left > 0; left--) {
    signal?.throwIfAborted()
    if (left % CHECK_SECONDS === 0) await check?.()
    await pause(1000)
    shown.advance()
  }
}

/** Describes an interruption while the old secret and the new one are accepted. */
const whileOverlapping = (context: Context, url: string, id: string, signal: AbortSignal | undefined) =>
  ifInterrupted(
    signal,
    'interrupted while both secrets are accepted',
    `the secret ${id} is in use; to delete the old one, run ${rotateCommandFor(context, url)}`,
  )

const ACTION = 'rotate the webhook secret'

/**
 * Gets a new secret and stores it in addition to the old one, until the relay accepts both. The service signs only with the
 * new one, even before the webhook function can know it, so the rotation is announced to them first.
 *
 * @param accept resolves once the relay accepts the new secret
 */
const replaceSecret = async (
  context: Context,
  url: string,
  current: Registration,
  options: RotateOptions,
  accept: (fresh: Registration) => Promise<void>,
) => {
  const { lead } = options
  const unchanged = ifInterrupted(
    options.signal,
    'interrupted before the secret was replaced',
    `the secret ${current.id} is still in use; to start again, run ${rotateCommandFor(context, url)}`,
  )
  const accounting = await accountingOf(context)
  const lock = await lockRegistration(context, ACTION, 'announced', lead + SWITCH_SECONDS)
  try {
    const announcing = 'Announcing the new secret to the relay'
    await waitFor(context, announcing, lead, options).catch(unchanged)
    await lock.next('switching', SWITCH_LEAD_SECONDS + SWITCH_SECONDS)
    await waitFor(context, announcing, SWITCH_LEAD_SECONDS, options).catch(unchanged)
    await othersOf(context, url, current, ACTION)
    const { secret } = await accounting.registerWebhook(url).catch(error => {
      if (!mayHaveActed(error)) throw error
      const remedy =
        'run the command again soon: the service may have created a new secret that the relay does not know'
      throw cannot(ACTION, messageOf(error), remedy, error)
    })
    const fresh = await storeSecret(context, url, secret)
    await accept(fresh)
    return fresh
  } finally {
    await lock.release()
  }
}

/** The new secret, created now or by an interrupted earlier run, once the relay accepts it. */
const renew = async (context: Context, url: string, options: RotateOptions) => {
  const { signal } = options
  const { ofUrl } = await registrationsOf(context, url)
  const newest = ofUrl.at(-1)
  if (newest === undefined) {
    const remedy = `register it first: ${registerCommandFor(context, url)}`
    throw cannot(ACTION, `no secret is stored for ${url}`, remedy)
  }
  const accept = ({ id, secret }: Registration, known: Registration | undefined) =>
    waitUntilAccepted(context.terminal, { url, secret, known: known?.secret, signal }).catch(
      whileOverlapping(context, url, id, signal),
    )
  if (ofUrl.length > 1) {
    await accept(newest, ofUrl.at(-2))
    return { fresh: newest, resumed: true }
  }
  const fresh = await replaceSecret(context, url, newest, options, created => accept(created, newest))
  return { fresh, resumed: false }
}

export const rotate = async (context: Context, options: RotateOptions) => {
  const { overlap, wait, signal } = options
  const url = await webhookUrlOf(context, options.url)
  const { fresh, resumed } = await renew(context, url, options)
  /** @throws Failure if another command has deleted or replaced the new secret, such as `relay register --again` */
  const replaced = () => othersOf(context, url, fresh, ACTION)
  const idsOf = (registrations: readonly Registration[]) => registrations.map(({ id }) => id)

  const until = new Date(fresh.since.getTime() + overlap * 1000)
  const left = Math.max(0, Math.ceil((until.getTime() - Date.now()) / 1000))
  const data = { url, fresh: fresh.id, resumed }
  if (left > 0 && !wait) {
    return {
      data: { ...data, old: idsOf(await replaced()), retired: false, until },
      text: `The secret ${fresh.id} is in use. The old one remains valid; run relay rotate${context.flags} again after ${until.toISOString()} to retire it.`,
    }
  }
  const overlapping = 'Accepting both secrets during the overlap'
  await waitFor(context, overlapping, left, options, replaced).catch(
    whileOverlapping(context, url, fresh.id, signal),
  )
  const old = await retireOthers(context, url, fresh, ACTION)
  return {
    data: { ...data, old: idsOf(old), retired: true },
    text: `${resumed ? 'Finished an earlier rotation: the' : 'The'} secret ${fresh.id} is in use; retired: ${idsOf(old).join(', ')}.`,
  }
}

const HELP = `
  1. Announces the rotation to the relay, for the duration of --lead.
  2. Has the accounting service create the new secret; both are accepted from then on.
  3. Retires the old secret after --overlap, unless the service still signs with it.
No webhook is refused in the meantime. If interrupted, it prints which secret is in use; run it again to
resume where it stopped. It is refused while another command registers the webhook or replaces its secret.`

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
    .action(run((context, options) => interruptible(signal => rotate(context, { ...options, signal }))))
}
