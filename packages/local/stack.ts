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
  /** Called with the console's next address when one was used: each opens one session. @default no call */
  onNextConsoleUrl?: (url: string) => void
}

export type Stack = {
  urls: Readonly<Record<PortName, string>>
  /** The secret with which the sandbox signs its webhooks to the relay. */
  webhookSecret: string
  /** The address that opens the next session of the console, if it was started. */
  consoleUrl: () => string | undefined
  /** Resolves when a component has exited unexpectedly, with its name and the reason. */
  broken: Promise<string>
  stop: () => Promise<void>
}

const startParts = (
  options: StackOptions,
  log: (line: string) => void,
  isLoading: () => boolean,
  onConsoleUrl: (url: string) => void,
) => {
  const { ports, dataDir, print, verbose = false, speed = 1, withConsole = false } = options
  const environment = {
    // Caching compiled code between starts saves a quarter of the start time.
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...process.env,
    ...environmentOf(options),
    ...(!verbose && { SLS_LOG_LEVEL: 'warning' }),
  }
  const start = (name: string, args: readonly string[], readyLine?: RegExp) =>
    startChild({
      ...{ name, args, cwd: PROJECT, environment, readyLine },
      onLine: line => {
        // The log must not open a session.
        const [url] = (name === 'console' && /http:\S+\?token=\S+/.exec(line)) || []
        if (url !== undefined) return onConsoleUrl(url)
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
    ...(withConsole && { console: start('console', operators, /^Console of /) }),
  }
}

/**
 * Starts the sandbox and the relay, registers the relay's webhook, and resolves when both serve requests.
 *
 * @throws Error when stores.yml cannot be read, a port is taken, a component does not start, or `signal` is aborted; nothing is left running
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const { ports, dataDir, signal, withConsole = false, onNextConsoleUrl } = options
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
  let consoleUrl: string | undefined
  const onConsoleUrl = (url: string) => {
    if (consoleUrl !== undefined) onNextConsoleUrl?.(url)
    consoleUrl = url
  }
  const started = startParts(options, log.write, () => loading, onConsoleUrl)
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
    return { urls, webhookSecret, consoleUrl: () => consoleUrl, broken, stop }
  } catch (error) {
    await stop()
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}
