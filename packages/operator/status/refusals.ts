import { SIGNATURE_FAILURES_SECONDS } from '@order-relay/deploy/alarms.ts'
import { METRICS_NAMESPACE, PROBE_SOURCE } from '@order-relay/lib/platform/names.ts'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { type Finding, say } from '../core/findings.ts'
import { hasLog } from '../core/local-log.ts'
import { type LogLine, lastIn, newestOf, type Range } from '../core/log.ts'
import { note, problem } from '../core/output.ts'
import { ACCEPTED_WITHIN_MS } from '../core/webhook.ts'
import { lastIntervals, seriesOf } from './metrics.ts'
import type { SignatureRecovery } from './recovered.ts'

/**
 * What refused webhooks show about the secret that the service signs with.
 *
 * - `unknown`: a webhook was refused when the whole relay knew the newest secret, and none with a valid signature has arrived since.
 * - `unproven`: webhooks were refused only after the newest secret was stored and before the whole relay knew it, and none
 *   with a valid signature has arrived since. Either the relay did not know the secret yet, or the service signs with another one.
 * - `over`: a webhook with a valid signature has arrived, or a secret was stored, since the last refusal.
 */
type RefusalState = 'unknown' | 'unproven' | 'over'

/** Webhooks that no known secret has signed: forgeries, or the service's own after its secret was replaced. */
export type Refusals = {
  state: RefusalState
  since: Date
  /** The last one, also if it was refused only until the functions had read a new secret. */
  until: Date
  /** The times of the refused webhooks whose orders may lag behind the service, oldest first. */
  times: readonly Date[]
  /** When the last webhook with an invalid signature arrived, also if it was malformed or too old. */
  invalid?: Date | undefined
  /** When the last webhook with a valid signature arrived, even if it was quarantined; undefined if none did in the period. */
  accepted?: Date | undefined
  /** When the newest secret was stored. */
  stored?: Date | undefined
}

/** When the whole relay knows a secret: until then, functions that have not read it refuse its signatures. */
const knownBy = (stored: Date) => new Date(Number(stored) + ACCEPTED_WITHIN_MS)

const isBeforeKnown = (at: Date, stored: Date) => at >= stored && at < knownBy(stored)

/**
 * Derives from refused webhooks whether the service signs with an unknown secret. Pure. The service's interface does not
 * show which secret it uses, so the only evidence is that no webhook with a valid
 * signature has arrived, and no secret was stored, since.
 *
 * @param refused when webhooks with an unknown signature arrived
 * @param accepted when the last webhook with a valid signature arrived
 * @param stored when each secret of the webhook was stored, oldest first
 */
export const refusalsIn = (
  refused: readonly Date[],
  accepted: Date | undefined,
  stored: readonly Date[],
): Refusals | undefined => {
  const sorted = refused.toSorted((a, b) => Number(a) - Number(b))
  const until = sorted.at(-1)
  if (until === undefined) return undefined
  const newest = stored.at(-1)
  const facts = { until, accepted, stored: newest }
  const isExplained = (at: Date) => stored.some(since => isBeforeKnown(at, since))
  const unanswered = sorted.filter(at => accepted === undefined || at > accepted)
  const current = unanswered.filter(at => newest === undefined || at >= newest)
  const [since] = current
  if (since !== undefined && !isExplained(until)) return { ...facts, state: 'unknown', since, times: current }
  const [first] = unanswered
  if (since !== undefined && first !== undefined)
    return { ...facts, state: 'unproven', since: first, times: unanswered }
  // The service resends webhooks that were refused only because the relay did not know the secret yet.
  const times = sorted.filter(at => !isExplained(at))
  return times[0] && { ...facts, state: 'over', since: times[0], times }
}

/** Refusals that still concern an operator. */
export type OpenRefusals = Refusals & {
  /** Whether an audit has compared all orders whose webhooks were refused. */
  isAudited?: boolean
}

/**
 * The refusals that still concern an operator, because the service may sign with an unknown secret, or because no audit
 * has compared the orders since. An audit cannot show which secret the service signs with; only the next webhook does. Pure.
 */
export const openRefusals = (
  refusals: Refusals,
  isAudited: (at: Date) => boolean,
): OpenRefusals | undefined => {
  const { state, times, stored } = refusals
  if (state === 'unknown') return refusals
  const isOpen = (at: Date) => state === 'unproven' && stored !== undefined && at >= stored
  const since = times.find(at => isOpen(at) || !isAudited(at))
  return since && { ...refusals, since, isAudited: times.every(isAudited) }
}

/** How far back to search, in hours. */
export const HOURS = 24

/** Maximum number of refused webhooks to read. */
export const MOST = 10_000

/** The log message of a webhook. */
export const RECEIVED = 'delivery received'

