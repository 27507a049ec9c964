import { PARAMETERS } from '../lib/platform/names.ts'
import { accountingOf } from './core/accounting.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { count, lines, type Report } from './core/output.ts'
import {
  newestRegistration,
  registrationsOf,
  rememberUrl,
  removeSecret,
  storeSecret,
  webhookUrlOf,
} from './core/registrations.ts'
import { waitUntilAccepted } from './core/webhook.ts'

type Options = {
  url?: string | undefined
  again?: boolean | undefined
  check: boolean
  /** Ends the wait of the check. */
  signal?: AbortSignal
}

export const register = async (
  context: Context,
  { url: given, again = false, check, signal }: Options,
): Promise<Report> => {
  const url = await webhookUrlOf(context, given)
  const existing = again ? undefined : await newestRegistration(context, url)
  const create = async () => {
    const { secret } = await (await accountingOf(context)).registerWebhook(url)
    return storeSecret(context, url, secret)
  }
  const { id, secret, since } = existing ?? (await create())
  if (check) await waitUntilAccepted(context.terminal, { url, secret, signal })
  await rememberUrl(context, url)

  return {
    data: { url, registered: existing === undefined ? 'now' : 'before', secret: id, since, accepted: check },
    text: lines(
      existing === undefined
        ? `Registered ${url} with the accounting service; its secret is stored as ${id}.`
        : `${url} is already registered (since ${since.toISOString()}, secret ${id}). To replace the secret: relay rotate${context.flags}`,
      check && 'The relay accepts webhooks signed with it.',
    ),
  }
}

export const unregister = async (context: Context, options: Pick<Options, 'url'>): Promise<Report> => {
  const url = await webhookUrlOf(context, options.url)
  // At the service first: while it still sends, the relay must know the secret.
  await (await accountingOf(context)).removeWebhook(url)
  const { ofUrl } = await registrationsOf(context, url)
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
    .option('--again', 'register even so, for example after the URL was removed at the service')
    .option('--no-check', 'do not wait until the relay accepts the secret')
    .action(run(register))
}

/** `relay unregister`: ends the accounting service's webhooks (spec: DELETE webhook). */
export const unregisterCommand = ({ program, run }: Cli): void => {
  program
    .command('unregister')
    .description('Remove the webhook URL from the accounting service and delete its secrets.')
    .option(...urlOption)
    .action(run(unregister))
}
