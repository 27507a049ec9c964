import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { readStores } from '../deploy/stores.ts'
import { accountingClient } from '../lib/accounting/client.ts'
import { visible } from '../lib/platform/visible.ts'
import { type Child, startChild } from './child.ts'
import { openDataDir } from './data-dir.ts'
import { openLog, readable } from './log.ts'
import { assertFree } from './ports.ts'
import {
  eachPort,
  environmentOf,
  PORT_NAMES,
  type PortName,
  SANDBOX_KEY,
  type Settings,
  urlOf,
} from './settings.ts'

const PROJECT = join(import.meta.dirname, '..')
const COMPILE_CACHE = join(PROJECT, 'node_modules/.cache/order-relay')
const serverless = createRequire(import.meta.url).resolve('serverless/bin/serverless.js')

const START_MS = 60_000

export type StackOptions = Settings & {
  /** The directory of serverless.yml and stores.yml. @default this project's own */
  project?: string
  /** Called with each line that the parts print. @default no output */
  print?: (line: string) => void
  /** Whether `print` receives everything unformatted. @default false: only what people want to know */
  verbose?: boolean
  /** Aborts the start; nothing is left running then. */
  signal?: AbortSignal
  /** How many times faster than real time the sandbox retries its webhooks. @default 1 */
  speed?: number
  /** Whether to start the operators' console as well. @default false */
  withConsole?: boolean
}

export type Stack = {
  urls: Readonly<Record<PortName, string>>
  /** The secret with which the sandbox signs its webhooks to the relay. */
  webhookSecret: string
  /** The address that opens a session of the console, if it was started. */
  consoleUrl: string | undefined
  /** Resolves when a part has ended unexpectedly, with which and how. */
  broken: Promise<string>
  stop: () => Promise<void>
}

const startParts = (
  options: StackOptions,
  log: (line: string) => void,
  isLoading: () => boolean,
  consoleToken: string | undefined,
) => {
  const { project = PROJECT, ports, dataDir, print, verbose = false, speed = 1 } = options
  const printer = (prefix: string) => (line: string) => {
    if (consoleToken !== undefined && line.includes(consoleToken)) return
    log(line)
    const text = verbose ? line : readable(line, isLoading())
    if (text !== undefined) print?.(visible(`${prefix} | ${text}`))
  }
  const environment = {
    // Caching compiled code from start to start saves a quarter of the start.
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...process.env,
    ...environmentOf(options),
    ...(!verbose && { SLS_LOG_LEVEL: 'warning' }),
  }
  const start = (name: string, prefix: string, args: readonly string[], line?: RegExp, secrets = {}) =>
    startChild({
      name,
      args,
      cwd: project,
      environment: { ...environment, ...secrets },
      onLine: printer(prefix),
      milestoneOf: text => (line?.test(text) === true ? 'ready' : undefined),
    })
  return {
    sandbox: start(
      'sandbox',
      'sandbox',
      [
        join(PROJECT, 'sandbox/main.ts'),
        ...['--port', String(ports.sandbox)],
        ...['--data', join(dataDir, 'sandbox.db')],
        ...['--speed', String(speed)],
      ],
      /^sandbox ready at /,
    ),
    relay: start('relay', 'relay  ', [serverless, 'offline']),
    operators:
      consoleToken === undefined
        ? undefined
        : start('console', 'console', [join(PROJECT, 'bin/main.ts'), 'console', '--local'], /^Console of /, {
            CONSOLE_TOKEN: consoleToken,
          }),
  }
}

/**
 * Starts the sandbox and the relay, registers the relay's webhook, and resolves when both serve requests.
 *
 * @throws Error when stores.yml cannot be read, a port is taken, a part does not start, or `signal` is aborted; nothing is left running then
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const { project = PROJECT, ports, dataDir, signal, withConsole = false } = options
  readStores(join(project, 'stores.yml'))
  await assertFree(
    ports,
    PORT_NAMES.filter(name => withConsole || name !== 'console'),
  )
  await openDataDir(dataDir)
  signal?.throwIfAborted()
  const urls = eachPort(name => urlOf(ports[name]))
  const log = openLog(dataDir)
  let loading = true
  const token = withConsole ? randomBytes(24).toString('base64url') : undefined
  const { sandbox, relay, operators } = startParts(options, log.write, () => loading, token)
  const stop = async () => {
    await Promise.all([sandbox.stop(), relay.stop(), operators?.stop()])
    await log.close()
  }
  signal?.addEventListener('abort', stop, { once: true })
  const brokenBy = async (name: string, { ended }: Child) => `the ${name} ${await ended}`
  const introduce = async () => {
    await sandbox.reached('ready', START_MS)
    const accounting = accountingClient({ baseUrl: urls.sandbox, apiKey: async () => SANDBOX_KEY })
    const { secret: webhookSecret } = await accounting.registerWebhook(`${urls.relay}/webhook`)
    // The relay opens its port only now, so that no webhook arrives before its secret is known.
    relay.send({ webhookSecret })
    return webhookSecret
  }
  try {
    const [webhookSecret] = await Promise.all([
      introduce(),
      relay.reached('ready', START_MS),
      operators?.reached('ready', START_MS),
    ])
    loading = false
    const broken = Promise.race([
      brokenBy('sandbox', sandbox),
      brokenBy('relay', relay),
      ...(operators === undefined ? [] : [brokenBy('console', operators)]),
    ])
    signal?.throwIfAborted()
    const consoleUrl = token && `${urls.console}/?token=${token}`
    return { urls, webhookSecret, consoleUrl, broken, stop }
  } catch (error) {
    await stop()
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}
