import { createHash } from 'node:crypto'
import { PARAMETERS } from '../../lib/platform/names.ts'
import { SANDBOX_SECRET_ID } from '../../local/settings.ts'
import type { Context } from './context.ts'
import { usageError } from './errors.ts'
import { shellWord } from './output.ts'

/** A webhook secret that the service created for a URL. */
export type Registration = { id: string; secret: string; since: Date }

/**
 * The webhook URL a command is about: the one given, otherwise the one registered, otherwise that of the stack.
 *
 * @throws Failure when it is not an http or https address
 */
export const webhookUrlOf = async (
  { stack, parameters }: Context,
  given: string | undefined,
): Promise<string> => {
  if (given === undefined) return (await parameters.get(PARAMETERS.webhookUrl)) ?? (await stack()).webhookUrl
  if (URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) return given
  throw usageError(
    `use the URL "${given}"`,
    'it is not an http or https address',
    'pass one such as https://relay.example/webhook',
  )
}

/** The command that registers a URL, whether or not it is the one that commands without --url are about. */
export const registerCommandFor = ({ flags }: Pick<Context, 'flags'>, url: string): string =>
  `relay register --url ${shellWord(url)}${flags}`

const prefixOf = (url: string) => `${createHash('sha256').update(url).digest('hex').slice(0, 8)}-`

/** Every stored webhook secret, and those of a URL, the oldest first. */
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

/** Stores a secret beside the existing ones. Its id tells which URL it is for and when it was created. */
export const storeSecret = async (
  { parameters }: Context,
  url: string,
  secret: string,
): Promise<Registration> => {
  const since = new Date()
  const id = `${prefixOf(url)}${since.toISOString().replaceAll(/[-:.]/g, '')}`
  await parameters.put(`${PARAMETERS.webhookSecrets}/${id}`, secret)
  return { id, secret, since }
}

export const removeSecret = ({ parameters }: Context, { id }: Registration): Promise<void> =>
  parameters.remove(`${PARAMETERS.webhookSecrets}/${id}`)

/** Remembers a URL that is not the stack's own, such as that of a custom domain, for commands without --url. */
export const rememberUrl = async ({ stack, parameters }: Context, url: string): Promise<void> => {
  if (url === (await stack()).webhookUrl) await parameters.remove(PARAMETERS.webhookUrl)
  else await parameters.put(PARAMETERS.webhookUrl, url)
}
