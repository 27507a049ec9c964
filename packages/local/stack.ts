import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { readStores } from '@order-relay/deploy/stores.ts'
import { accountingClient } from '@order-relay/lib/accounting/client.ts'
import { WEBHOOK_PATH } from '@order-relay/lib/platform/names.ts'
import { visible } from '@order-relay/lib/platform/visible.ts'
import { startChild } from './child.ts'
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

const PROJECT = join(import.meta.dirname, '../..')
const COMPILE_CACHE = join(PROJECT, 'node_modules/.cache/order-relay')
const serverless = createRequire(import.meta.url).resolve('serverless/bin/serverless.js')

export type StackOptions = Settings & {
  /** Called with each line of output of the components. @default no output */
  print?: (line: string) => void
  /** Whether `print` receives the raw output. @default false: only lines for people */
  verbose?: boolean
  /** Aborts the start, leaving nothing running. */
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
  /** Resolves when a component has exited unexpectedly, with its name and the reason. */
  broken: Promise<string>
  stop: () => Promise<void>
}

const startParts = (
  options: StackOptions,
  log: (line: string) => void,
  isLoading: () => boolean,
  consoleToken: string | undefined,
) => {
  const { ports, dataDir, print, verbose = false, speed = 1 } = options
  const environment = {
    // Caching compiled code between starts saves a quarter of the start time.
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...process.env,
    ...environmentOf(options),
    ...(!verbose && { SLS_LOG_LEVEL: 'warning' }),
  }
  const start = (name: string, args: readonly string[], readyLine?: RegExp, secrets = {}) =>
    startChild({
      ...{ name, args, cwd: PROJECT, environment: { ...environment, ...secrets }, readyLine },
      onLine: line => {
        if (consoleToken !== undefined && line.includes(consoleToken)) return
        log(line)
        const text = verbose ? line : readable(line, isLoading())
        if (text !== undefined) print?.(visible(`${name.padEnd(7)} | ${text}`))
      },
    })
  const sandbox = [
    ...[join(PROJECT, 'packages/sandbox/src/main.ts'), '--port', String(ports.sandbox)],
    ...['--data', join(dataDir, 'sandbox.db'), '--speed', String(speed)],
  ]
  const operators = [join(PROJECT, 'packages/operator/main.ts'), 'console', '--local']
  return {
    sandbox: start('sandbox', sandbox, /^sandbox ready at /),
    relay: start('relay', [serverless, 'offline']),
    ...(consoleToken !== undefined && {
      console: start('console', operators, /^Console of /, { CONSOLE_TOKEN: consoleToken }),
    }),
  }
}

/**
 * Starts the sandbox and the relay, registers the relay's webhook, and resolves when both serve requests.
 *
 * @throws Error when stores.yml cannot be read, a port is taken, a component does not start, or `signal` is aborted; nothing is left running
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const { ports, dataDir, signal, withConsole = false } = options
  readStores(join(PROJECT, 'stores.yml'))
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
  const started = startParts(options, log.write, () => loading, token)
  const { sandbox, relay } = started
  const parts = Object.entries(started)
  const stop = async () => {
    await Promise.all(parts.map(([, part]) => part.stop()))
    await log.close()
  }
  signal?.addEventListener('abort', stop, { once: true })
  const introduce = async () => {
    await sandbox.ready()
    const accounting = accountingClient({ baseUrl: urls.sandbox, apiKey: async () => SANDBOX_KEY })
    const { secret: webhookSecret } = await accounting.registerWebhook(urls.relay + WEBHOOK_PATH)
    // The relay opens its port only now, so that no webhook arrives before its secret is known.
    relay.send({ webhookSecret })
    return webhookSecret
  }
  try {
    const [webhookSecret] = await Promise.all([introduce(), ...parts.map(([, part]) => part.ready())])
    loading = false
    const broken = Promise.race(parts.map(async ([name, { ended }]) => `the ${name} ${await ended}`))
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
