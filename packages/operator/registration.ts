import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import { REFRESH_INTERVAL_MS, untilText } from '@order-relay/lib/platform/parameters.ts'
import { TOLERANCE_SECONDS } from '@order-relay/lib/protocol/signature.ts'
import { ROTATION_INTERVAL_MS, type RotationPhase } from '@order-relay/lib/webhook/secrets.ts'
import { SANDBOX_SECRET_ID } from '@order-relay/local/settings.ts'
import { accountingOf } from './core/accounting.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { cannot, messageOf, usageError } from './core/errors.ts'
import { durationOption, URL_OPTION } from './core/options.ts'
import { count, findingText, lines, shellWord } from './core/output.ts'
import { confirmName, progress } from './core/terminal.ts'
import { nowSeconds, waitUntilAccepted } from './core/webhook.ts'
import { beginGap, endGap, gapFinding } from './webhook-gaps.ts'

/** A webhook secret that the service created for a URL. */
type Registration = { id: string; secret: string; since: Date }

/**
 * The webhook URL for a command: the given one, otherwise the registered one, otherwise that of the stack.
 *
 * @throws Failure if it is not an http or https address
 */
export const webhookUrlOf = async ({ stack, parameters }: Context, given: string | undefined) => {
  if (given === undefined) return (await parameters.get(PARAMETERS.webhookUrl)) ?? (await stack()).webhookUrl
  if (URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) return given
  const remedy = 'pass one such as https://relay.example/webhook'
  throw usageError(`use the URL "${given}"`, 'it is not an http or https address', remedy)
}

/** The command that registers a URL, with an explicit --url. */
export const registerCommandFor = ({ flags }: Pick<Context, 'flags'>, url: string): string =>
  `relay register --url ${shellWord(url)}${flags}`

const prefixOf = (url: string) => `${createHash('sha256').update(url).digest('hex').slice(0, 8)}-`

/** All stored webhook secrets, and those of a URL, oldest first. */
export const registrationsOf = async ({ parameters, local, stack }: Context, url: string) => {
  const stored = await parameters.below(PARAMETERS.webhookSecrets)
  // The sandbox registered the URL of the local stack when that started.
  const isSandbox = local && url === (await stack()).webhookUrl
  const isOfUrl = (name: string) =>
    name.startsWith(prefixOf(url)) || (isSandbox && name === SANDBOX_SECRET_ID)
  const ofUrl: Registration[] = stored
    .filter(({ name }) => isOfUrl(name))
    .map(({ name, value, modified }) => ({ id: name, secret: value, since: modified }))
    .sort((a, b) => a.since.getTime() - b.since.getTime())
  return { ofUrl, others: stored.map(({ name }) => name).filter(name => !isOfUrl(name)) }
}

/** The newest secret of a URL, if there is one. */
export const newestRegistration = async (context: Context, url: string): Promise<Registration | undefined> =>
  (await registrationsOf(context, url)).ofUrl.at(-1)

/** Stores an additional secret. Its id contains the URL and the time of creation. */
const storeSecret = async ({ parameters }: Context, url: string, secret: string) => {
  const since = new Date()
  const id = `${prefixOf(url)}${since.toISOString().replaceAll(/[-:.]/g, '')}`
  await parameters.put(`${PARAMETERS.webhookSecrets}/${id}`, secret)
  return { id, secret, since }
}

const removeSecret = ({ parameters }: Context, { id }: Registration): Promise<void> =>
  parameters.remove(`${PARAMETERS.webhookSecrets}/${id}`)

/** Remembers a URL other than the stack's, such as that of a custom domain, for commands without --url. */
const rememberUrl = async ({ stack, parameters }: Context, url: string): Promise<void> => {
  if (url === (await stack()).webhookUrl) await parameters.remove(PARAMETERS.webhookUrl)
  else await parameters.put(PARAMETERS.webhookUrl, url)
}

type RegisterOptions = {
  url?: string | undefined
  again?: boolean | undefined
  check: boolean
  /** Ends the check's wait. */
  signal?: AbortSignal
}

