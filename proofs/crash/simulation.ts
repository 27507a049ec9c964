import { hash } from 'node:crypto'
import { feedSecretParameters } from '../../lib/feeds/secrets.ts'
import { messageGroupOf } from '../../lib/platform/fifo.ts'
import { PARAMETERS } from '../../lib/platform/names.ts'
import type { Telemetry } from '../../lib/platform/telemetry.ts'
import { HEADERS, RETRY_SECONDS } from '../../lib/protocol/webhook.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../test/support/scenarios.ts'
import { type Instance, MODES, type Mode } from './faults.ts'
import { APP, type Place, SHOP, TARGETS, type Target, WEB } from './places.ts'
import { die, type Incident, type Kind, planIncidents, planOrder, type Simulation, someTime } from './plan.ts'
import type { PlannedOrder } from './scenario.ts'
import { rotateSecret } from './scenarios.ts'
import type { Pattern } from './sender.ts'
import { storeKeyOf } from './store.ts'
import { violationsOf } from './violations.ts'
import { runScenario, type Scenario, STRANGERS, type World, writeIndex } from './world.ts'

const SKEW = 11 * MINUTE

/** The scenario of a seed. */
const plan = (simulation: Simulation) => {
  const { seed, orders: total, days, only, until = days, without = [], onStep } = simulation
  const isOn = (kind: string) => !without.includes(kind)
  const orders: Record<string, PlannedOrder> = {}
  for (let index = 0; index < total; index++) {
    const external_id = String(100_000 + index)
    if (only !== undefined && !only.includes(external_id)) continue
    const planned = planOrder(simulation, index, isOn('imports'))
    if ((planned.at ?? 0) < until * DAY) orders[external_id] = planned
  }

  const incidents = planIncidents(simulation, isOn)
  const current = new Set<Kind>()
  let now = () => 0
  let [drawnAt, draws] = [0, 0]
  /** A random number of this instant, so that leaving out an order does not affect the others. */
  const roll = (salt = 0) => {
    const at = now()
    draws = at === drawnAt ? draws + 1 : 0
    drawnAt = at
    return die(seed, 6, salt, at, draws)
  }
  const isDown = (target: Target) => current.has('all down') || current.has(`${target} down`)

  const strike = (place: Place): Mode | undefined => {
    // A webhook function that cannot read the secrets continues to use a deleted one, which would look like a bug.
    if (current.has('webhook secret') && place === 'webhook: read the secrets') return undefined
    const rate = current.has('crash loop') ? 0.02 : 0.003
    return isOn('calls') && roll(1) < rate ? MODES[Math.floor(roll(2) * MODES.length)] : undefined
  }
  const outage = (place: Place): Error | undefined => {
    const target = TARGETS[place]
    if (target === undefined) return undefined
    if (isDown(target)) return new Error(`${target} is down`)
    return current.has('throttles') && roll(3) < 0.2 ? new Error(`${target} throttles`) : undefined
  }

  const scenario: Scenario = {
    name: `seed ${seed}`,
    orders,
    outage,
    slowness: () => (current.has('service slow') ? 7 * SECOND : 0),
    quarantined: ['not ours'],
    skew: () => (current.has('sender clock') ? SKEW : 0),
    relaySkew: () => (current.has('relay clock') ? -SKEW : 0),
    endpoint(_, source) {
      if (source === APP && current.has('app slow')) return { takes: 11 * SECOND }
      return source === WEB && current.has('web down') ? { status: 503, retryAfter: 60 } : {}
    },
    transit(_, cause) {
      const dice = roll(4)
      if (!isOn('webhooks') || dice > 0.1) return Math.round(100 * dice)
      return cause === 'fix' && dice < 0.05 ? 'never' : someTime(roll(5), 100, 2 * DAY)
    },
    chance: {
      lasts: (until + 20) * DAY,
      patience: { orders: 12 * HOUR, feeds: 4 * DAY },
      random: () => roll(7),
      strike,
      isSqsDown: () => isDown('sqs'),
      consumer() {
        if (current.has('shop down')) return 'down'
        return isOn('calls') && roll(8) < 0.01 ? 'dies' : 'up'
      },
      indexLag: () => (isOn('lag') ? someTime(roll(9), 1, 10 * MINUTE) : 0),
      expiryLag: () => Math.round(roll(10) * 2 * DAY),
      ...(onStep && {
        onCall(place: Place, mode: Mode | undefined, { groups }: Instance) {
          const about = Object.keys(orders).filter(id => groups.includes(messageGroupOf(keyOf(id))))
          onStep(now(), `${place} ${about.join(' ')}${mode === undefined ? '' : `   ← ${mode}`}`)
        },
      }),
    },
    happens(started) {
      now = started.elapsed
      for (const incident of incidents) begin(started, incident)
      started.queues.orders.send({ group: 'not ours', dedup: 'not ours', body: 'not ours' })
      // Twice a day, a forged and a replayed request arrive.
      for (let half = 0; half < 2 * until; half++)
        started.clock.after(Math.round((half + die(seed, 12, half)) * (DAY / 2)), () => intrude(started))
      // Weekly, at any time.
      for (let week = 0; week * 7 < until; week++)
        started.clock.after(Math.round((week + die(seed, 11, week)) * 7 * DAY), started.functions.deploy)
    },
  }
  const keyOf = (external_id: string) => ({ source: orders[external_id]?.source ?? SHOP, external_id })

  /** Sends requests that must be refused, ignored or quarantined, or are duplicates. */
  const intrude = ({ clock, sender, stores }: World) => {
    let number = clock.now() % 1e11
    const webhook = (source: string, external_id?: string, event = 'order.updated') => ({
      event,
      delivery: `${STRANGERS}-3333-4333-8333-${String(number++).padStart(12, '0')}`,
      data: { source, external_id, status: 'refunded' },
    })
    sender.stranger('forged', 401, webhook(SHOP, '100000'), { secret: 'whsec_guess' })
    sender.stranger('about a foreign source', 200, webhook('foreign', '100000'))
    sender.stranger('unreadable', 400, webhook(SHOP))
    const headers = { [HEADERS.delivery]: webhook(SHOP).delivery }
    sender.stranger('contradictory', 400, webhook(SHOP, '100000'), { headers })
    const items = [{ sku: 'A-1', quantity: 1, unit_price: 1 }]
    const order = { source: WEB, external_id: '100000', items }
    stores.stranger("another store's order", 403, storeKeyOf(SHOP), order)
    stores.stranger('a removed store', 401, storeKeyOf('closed'), { ...order, source: 'closed' })
    sender.replay(Math.floor(roll(13) * sender.sent.length))
  }

  const rotateFeedSecret = ({ clock, cloud: { parameters }, stores }: World, { from, dice }: Incident) => {
    const secret = `whsec_feed_${from}`
    const replaced = parameters.get(`${PARAMETERS.feedSecrets}/${WEB}`)
    const entries = feedSecretParameters(WEB, secret, replaced, Math.floor(clock.now() / 1000))
    for (const [path, value] of Object.entries(entries)) parameters.set(path, value)
    writeIndex(parameters, PARAMETERS.feedSecrets)
    clock.after(Math.round(HOUR + dice * 20 * HOUR), () => stores.verifyWith(WEB, secret))
  }
  const begin = (started: World, incident: Incident) => {
    const { clock, functions, queues } = started
    const { kind, from, to } = incident
    clock.after(from, () => {
      onStep?.(from, `=== ${kind} begins`)
      current.add(kind)
      if (kind === 'webhook secret') rotateSecret(started, `of-${from}`)
      if (kind === 'feed secret') rotateFeedSecret(started, incident)
      if (kind === 'deployments')
        for (let at = 0; at < 20 * MINUTE; at += MINUTE) clock.after(at, functions.deploy)
    })
    clock.after(to, () => {
      onStep?.(to, `=== ${kind} ends`)
      current.delete(kind)
      for (const queue of Object.values(queues)) queue.wake()
    })
  }

  const pattern: Pattern = {
    get sends() {
      const dice = isOn('repetitions') ? roll(12) : 1
      return dice < 0.03 ? 'repeated' : dice < 0.06 ? 'concurrent' : 'once'
    },
    waits: RETRY_SECONDS.map(wait => wait * SECOND),
  }
  return { scenario, pattern, incidents, elapsed: () => now() }
}

