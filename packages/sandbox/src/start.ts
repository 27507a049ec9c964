import { clockIn, DEFAULT_TIME_ZONE } from './clock.ts'
import { unsupported } from './node-version.js'
import { assertOptions, CLOCK_RULE, PORT_RULE, type Rule, SPEED_RULE, TEXT_RULE } from './options.ts'

export const PORT = 4000

export type SandboxOptions = {
  /** TCP port on 127.0.0.1; 0 takes a free one. @default {@link PORT} */
  port?: number
  /** Path of the database file. @default none: the data is kept in memory */
  data?: string
  /** How many times faster than real time the webhook retry schedule runs. @default 1 */
  speed?: number
  /** IANA name of the accounting time zone, which determines the service's days. @default Asia/Tehran */
  timeZone?: string
  /** The current time. @default the system clock */
  clock?: () => Date
}

const RULES: Record<keyof SandboxOptions, Rule> = {
  port: PORT_RULE,
  data: TEXT_RULE,
  speed: SPEED_RULE,
  timeZone: TEXT_RULE,
  clock: CLOCK_RULE,
}

export type Sandbox = {
  /** Its address, such as `http://127.0.0.1:4000`. */
  url: string
  /** Stops it. Running requests complete; undelivered webhooks stay in the database for the next start. */
  close: () => Promise<void>
}

/**
 * Starts the accounting service and its panel on this machine.
 *
 * @throws TypeError for an unknown option, such as a misspelled one, or an invalid value
 * @throws Error when Node is older than 22.20, the port is taken, the data file cannot be opened, or the time zone is unknown
 *
 * @example
 * ```ts
 * import { startSandbox } from 'order-relay-sandbox'
 *
 * const { url, close } = await startSandbox({ port: 0 })
 * const headers = { authorization: 'Bearer sandbox-key' }
 * console.log((await fetch(`${url}/api/v1/orders/1001/`, { headers })).status) // 404
 * await close()
 * ```
 */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  assertOptions(options, RULES)
  const { port = PORT, data, speed = 1, timeZone = DEFAULT_TIME_ZONE, clock } = options
  if (unsupported !== undefined) throw new Error(unsupported)
  // An older Node cannot load these modules, and would report that instead.
  const { startService } = await import('./service.ts')
  return startService({ port, data, speed, clock: clockIn(timeZone, clock) })
}
