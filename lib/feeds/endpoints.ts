import type { HttpStore } from '../platform/http-stores.ts'
import type { Registrations } from '../platform/registrations.ts'

/** Where a store's messages are sent. */
export type Endpoint = {
  url: string
  /** The secrets with which the store verifies its messages: one, or two during a rotation by the operator. */
  secrets: () => Promise<readonly string[]>
  /** When the store registered it, in unix milliseconds; 0 for a URL in stores.yml. */
  since: number
}

/** The store has registered no URL; its messages wait in its queue (promise P9). */
export class NotRegistered extends Error {
  override readonly name = 'NotRegistered'
}

/**
 * Finds the endpoint of a store. A registration is read for every message, so that a replaced or removed URL receives
 * nothing more.
 *
 * The returned function throws {@link NotRegistered} while a store that registers its URL has none.
 */
export const endpoints =
  (secretsOf: (source: string) => Promise<readonly string[]>, registrations: Pick<Registrations, 'get'>) =>
  async ({ source, feed }: HttpStore): Promise<Endpoint> => {
    if (feed.http !== undefined) return { url: feed.http, secrets: () => secretsOf(source), since: 0 }
    const registered = await registrations.get(source)
    if (registered === undefined)
      throw new NotRegistered(`Cannot deliver: the store "${source}" has registered no webhook URL`)
    const { url, secret, registered_at } = registered
    return { url, secrets: async () => [secret], since: Date.parse(registered_at) || 0 }
  }