export type Simulated = {
  orders: number
  incidents: number
  /** The relay's counts by metric. */
  counts: Record<string, number>
  calls: number
  struck: number
  webhooks: number
  violations: string[]
  /** A hash of the end state and the counts; equal for equal seeds. */
  digest: string
}

/** Runs a simulation to its end. */
export const simulate = async (simulation: Simulation): Promise<Simulated> => {
  const { scenario, pattern, incidents, elapsed } = plan(simulation)
  const counts: Record<string, number> = {}
  const log = (message: string, fields: object = {}) => {
    counts[message] = (counts[message] ?? 0) + 1
    simulation.onStep?.(elapsed(), `  ${message} ${JSON.stringify(fields)}`)
  }
  const telemetry: Telemetry = {
    info: log,
    warn: log,
    error: (message, error, fields) => log(message, { ...fields, error: String(error) }),
    count: (name, dimensions) => log([name, ...Object.values(dimensions ?? {})].join(' ')),
    seconds: () => undefined,
  }
  const run = await runScenario({ ...scenario, telemetry }, pattern)
  const { cloud, service, stores, keyOf, calls, sender, struck } = run.world
  const state = [
    ...cloud.tables.items('orders').map(item => JSON.stringify(item)),
    ...Object.keys(scenario.orders).map(id => JSON.stringify([service.find(keyOf(id)), stores.feedOf(id)])),
    JSON.stringify(counts),
  ]
  return {
    orders: Object.keys(scenario.orders).length,
    incidents: incidents.length,
    calls: calls.length,
    struck: struck(),
    webhooks: sender.sent.length,
    counts,
    violations: violationsOf(run),
    digest: hash('sha256', state.sort().join('\n')),
  }
}
