import { setTimeout } from 'node:timers/promises'
import type { Ssm } from './aws/ssm.ts'
import type { Verification } from './protocol/signature.ts'
import { isAnnouncement, phaseOf } from './webhook/rotation.ts'

/** How long secrets are kept in memory. */
const TTL_MS = 5 * 60 * 1000

/** A mismatch may mean a rotation we have not seen, or a forger: look again, but not for every forgery. */
export const REFRESH_EVERY_MS = 60 * 1000

/** How often we look while a rotation is announced. */
const ROTATING_EVERY_MS = 1000

/** How long a delivery may wait for a new secret on its way: its sender waits ten seconds. */
const SWITCH_MS = 5000

type Stored = Readonly<Record<string, string>>

/** Reads all secrets below a path, by their last name. */
export type Load = () => Promise<Stored>

/** Reads SecureString parameters below `path`, such as `/order-relay/production/webhook-secrets`. */
export const parametersBelow =
  (ssm: Ssm, path: string): Load =>
  async () => {
    const found: [name: string, value: string][] = []
    let next: string | undefined
    do {
      const { Parameters = [], NextToken } = await ssm.getParametersByPath({
        Path: path,
        Recursive: true,
        WithDecryption: true,
        NextToken: next,
      })
      for (const { Name, Value } of Parameters) {
        if (Name !== undefined && Value !== undefined) found.push([Name.slice(path.length + 1), Value])
      }
      next = NextToken ?? undefined
    } while (next !== undefined)
    return Object.fromEntries(found)
  }

/** Reads the SecureString parameter `name` below `path`, and nothing when there is none. */
export const parameter =
  (ssm: Ssm, path: string, name: string): Load =>
  async () => {
    try {
      const { Parameter } = await ssm.getParameter({ Name: `${path}/${name}`, WithDecryption: true })
      return Parameter?.Value === undefined ? {} : { [name]: Parameter.Value }
    } catch (error) {
      if (error instanceof Error && error.name === 'ParameterNotFound') return {}
      throw error
    }
  }

/**
 * Keeps what `load` reads for some minutes. While a load fails, what was read before stays in use: an
 * outage of the parameter store must not refuse webhooks.
 */
export const cached = (load: Load, now: () => number = Date.now) => {
  let held: { values: Stored; at: number } | undefined
  let loading: Promise<Stored> | undefined

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
 * While a rotation is announced (see `webhook/rotation.ts`), it is looked for at every mismatch, once a
 * second; and in the moment in which the service has the new secret and the relay does not, it is waited for.
 *
 * @param extra secrets beside the stored ones (local use)
 */
export const webhookSecrets = (
  load: Load,
  extra: readonly string[],
  now: () => number = Date.now,
  sleep: (ms: number) => Promise<unknown> = ms => setTimeout(ms),
): Secrets & { prepare: () => Promise<void> } => {
  const secrets = cached(load, now)
  let refreshedAt = Number.NEGATIVE_INFINITY
  const all = (stored: Stored) => [
    ...Object.entries(stored).flatMap(([name, secret]) => (isAnnouncement(name) ? [] : [secret])),
    ...extra,
  ]
  const phase = (stored: Stored) => phaseOf(Object.keys(stored), Math.floor(now() / 1000))

  const lookAgain = async (attempt: (secrets: readonly string[]) => Verification, before: Stored) => {
    const until = now() + SWITCH_MS
    for (let held = before; ; ) {
      const wait = refreshedAt + ROTATING_EVERY_MS - now()
      if (wait > 0) await sleep(wait)
      refreshedAt = now()
      held = await secrets.refresh().catch(() => held)
      const verdict = attempt(all(held))
      if (verdict.valid || phase(held) !== 'switching' || now() >= until) return verdict
    }
  }

  return {
    /** Reads the secrets ahead of the first delivery, which reads them itself when that fails. */
    prepare: () =>
      secrets.get().then(
        () => undefined,
        () => undefined,
      ),
    async verify(attempt) {
      const held = await secrets.get()
      const first = attempt(all(held))
      if (first.valid || first.reason !== 'mismatch') return first
      const mayLook = phase(held) !== undefined || now() - refreshedAt >= REFRESH_EVERY_MS
      return mayLook ? lookAgain(attempt, held) : first
    },
  }
}
