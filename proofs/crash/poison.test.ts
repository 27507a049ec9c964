import { expect, test } from '@jest/globals'
import { storeKeyParameter } from '../../lib/api/keys.ts'
import type { HttpClient, IncomingResponse } from '../../lib/platform/http-client.ts'
import { PARAMETERS } from '../../lib/platform/names.ts'
import { httpEvent } from '../../test/support/lambda.ts'
import { MINUTE, SECOND } from '../../test/support/scenarios.ts'
import { recordingTelemetry } from '../../test/support/telemetry.ts'
import { quantile } from '../bench/statistics.ts'
import { readCall } from './accounting.ts'
import { SECRETS_PATH } from './aws.ts'
import { ONCE } from './explore.ts'
import { ACCOUNTING_ORIGIN, type Adjust, type Dependencies } from './functions.ts'
import { SHOP, WEB } from './places.ts'
import { every } from './scenario.ts'
import { storeKeyOf } from './store.ts'
import { violationsOf } from './violations.ts'
import { runScenario, writeIndex } from './world.ts'

/** The time range in which calls for orders of the store "shop" fail, in milliseconds. */
const [FROM, UNTIL] = [MINUTE, 4 * MINUTE]
const LASTS = 8 * MINUTE
const READ_ONLY_KEY = 'read-only-key-of-shop'

/** The time in which each worker environment learns which store's calls time out. */
const PHASES = { before: 0, first: FROM, during: FROM + 10 * SECOND, after: UNTIL }
type Phase = keyof typeof PHASES
const phaseOf = (at: number): Phase =>
  at < FROM ? 'before' : at < PHASES.during ? 'first' : at < UNTIL ? 'during' : 'after'

/** The service's response for a poisonous order. */
type Poison = (call: {
  external_id: string
  timeout: number
  dependencies: Dependencies
}) => Promise<IncomingResponse>

/**
 * Makes creates and reads of the store "shop" poisonous while the store "web" creates and reads orders. Returns the
 * duration of each request of "web", in milliseconds, by phase.
 */
const play = async (poison: Poison) => {
  const orders = {
    ...every(200, 150, 'poison', { createdBy: 'relay', source: SHOP, mayRetry: true, at: FROM }),
    ...every(500, LASTS / 500, 'created', { createdBy: 'relay', source: WEB }),
  }
  let elapsed = () => 0
  const adjust: Adjust = (_name, dependencies) => {
    const { http, settings } = dependencies
    const poisoned: HttpClient = async request => {
      if (request.origin !== ACCOUNTING_ORIGIN) return http(request)
      const { external_id } = readCall(request).key
      if (!external_id.startsWith('poison') || elapsed() >= UNTIL) return http(request)
      return poison({ external_id, timeout: request.timeout, dependencies })
    }
    return { ...dependencies, http: poisoned, settings: { ...settings, waitSeconds: '3' } }
  }

  const took: Record<'create' | 'read', Record<Phase, number[]>> = {
    create: { before: [], first: [], during: [], after: [] },
    read: { before: [], first: [], during: [], after: [] },
  }
  const { telemetry, lines, counted } = recordingTelemetry()
  const run = await runScenario(
    {
      name: 'poison',
      orders,
      warm: true,
      concurrency: 5,
      adjust,
      telemetry: {
        ...telemetry,
        info(message, fields) {
          const { source, external_id, action } = fields ?? {}
          if (message !== 'request answered' || source !== WEB) return
          const at = orders[String(external_id)]?.at ?? Number(String(external_id).slice('found'.length))
          if (action === 'create' || action === 'read') took[action][phaseOf(at)].push(elapsed() - at)
        },
      },
      happens({ clock, cloud: { parameters }, functions, ...world }) {
        elapsed = world.elapsed
        const { Name, Value } = storeKeyParameter(SECRETS_PATH, SHOP, READ_ONLY_KEY, {
          kind: 'read-only',
        })
        parameters.set(Name.slice(SECRETS_PATH.length + 1), Value)
        writeIndex(parameters, PARAMETERS.storeKeys)
        const read = (source: string, external_id: string, key: string) =>
          functions.api(
            httpEvent({
              method: 'GET',
              path: `/api/v1/orders/${external_id}/?source=${source}`,
              headers: { authorization: `Bearer ${key}` },
            }),
          )
        // The relay does not know these orders, so it reads them from the service.
        for (let at = 250; at < LASTS; at += 500) {
          const found = { source: WEB, external_id: `found${at}` }
          world.service.create(found)
          clock.after(at, () => read(WEB, found.external_id, storeKeyOf(WEB)))
        }
        for (let at = FROM; at < UNTIL; at += 200)
          clock.after(at, () => read(SHOP, `poison-read-${at}`, READ_ONLY_KEY))
      },
    },
    ONCE,
  )
  return {
    ...took,
    violations: violationsOf(run),
    failures: lines.filter(({ level, fields }) => level !== 'info' && fields?.source === WEB),
    opened: counted().filter(name => name === 'ServiceUnavailable').length,
  }
}

const TIME_OUT = 'time out'

test.each<[string, Poison]>([
  ['are answered 500', async () => ({ status: 500, headers: {}, text: '' })],
  [
    'are answered with another id',
    async ({ external_id }) => ({
      status: 200,
      headers: {},
      text: JSON.stringify({ source: SHOP, external_id: external_id.toUpperCase(), status: 'paid' }),
    }),
  ],
  [
    TIME_OUT,
    async ({ timeout, dependencies: { sleep } }) => {
      await sleep(timeout)
      throw new Error('no complete response')
    },
  ],
])(
  'another store is answered as fast as before while calls for 150 orders of one store %s',
  async (name, poison) => {
    const { create, read, violations, failures, opened } = await play(poison)
    expect([violations, failures]).toEqual([[], []])
    const usual = Math.max(...create.before)
    // Ten calls of 10 ms each.
    expect(usual).toBeLessThanOrEqual(100)
    for (const phase of ['during', 'after'] as const) {
      expect(Math.max(...create[phase])).toBeLessThanOrEqual(usual)
      expect(quantile(create[phase], 0.5)).toBe(quantile(create.before, 0.5))
    }
    expect(Math.max(...Object.values(read).flat())).toBeLessThanOrEqual(50)
    if (name === TIME_OUT) return
    // Immediate responses cause no delay and are no outage.
    expect([Math.max(...create.first) <= usual, opened]).toEqual([true, 0])
  },
)
