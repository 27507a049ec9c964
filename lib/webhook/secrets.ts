import { unixSeconds } from '../platform/environment.ts'
import { PARAMETERS } from '../platform/names.ts'
import { type ParameterCache, type Parameters, valueUntil } from '../platform/parameters.ts'
import type { Verification } from '../protocol/signature.ts'

/**
 * The service creates a webhook's new secret and signs with it before the relay can know it. A rotation is therefore
 * announced in Parameter Store:
 *
 * - `announced`: a new secret will follow soon; read the secrets more often
 * - `switching`: the service is creating it now
 *
 * The announcement contains the time at which it expires (`untilText`).
 */
export type RotationPhase = 'announced' | 'switching'

/**
 * How often the secrets are read while a rotation is announced, in milliseconds. The service signs with one secret, so
 * `switching` must be announced this long before the service creates the new one: an environment that has just read
 * `announced` would otherwise refuse it.
 */
export const ROTATION_INTERVAL_MS = 1000

/** Names relative to the `webhook` path of Parameter Store. */
const nameBelow = (name: string) => name.slice(PARAMETERS.webhook.length + 1)
const SECRETS_PREFIX = `${nameBelow(PARAMETERS.webhookSecrets)}/`
const ROTATION = nameBelow(PARAMETERS.webhookRotation)

/** The phase of the current rotation, or undefined; `now` in unix seconds. */
export const rotationPhase = (value: string | undefined, now: number): RotationPhase | undefined => {
  const phase = valueUntil(value, now)
  return phase === 'announced' || phase === 'switching' ? phase : undefined
}

/** The signature may be made with a secret that the relay does not have yet; the sender must retry. */
export class SecretRotationError extends Error {
  override readonly name = 'SecretRotationError'
}

/** `id`: which secret has made a valid signature, for operators who delete the others. */
type Verified = Verification & { id?: string | undefined }

export type WebhookSecrets = {
  /**
   * Verifies a signature with the secrets in use and, after a mismatch, with freshly read ones (promise P1).
   *
   * @throws SecretRotationError if none matches while the service is creating a new secret
   */
  verify: (attempt: (secrets: readonly string[]) => Verification) => Promise<Verified>
}

/**
 * The secrets in use. A rotation needs no deployment: the first signature that does not match causes the secrets to be
 * read again, at most once a minute, or once a second while a rotation is announced, so that a flood of forgeries does
 * not cause a flood of AWS calls (promise P4).
 */
export const webhookSecrets = (cache: ParameterCache, now: () => number): WebhookSecrets => {
  const secretsOf = (parameters: Parameters) =>
    Object.entries(parameters).filter(([name]) => name.startsWith(SECRETS_PREFIX))
  const phaseOf = (parameters: Parameters) => rotationPhase(parameters[ROTATION], unixSeconds(now()))

  return {
    async verify(attempt) {
      // A malformed or stale header is refused without knowing any secret.
      const unsigned = attempt([])
      if (!unsigned.valid && unsigned.reason !== 'mismatch') return unsigned

      let parameters = await cache.get()
      const isRotating = phaseOf(parameters) !== undefined
      const verified = await cache.find(
        current => {
          parameters = current
          const secrets = secretsOf(current)
          const verification = attempt(secrets.map(([, secret]) => secret))
          if (!verification.valid) return undefined
          const [name] = secrets.find(([, secret]) => secret === verification.secret) ?? []
          return { ...verification, id: name?.slice(SECRETS_PREFIX.length) }
        },
        isRotating ? ROTATION_INTERVAL_MS : undefined,
      )
      if (verified !== undefined) return verified
      if (phaseOf(parameters) === 'switching') {
        throw new SecretRotationError('Cannot verify the signature: the webhook secret is being rotated')
      }
      return { valid: false, reason: 'mismatch' }
    },
  }
}
