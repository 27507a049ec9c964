import type { Ssm } from '../platform/clients.ts'
import { type Runtime, unixSeconds } from '../platform/environment.ts'
import { feedSecretName, PARAMETERS, storeName } from '../platform/names.ts'
import { indexedParameters, parameterCache, untilText, valueUntil } from '../platform/parameters.ts'

/** How long messages are also signed with the secret that was replaced, in seconds. */
const SECRET_OVERLAP_SECONDS = 24 * 60 * 60

/**
 * The Parameter Store entries that rotate a store's signing secret, in the order in which they must be stored:
 * the one that is replaced, with which messages are signed as well until the store uses the new one, and the new
 * one.
 *
 * @param now unix time in seconds
 */
export const feedSecretParameters = (
  source: string,
  secret: string,
  replaced: string | undefined,
  now: number,
) => ({
  ...(replaced !== undefined && {
    [feedSecretName(source) + PREVIOUS]: untilText(replaced, now + SECRET_OVERLAP_SECONDS),
  }),
  [feedSecretName(source)]: secret,
})

/** Ends the name of the entry of a replaced secret; the name of a store has no dot. */
const PREVIOUS = '.previous'

/**
 * Looks up the secrets that sign a store's messages. A missing one is looked up again at most once a minute,
 * so that a new store is soon notified.
 *
 * The returned function throws when a store has no secret.
 */
export const feedSecrets = (ssm: Ssm, secretsPath: string, runtime: Runtime) => {
  const path = `${secretsPath}/${PARAMETERS.feedSecrets}`
  const secrets = parameterCache(indexedParameters(ssm, path), runtime)
  return async (source: string): Promise<readonly string[]> => {
    const name = storeName(source)
    const found = await secrets.find(stored => {
      // Every object has a "constructor", and a store may be called so.
      const current = Object.hasOwn(stored, name) ? stored[name] : undefined
      if (current === undefined) return undefined
      const previous = valueUntil(stored[name + PREVIOUS], unixSeconds(runtime.now()))
      return previous === undefined ? [current] : [current, previous]
    })
    if (found !== undefined) return found
    throw new Error(
      `Cannot sign for the store "${source}": Parameter Store has no ${path}/${name}; ` +
        'create it with "npx relay stores secret"',
    )
  }
}
