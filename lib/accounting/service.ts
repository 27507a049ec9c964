import type { Ssm } from '../platform/clients.ts'
import type { Runtime, Settings } from '../platform/environment.ts'
import type { HttpClient } from '../platform/http-client.ts'
import { PARAMETERS } from '../platform/names.ts'
import { parameterCache, singleParameter } from '../platform/parameters.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import { withBreaker } from './breaker.ts'
import { type Accounting, accountingClient, TIMEOUT_MS } from './client.ts'

export type AccountingDependencies = Runtime & {
  ssm: Ssm
  http: HttpClient
  telemetry: Telemetry
  settings: Pick<Settings, 'secretsPath' | 'accountingUrl'>
}

/** The calls about an order. */
export type OrderCalls = Pick<Accounting, 'create' | 'read' | 'payment' | 'refund'>

/**
 * The accounting service as the functions call it: with the key in Parameter Store, which may be exchanged, and
 * behind a breaker (promise P8).
 *
 * @param timeout of one call, in milliseconds
 */
export const createAccounting = (
  { ssm, http, telemetry, settings, now, random }: AccountingDependencies,
  timeout = TIMEOUT_MS,
): OrderCalls => {
  const keys = parameterCache(singleParameter(ssm, settings.secretsPath, PARAMETERS.accountingKey), {
    now,
    random,
  })
  const client = accountingClient({
    baseUrl: settings.accountingUrl,
    apiKey: async () => (await keys.get())[PARAMETERS.accountingKey] ?? '',
    ...{ timeout, http, now },
  })
  const guard = withBreaker({ now, random, onOpen: () => telemetry.count('BreakerOpened') })
  return {
    create: (...call) => guard(() => client.create(...call)),
    read: (...call) => guard(() => client.read(...call)),
    payment: (...call) => guard(() => client.payment(...call)),
    refund: (...call) => guard(() => client.refund(...call)),
  }
}
