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

const FIRST_SECONDS = 5

/** SQS counts at most 1,000 receives; this is the interval of a feed that fails for days. */
export const SLOW_RETRY_SECONDS = 22 * 60

/**
 * The delay until a message without a registered URL is received again, in seconds: a quarter of its age, at least 5
 * seconds and at most 22 to 25 minutes. A store that registers its URL within minutes receives the message within a minute.
 *
 * @param age seconds since the message was sent
 * @param random a number from 0 to 1
 */
export const registrationDelay = (age: number, random: number): number =>
  Math.ceil(Math.min(Math.max(age / 4, FIRST_SECONDS), SLOW_RETRY_SECONDS) * (1 + random / 10))
