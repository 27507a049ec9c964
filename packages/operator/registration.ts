import { createHash } from 'node:crypto'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import { SANDBOX_SECRET_ID } from '@order-relay/local/settings.ts'
import { accountingOf } from './core/accounting.ts'
import { ifInterrupted, interruptible } from './core/async.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { cannot, usageError } from './core/errors.ts'
import { count, findingText, lines, shellWord } from './core/output.ts'
import { confirmName } from './core/terminal.ts'
import { waitUntilAccepted } from './core/webhook.ts'
import { lockRegistration } from './registration-lock.ts'
import { keptSecrets, secretId } from './secret-in-use.ts'
import { beginGap, endGap, gapFinding } from './webhook-gaps.ts'

/** A webhook secret that the service created for a URL. */
export type Registration = { id: string; secret: string; since: Date }

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

/** The command that resumes or starts a rotation of a URL, with an explicit --url. */
export const rotateCommandFor = ({ flags }: Pick<Context, 'flags'>, url: string): string =>
  `relay rotate --url ${shellWord(url)}${flags}`

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

/**
 * The other secrets of a URL, all older than this one.
 *
 * @param action such as `rotate the webhook secret`
 * @throws Failure if another command has replaced or deleted this one
 */
export const othersOf = async (
  context: Context,
  url: string,
  { id, since }: Registration,
  action: string,
): Promise<Registration[]> => {
  const { ofUrl } = await registrationsOf(context, url)
  const newest = ofUrl.at(-1)
  if (newest?.id === id) return ofUrl.slice(0, -1)
  if (newest === undefined || newest.since < since) {
    const remedy = `unless that was intended, register the webhook again: ${registerCommandFor(context, url)}`
    throw cannot(action, `another command has deleted the secret ${id}`, remedy)
  }
  const found = `another command has replaced the secret ${id}`
  const cleanUp = `; to delete the old ones, run ${rotateCommandFor(context, url)}`
  throw cannot(action, found, `the secret ${newest.id} is in use now${ofUrl.length > 1 ? cleanUp : ''}`)
}

/** Stores an additional secret. Its id contains the URL and the time of creation. */
export const storeSecret = async ({ parameters }: Context, url: string, secret: string) => {
  const since = new Date()
  const id = secretId(prefixOf(url), since)
  await parameters.put(`${PARAMETERS.webhookSecrets}/${id}`, secret)
  return { id, secret, since }
}

export const removeSecret = ({ parameters }: Context, { id }: Registration): Promise<void> =>
  parameters.remove(`${PARAMETERS.webhookSecrets}/${id}`)

/** The command that has the service create another secret, with which it then signs. */
export const registerAgainCommandFor = (context: Pick<Context, 'flags'>, url: string): string =>
  registerCommandFor(context, url).replace('relay register', 'relay register --again')

/**
 * Deletes the other secrets of a URL.
 *
 * @returns the deleted ones
 * @throws Failure if one of them was last known to be in use, or another command has replaced or deleted this one
 */
export const retireOthers = async (context: Context, url: string, kept: Registration, action: string) => {
  const others = await othersOf(context, url, kept, action)
  const reason = await keptSecrets(context, [...others, kept], registerAgainCommandFor(context, url))
  if (reason !== undefined) throw cannot(action, reason.found.text, reason.remedy.text)
  for (const each of others) await removeSecret(context, each)
  return others
}

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

const ACTION = 'register the webhook'

/** How long the service may take to create a secret, in seconds. */
const CREATE_SECONDS = 30

/** Has the service create a secret, and stores it. */
const createSecret = async (context: Context, url: string): Promise<Registration> => {
  const accounting = await accountingOf(context)
  const lock = await lockRegistration(context, ACTION, 'registering', CREATE_SECONDS)
  try {
    return await storeSecret(context, url, (await accounting.registerWebhook(url)).secret)
  } finally {
    await lock.release()
  }
}

export const register = async (context: Context, options: RegisterOptions) => {
  const { again = false, check, signal } = options
  const url = await webhookUrlOf(context, options.url)
  const { ofUrl } = await registrationsOf(context, url)
  const existing = again ? undefined : ofUrl.at(-1)
  const registration = existing ?? (await createSecret(context, url))
  const { id, secret, since } = registration
  const gap = existing === undefined ? await endGap(context, since) : undefined
  const known = existing === undefined ? ofUrl.at(-1)?.secret : undefined
  const next =
    known === undefined
      ? `to check again, run ${registerCommandFor(context, url)}`
      : `to delete the old one, run ${rotateCommandFor(context, url)}`
  const unconfirmed = ifInterrupted(
    signal,
    'interrupted before the relay accepted the secret',
    `the secret ${id} is in use; ${next}`,
  )
  if (check) await waitUntilAccepted(context.terminal, { url, secret, known, signal }).catch(unconfirmed)
  await rememberUrl(context, url)
  // The service signs only with the new secret. If a webhook that it signed with an old one is still under way, it may be
  // refused, and the service sends it again.
  const retired =
    existing === undefined && check ? await retireOthers(context, url, registration, ACTION) : []
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

const HELP = `
The command sends signed pings until the relay accepts the new secret, usually immediately. If
the relay refused a webhook in the last minute and knows no earlier secret, this takes about a minute, and
one ping may be refused. It then counts as a webhook with an invalid signature.`

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
    .addHelpText('after', HELP)
    .action(
      run(async (context, options) => {
        const { data, text } = await interruptible(signal => register(context, { ...options, signal }))
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
