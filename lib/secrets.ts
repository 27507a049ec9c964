import {
  GetParameterCommand,
  ParameterNotFound,
  paginateGetParametersByPath,
  type SSMClient,
} from '@aws-sdk/client-ssm'
import type { Verification } from './protocol/signature.ts'

/** How long secrets are kept in memory. */
const TTL_MS = 5 * 60 * 1000

/** A mismatch may mean a rotation we have not seen, or a forger: look again, but not for every forgery. */
export const REFRESH_EVERY_MS = 60 * 1000

/** Reads all secrets below a path, by their last name. */
export type Load = () => Promise<Readonly<Record<string, string>>>

/** Reads SecureString parameters below `path`, such as `/order-relay/production/webhook-secrets`. */
export const parametersBelow =
  (ssm: SSMClient, path: string): Load =>
  async () => {
    const found: Record<string, string> = {}
    const pages = paginateGetParametersByPath(
      { client: ssm },
      { Path: path, Recursive: true, WithDecryption: true },
    )
    for await (const { Parameters } of pages) {
      for (const { Name, Value } of Parameters ?? []) {
        if (Name !== undefined && Value !== undefined) found[Name.slice(path.length + 1)] = Value
      }
    }
    return found
  }

/** Reads the SecureString parameter `name` below `path`, and nothing when there is none. */
export const parameter =
  (ssm: SSMClient, path: string, name: string): Load =>
  async () => {
    try {
      const { Parameter } = await ssm.send(
        new GetParameterCommand({ Name: `${path}/${name}`, WithDecryption: true }),
      )
      return Parameter?.Value === undefined ? {} : { [name]: Parameter.Value }
    } catch (error) {
      if (error instanceof ParameterNotFound) return {}
      throw error
    }
  }

/**
 * Keeps what `load` reads for some minutes. While a load fails, what was read before stays in use: an
 * outage of the parameter store must not refuse webhooks.
 */
export const cached = (load: Load, now: () => number = Date.now) => {
  let held: { values: Readonly<Record<string, string>>; at: number } | undefined
  let loading: Promise<Readonly<Record<string, string>>> | undefined

  const refresh = () => {
    loading ??= load()
      .then(values => {
        held = { values, at: now() }
        return values
      })
      .finally(() => {
        loading = undefined
      })
    return loading
  }

  const get = async () => {
    if (held === undefined) return refresh()
    if (now() - held.at < TTL_MS) return held.values
    const { values } = held
    return refresh().catch(() => values)
  }

  return { get, refresh }
}

/** The webhook secrets in use, as the receiver needs them. */
export type Secrets = {
  /** Verifies with the secrets at hand and, after a mismatch, once more with freshly read ones. */
  verify: (attempt: (secrets: readonly string[]) => Verification) => Promise<Verification>
}

/**
 * The webhook secrets below a path. A rotation needs no deployment: the new secret is found at the first
 * signature that does not match, at most once a minute, so that a flood of forgeries stays free (P4).
 *
 * @param extra secrets beside the stored ones (local use)
 */
export const webhookSecrets = (
  load: Load,
  extra: readonly string[],
  now: () => number = Date.now,
): Secrets => {
  const secrets = cached(load, now)
  let refreshedAt = Number.NEGATIVE_INFINITY
  const all = (stored: Readonly<Record<string, string>>) => [...Object.values(stored), ...extra]

  return {
    async verify(attempt) {
      const first = attempt(all(await secrets.get()))
      if (first.valid || first.reason !== 'mismatch' || now() - refreshedAt < REFRESH_EVERY_MS) return first
      refreshedAt = now()
      return attempt(all(await secrets.refresh().catch(() => ({}))))
    },
  }
}
