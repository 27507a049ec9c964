import { cached, type Load } from '../secrets.ts'

/** Where the secrets of HTTP feeds are, below the path of the secrets; one for each store, by its source. */
export const FEED_SECRETS = 'feed-secrets'

/**
 * Looks up the secret with which a store's messages are signed.
 *
 * The returned function throws when there is none for a store.
 */
export const feedSecrets = (load: Load, path: string) => {
  const secrets = cached(load)
  return async (source: string): Promise<string> => {
    const secret = (await secrets.get())[source]
    if (secret !== undefined) return secret
    throw new Error(
      `Cannot sign for the store "${source}": there is no ${path}/${source} in Parameter Store; ` +
        `make it with "npx relay stores secret ${source}"`,
    )
  }
}