/** Whether the log may have webhooks of the last day with this outcome: on AWS, reading it takes longer than the metric. */
export const mayHave = async (context: Context, outcome: 'forged' | 'ignored'): Promise<boolean> => {
  if (context.local) return hasLog(context)
  const deliveries = { name: 'Deliveries', dimensions: { outcome }, stat: 'Sum' } as const
  const [counts = []] = await seriesOf(context)(
    [{ namespace: METRICS_NAMESPACE, ...deliveries }],
    lastIntervals(HOURS, 60),
  )
  return counts.some(count => count !== undefined && count > 0)
}

const refusedLine = v.object({ outcome: v.literal('forged'), why: v.literal('mismatch') })

const isAccepted = ({ outcome, why, source }: Readonly<Record<string, unknown>>) =>
  // The relay itself signs its pings and the webhooks of the probe.
  outcome !== 'forged' && outcome !== 'too_large' && why !== 'probe' && source !== PROBE_SOURCE

/** When the last matching webhook arrived, if it did in the last day. */
const lastOf = (
  context: Context,
  isIt: (fields: LogLine['fields']) => boolean,
  fields?: Range['fields'],
): Promise<Date | undefined> =>
  lastIn(context, HOURS, { messages: [RECEIVED], fields }, line => (isIt(line.fields) ? line.at : undefined))

/**
 * The refused webhooks of the last day.
 *
 * @param stored when each secret of the webhook was stored
 */
export const refusalsOf = async (
  context: Context,
  stored: readonly Date[],
): Promise<Refusals | undefined> => {
  if (!(await mayHave(context, 'forged'))) return undefined
  const since = new Date(Date.now() - HOURS * 3_600_000)
  const mismatches = { since, messages: [RECEIVED], fields: { why: ['mismatch'] } }
  const refused = await newestOf(context, mismatches, MOST, ({ at, fields }) =>
    v.is(refusedLine, fields) ? at : undefined,
  )
  if (refused.length === 0) return undefined
  const accepted = await lastOf(context, isAccepted)
  const invalid = await lastOf(context, ({ outcome }) => outcome === 'forged', { outcome: ['forged'] })
  const refusals = refusalsIn(refused, accepted, stored)
  return refusals && { ...refusals, invalid }
}

/** Whether refused webhooks are cured, and when the alarm about them ends. Pure. */
export const signatureRecovery = (refusals: Omit<Refusals, 'times'>): SignatureRecovery | undefined => {
  const { state, until: refused, invalid, accepted, stored } = refusals
  if (state === 'unknown' || invalid === undefined) return undefined
  const end = Math.ceil(Number(invalid) / 60_000) * 60_000 + SIGNATURE_FAILURES_SECONDS * 1000
  const times = { until: invalid.toISOString(), ends: new Date(end).toISOString() }
  if (accepted !== undefined && accepted > invalid) return { accepted: accepted.toISOString(), ...times }
  const isNew =
    stored !== undefined && refused < knownBy(stored) && !(accepted !== undefined && accepted > stored)
  return isNew ? { stored: stored.toISOString(), ...times } : undefined
}

/** The finding about refused webhooks, with its remedy. */
export const refusalFinding = (
  { flags }: Pick<Context, 'flags'>,
  { state, since: first, until: last, accepted, stored, isAudited = false }: Omit<OpenRefusals, 'times'>,
  now = Date.now(),
): Finding => {
  const [since, until] = [first.toISOString(), last.toISOString()]
  if (state !== 'unknown') {
    const audit = say('audit', { command: `relay audit --since ${HOURS}h --repair${flags}` })
    const orders = say(isAudited ? 'orders-audited' : 'orders-may-lag')
    const refused = say(since === until ? 'refused-at' : 'refused-between', { since, until, orders })
    const isUsed = accepted !== undefined && stored !== undefined && accepted > stored
    if (stored === undefined || (state === 'over' && (isUsed || knownBy(stored) <= new Date(now))))
      return note(say('were-refused'), refused, audit)
    const isKnown = knownBy(stored) <= new Date(now)
    const times = { time: stored.toISOString(), known: knownBy(stored).toISOString() }
    return note(
      say('may-be-refused'),
      say(isKnown ? 'secret-unproven' : 'secret-stored', { ...times, refused }),
      isAudited ? undefined : audit,
    )
  }
  const before =
    accepted === undefined
      ? say('none-accepted', { hours: say('hours', { count: HOURS }) })
      : say('last-accepted', { time: accepted.toISOString() })
  const command = `relay register --again${flags}`
  return problem(
    say('are-refused'),
    say(since === until ? 'refused-one' : 'refused-since', { since, until, before }),
    say('register-again', { command }),
  )
}
