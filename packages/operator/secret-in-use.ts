import { PROBE_SOURCE } from '@order-relay/lib/platform/names.ts'
import { SENDER_TIMEOUT_SECONDS } from '@order-relay/lib/protocol/webhook.ts'
import * as v from 'valibot'
import type { Coded } from './core/coded.ts'
import type { Context } from './core/context.ts'
import { type FindingCode, say } from './core/findings.ts'
import { hasLog } from './core/local-log.ts'
import { lastIn } from './core/log.ts'

/** When the service was known to sign with a secret. */
type Proof = { id: string; at: Date }

/** The id of a secret that the service created and the relay then stored: it ends with the time. */
export const secretId = (prefix: string, created: Date): string =>
  `${prefix}${created.toISOString().replaceAll(/[-:.]/g, '')}`

const TIMED = /^.*-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3}Z)$/

/** A new secret is proof, since the service then signs only with it, except for webhooks that are still under way. */
const creationOf = (id: string): Proof[] => {
  const created = Date.parse(id.replace(TIMED, '$1-$2-$3T$4:$5:$6.$7'))
  return Number.isNaN(created) ? [] : [{ id, at: new Date(created + SENDER_TIMEOUT_SECONDS * 1000) }]
}

/**
 * The last proof of the secret with which the service signs. Pure. The time at which a secret was stored is none: it may have
 * been restored.
 *
 * @param ids the stored secrets
 * @param signed the last webhook signed with one of them
 */
export const lastProof = (ids: readonly string[], signed: Proof | undefined): Proof | undefined =>
  [...ids.flatMap(creationOf), ...(signed ? [signed] : [])]
    .toSorted((a, b) => Number(a.at) - Number(b.at))
    .at(-1)

/** How far back to search for a webhook, in hours. */
const HOURS = 24

const accepted = v.object({ signed_with: v.string(), source: v.string() })

/** Why no secret of a webhook may be deleted: the one last known to be in use is not the newest one. */
export type Kept = Readonly<Record<'found' | 'remedy', Coded<FindingCode>>>

/**
 * Whether the older secrets of a webhook may be deleted; if not, why.
 *
 * @param secrets oldest first
 * @param again the command that registers the webhook again
 */
export const keptSecrets = async (
  context: Context,
  secrets: readonly { id: string }[],
  again: string,
): Promise<Kept | undefined> => {
  const ids = secrets.map(({ id }) => id)
  const newest = ids.at(-1)
  if (newest === undefined || ids.length === 1) return undefined
  // No webhook can prove another secret yet.
  if (creationOf(newest).some(({ at }) => at > new Date())) return undefined
  const lines = { messages: ['delivery received'], fields: { outcome: ['queued', 'duplicate'] } }
  const signed = hasLog(context)
    ? await lastIn(context, HOURS, lines, ({ at, fields }) => {
        // The relay signs the webhooks of the probe itself.
        const isProof = v.is(accepted, fields) && fields.source !== PROBE_SOURCE
        return isProof && ids.includes(fields.signed_with) ? { id: fields.signed_with, at } : undefined
      })
    : undefined
  const proof = lastProof(ids, signed)
  if (proof === undefined || proof.id === newest) return undefined
  return {
    found: say('older-in-use', { id: proof.id, time: proof.at.toISOString(), newest }),
    remedy: say('await-newest', { command: again }),
  }
}
