import type { Ssm } from '../platform/clients.ts'
import { type Runtime, unixSeconds } from '../platform/environment.ts'
import { feedSecretName, PARAMETERS, storeName } from '../platform/names.ts'
import {
  indexedParameters,
  NEW_VALUE_INTERVAL_MS,
  type Parameters,
  parameterCache,
  untilText,
  valueUntil,
} from '../platform/parameters.ts'
import { FeedError } from './deliver.ts'

/** How long messages are signed with the replaced secret as well, in seconds. */
const SECRET_OVERLAP_SECONDS = 24 * 60 * 60

/**
 * The Parameter Store entries that rotate a store's signing secret, in the order in which they must be stored: first
 * the replaced secret, which continues to sign until the store uses the new one, then the new secret.
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

/** The code of an attempt for a store without a secret. */
export const NO_SECRET = 'no_secret'

/** Suffix of the entry of a replaced secret; a store's name has no dot. */
const PREVIOUS = '.previous'

/**
 * The secrets that sign a store's messages: one, or two during a rotation; undefined if it has none.
 *
 * @param stored the parameters below {@link PARAMETERS.feedSecrets}
 * @param now unix time in seconds
 */
export const signingSecrets = (
  stored: Parameters,
  source: string,
  now: number,
): readonly string[] | undefined => {
  const name = storeName(source)
  // A store may be named "constructor", which every object inherits.
  const current = Object.hasOwn(stored, name) ? stored[name] : undefined
  if (current === undefined) return undefined
  const previous = valueUntil(stored[name + PREVIOUS], now)
  return previous === undefined ? [current] : [current, previous]
}

/**
 * Looks up the secrets that sign a store's messages. A missing secret is looked up again at most every 15 seconds, so a
 * new store is notified soon.
 *
 * The returned function throws when a store has no secret.
 */
export const feedSecrets = (ssm: Ssm, secretsPath: string, runtime: Runtime) => {
  const path = `${secretsPath}/${PARAMETERS.feedSecrets}`
  const secrets = parameterCache(indexedParameters(ssm, path), runtime)
  return async (source: string): Promise<readonly string[]> => {
    const found = await secrets.find(
      stored => signingSecrets(stored, source, unixSeconds(runtime.now())),
      NEW_VALUE_INTERVAL_MS,
    )
    if (found !== undefined) return found
    throw new FeedError(
      `Cannot sign for the store "${source}": Parameter Store has no ${path}/${storeName(source)}; ` +
        `create it with npx relay stores secret ${source}`,
      { code: NO_SECRET },
    )
  }
}
