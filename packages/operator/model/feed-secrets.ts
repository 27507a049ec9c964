import { signingSecrets } from '@order-relay/lib/feeds/secrets.ts'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import type { Context } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { shellWord } from '../core/output.ts'
import { nowSeconds } from '../core/webhook.ts'

/** Names of the stores whose HTTP feed has a secret. */
export const storesWithSecret = async ({ parameters }: Context): Promise<ReadonlySet<string>> =>
  new Set((await parameters.below(PARAMETERS.feedSecrets)).map(({ name }) => name))

/**
 * The secrets that sign the messages of an HTTP feed: one, or two during a rotation.
 *
 * @param action the action that needs them
 */
export const feedSecretsOf = async (
  { parameters, flags }: Pick<Context, 'parameters' | 'flags'>,
  source: string,
  action: string,
): Promise<readonly string[]> => {
  const stored = (await parameters.below(PARAMETERS.feedSecrets)).map(({ name, value }) => [name, value])
  const secrets = signingSecrets(Object.fromEntries(stored), source, nowSeconds())
  if (secrets !== undefined) return secrets
  const remedy = `create it: relay stores secret ${shellWord(source)}${flags}`
  throw cannot(action, 'the store has no secret', remedy)
}
