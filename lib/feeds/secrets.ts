import { cached, type Load, REFRESH_EVERY_MS } from '../secrets.ts'

/** Where the secrets of HTTP feeds are, below the path of the secrets; one for each store, by its source. */
export const FEED_SECRETS = 'feed-secrets'

/** A store may be called "constructor", which every object has. */
const ownOf = (stored: Readonly<Record<string, string>>, source: string): string | undefined =>
  Object.hasOwn(stored, source) ? stored[source] : undefined

/**
 * Looks up the secret with which a store's messages are signed. One that is missing is looked for again at
 * most once a minute, so that a new store is told soon.
 *
 * The returned function throws when there is none for a store.
 */
export const feedSecrets = (load: Load, path: string, now: () => number = Date.now) => {
  const secrets = cached(load, now)
  let refreshedAt = Number.NEGATIVE_INFINITY

  return async (source: string): Promise<string> => {
    let secret = ownOf(await secrets.get(), source)
    if (secret === undefined && now() - refreshedAt >= REFRESH_EVERY_MS) {
      refreshedAt = now()
      secret = ownOf(await secrets.refresh(), source)
    }
    if (secret !== undefined) return secret
    throw new Error(
      `Cannot sign for the store "${source}": there is no ${path}/${source} in Parameter Store; ` +
        `make it with "npx relay stores secret ${source}"`,
    )
  }
}
