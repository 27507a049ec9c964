import { breaker, type Outcome } from '../platform/breaker.ts'
import type { Ssm } from '../platform/clients.ts'
import type { Runtime, Settings } from '../platform/environment.ts'
import type { HttpClient } from '../platform/http-client.ts'
import { PARAMETERS } from '../platform/names.ts'
import {
  NEW_VALUE_INTERVAL_MS,
  type Parameters,
  parameterCache,
  singleParameter,
} from '../platform/parameters.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import type { OrderKey } from '../protocol/order.ts'
import { type Accounting, accountingClient, TIMEOUT_MS } from './client.ts'
import { AccountingError, type AccountingErrorCode } from './errors.ts'

export type AccountingDependencies = Runtime & {
  ssm: Ssm
  http: HttpClient
  telemetry: Telemetry
  settings: Pick<Settings, 'secretsPath' | 'accountingUrl'>
}

/** The calls about an order. */
export type OrderCalls = Pick<Accounting, 'create' | 'read' | 'payment' | 'refund'>

/**
 * A client of the accounting service with the key in Parameter Store, which may be rotated.
 *
 * @param timeout of one call, in milliseconds
 */
export const serviceClient = (
  { ssm, http, settings, now, random }: AccountingDependencies,
  timeout = TIMEOUT_MS,
): Accounting => {
  const keys = parameterCache(singleParameter(ssm, settings.secretsPath, PARAMETERS.accountingKey), {
    now,
    random,
  })
  let last: string | undefined
  const keyOf = ({ [PARAMETERS.accountingKey]: key }: Parameters) => key
  const newKey = (values: Parameters) => (keyOf(values) === last ? undefined : keyOf(values))
  return accountingClient({
    baseUrl: settings.accountingUrl,
    async apiKey(isRefused) {
      const found = isRefused ? await keys.find(newKey, NEW_VALUE_INTERVAL_MS) : undefined
      last = found ?? keyOf(await keys.get())
      return last ?? ''
    },
    timeout,
    http,
    now,
  })
}

/** The number of orders that must find the service unavailable before the breaker opens. */
export const FAILED_ORDERS = 3

/** The breaker's outcome of a failed call. A refusal proves that the service is up. */
const OUTCOMES: Readonly<Record<AccountingErrorCode, Outcome>> = {
  rejected: 'success',
  unknown_order: 'success',
  unauthorized: 'success',
  throttled: 'success',
  unavailable: 'failure',
  failed: 'neutral',
  not_called: 'neutral',
}

/** The accounting service as the worker calls it: behind a breaker (promise P8). */
export const createAccounting = (dependencies: AccountingDependencies): OrderCalls =>
  guarded(serviceClient(dependencies), dependencies, () => dependencies.telemetry.count('ServiceUnavailable'))

/**
 * Calls through a separate breaker.
 *
 * @param onOpen called when the breaker opens
 */
export const guarded = (
  client: OrderCalls,
  { now, random }: Pick<AccountingDependencies, 'now' | 'random'>,
  onOpen?: () => void,
): OrderCalls => {
  const admit = breaker({ orders: FAILED_ORDERS, now, random, ...(onOpen && { onOpen }) })

  const guard =
    <Call extends [order: OrderKey, ...rest: unknown[]], Result>(call: (...args: Call) => Promise<Result>) =>
    async (...args: Call): Promise<Result> => {
      const admission = admit(args[0])
      if ('wait' in admission) {
        const retryAfter = Math.max(1, Math.ceil(admission.wait / 1000))
        const message = 'Not called, because the accounting service was unavailable'
        throw new AccountingError('not_called', message, { retryAfter })
      }
      let outcome: Outcome = 'neutral'
      try {
        const result = await call(...args)
        outcome = 'success'
        return result
      } catch (error) {
        if (error instanceof AccountingError) outcome = OUTCOMES[error.code]
        throw error
      } finally {
        admission.end(outcome)
      }
    }

  return {
    create: guard(client.create),
    read: guard(client.read),
    payment: guard(client.payment),
    refund: guard(client.refund),
  }
}