export const register = async (context: Context, options: RegisterOptions) => {
  const { again = false, check, signal } = options
  const url = await webhookUrlOf(context, options.url)
  const { ofUrl } = await registrationsOf(context, url)
  const existing = again ? undefined : ofUrl.at(-1)
  const create = async () => {
    const { secret } = await (await accountingOf(context)).registerWebhook(url)
    return storeSecret(context, url, secret)
  }
  const { id, secret, since } = existing ?? (await create())
  const gap = existing === undefined ? await endGap(context, since) : undefined
  const known = existing === undefined ? ofUrl.at(-1)?.secret : undefined
  if (check) await waitUntilAccepted(context.terminal, { url, secret, known, signal })
  await rememberUrl(context, url)
  // The service signs only with the new secret. If a webhook that it signed with an old one is still under way, it may be
  // refused, and the service sends it again.
  const retired = existing === undefined && check ? ofUrl : []
  for (const registration of retired) await removeSecret(context, registration)
  const ids = retired.map(each => each.id)

  return {
    data: {
      url,
      registered: existing === undefined ? 'now' : 'before',
      secret: id,
      since,
      accepted: check,
      retired: ids,
      gap,
    },
    text: lines(
      existing === undefined
        ? `Registered ${url} with the accounting service; its secret is stored as ${id}.`
        : `${url} is already registered (since ${since.toISOString()}, secret ${id}). To replace the secret: relay rotate${context.flags}`,
      check && 'The relay accepts webhooks signed with it.',
      retired.length > 0 && `Retired: ${ids.join(', ')}.`,
    ),
  }
}

export const unregister = async (context: Context, { url }: { url: string }) => {
  const from = new Date()
  // At the service first: the relay must know the secret as long as the service uses it.
  await (await accountingOf(context)).removeWebhook(url)
  const { ofUrl, others } = await registrationsOf(context, url)
  // Another URL may be registered, such as that of a new domain.
  if (ofUrl.length > 0 && others.length === 0) await beginGap(context, from)
  for (const registration of ofUrl) await removeSecret(context, registration)
  const { parameters } = context
  if ((await parameters.get(PARAMETERS.webhookUrl)) === url) await parameters.remove(PARAMETERS.webhookUrl)
  return {
    data: { url, removed: ofUrl.map(({ id }) => id) },
    text: `The accounting service no longer sends webhooks to ${url}; ${count(ofUrl.length, 'secret')} deleted.`,
  }
}

const urlOption = [
  '--url <url>',
  "webhook URL, remembered for all commands (default: the one registered, else the deployment's own)",
] as const

/** `relay register`: has the accounting service send its webhooks to the relay (spec: PUT webhook). */
export const registerCommand = ({ program, run }: Cli): void => {
  program
    .command('register')
    .description(
      'Register the webhook URL with the accounting service and store the secret. Does nothing when it is already registered.',
    )
    .option(...urlOption)
    .option(
      '--again',
      'register again, for example after the URL was removed or its secret replaced at the service; retires the old secret once the relay accepts the new one',
    )
    .option('--no-check', 'do not wait until the relay accepts the secret')
    .action(
      run(async (context, options) => {
        const { data, text } = await register(context, options)
        return {
          data,
          text: lines(text, data.gap !== undefined && findingText(gapFinding(context, data.gap))),
        }
      }),
    )
}

/** `relay unregister`: ends the accounting service's webhooks (spec: DELETE webhook). */
export const unregisterCommand = ({ program, run }: Cli): void => {
  program
    .command('unregister')
    .description(
      'Remove the webhook URL from the accounting service and delete its secrets, after confirmation by typing the URL. Until it is registered again, the scheduled checks find only changes of unsettled orders.',
    )
    .option(...urlOption)
    .option('--yes <url>', 'the URL, for scripts')
    .action(
      run(async (context, { yes, ...options }) => {
        const url = await webhookUrlOf(context, options.url)
        await confirmName(context.terminal, `unregister ${url}`, url, yes)
        return unregister(context, { url })
      }),
    )
}

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

const waitFor = async ({ terminal }: Context, label: string, seconds: number, signal?: AbortSignal) => {
  using shown = progress(terminal, label, seconds)
  for (let left = seconds; left > 0; left--) {
    signal?.throwIfAborted()
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
  await waitFor(context, 'Accepting both secrets during the overlap', left, signal).catch(resumable)
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
