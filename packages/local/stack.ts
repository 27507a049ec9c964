import { createRequire } from 'node:module'
import { join } from 'node:path'
import { readStores } from '@order-relay/deploy/stores.ts'
import { accountingClient } from '@order-relay/lib/accounting/client.ts'
import { WEBHOOK_PATH } from '@order-relay/lib/platform/names.ts'
import { visible } from '@order-relay/lib/platform/visible.ts'
import { type Child, startChild } from './child.ts'
import { openDataDir } from './data-dir.ts'
import { removedQueues } from './kept-stores.ts'
import { openLog, readable } from './log.ts'
import { assertFree } from './ports.ts'
import {
  eachPort,
  environmentOf,
  PORT_NAMES,
  type PortName,
  SANDBOX_KEY,
  type Settings,
  STORES_CHANGED,
  urlOf,
} from './settings.ts'

const PROJECT = join(import.meta.dirname, '../..')
const STORES = join(PROJECT, 'stores.yml')
const COMPILE_CACHE = join(PROJECT, 'node_modules/.cache/order-relay')
const serverless = createRequire(import.meta.url).resolve('serverless/bin/serverless.js')

export type StackOptions = Settings & {
  /** Called with each line of output of the components. @default no output */
  print?: (line: string) => void
  /** Whether `print` receives the raw output. @default false: only lines for people */
  verbose?: boolean
  /** Called with the names of the pending components, at the start and whenever one is ready. @default no call */
  onProgress?: (waiting: readonly string[]) => void
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
  onStoresChanged: () => void,
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
      name,
      args,
      cwd: PROJECT,
      environment,
      readyLine,
      onMessage: message => message === STORES_CHANGED && onStoresChanged(),
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
    join(PROJECT, 'packages/sandbox/src/main.ts'),
    '--port',
    String(ports.sandbox),
    '--data',
    join(dataDir, 'sandbox.db'),
    '--speed',
    String(speed),
  ]
  const operators = [join(PROJECT, 'packages/operator/main.ts'), 'console', '--local']
  const startRelay = () => start('relay', [serverless, 'offline'])
  const parts = {
    sandbox: start('sandbox', sandbox, /^sandbox ready at /),
    relay: startRelay(),
    ...(withConsole && { console: start('console', operators, /^Console of /) }),
  }
  return { parts, startRelay }
}

/**
 * Starts the sandbox and the relay, registers the relay's webhook, and resolves when both serve requests.
 *
 * @throws Error when stores.yml cannot be read, a port is taken, a component does not start, or `signal` is aborted; nothing is left running
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const { ports, dataDir, signal, withConsole = false, onNextConsoleUrl, onProgress, print } = options
  readStores(STORES)
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
  const broken = Promise.withResolvers<string>()
  let [isRestarting, isStopping] = [false, false]
  /** Restarts the relay: queues, keys and event sources depend on the stores as well, not only the functions. */
  const onStoresChanged = async () => {
    if (isRestarting || isStopping) return
    isRestarting = loading = true
    const say = (text: string) => print?.(`relay   | stores.yml has changed: ${text}`)
    say('restarting the relay')
    const left = new Set(removedQueues(dataDir).map(({ queue }) => queue))
    await parts.relay.stop()
    if (isStopping) return
    parts.relay = startRelay()
    // The secret of the start may have been replaced since.
    parts.relay.send({})
    await parts.relay.ready().then(
      () => {
        say(
          `the relay serves the stores ${readStores(STORES)
            .map(({ source }) => source)
            .join(', ')}`,
        )
        for (const { source, queue } of removedQueues(dataDir))
          if (!left.has(queue))
            say(
              `the queue ${queue} of the store ${source} keeps its messages, if any, until the store is restored: ` +
                'npx relay doctor --local shows how many there are',
            )
      },
      ({ message }) => broken.resolve(message),
    )
    watch('relay', parts.relay)
    isRestarting = loading = false
  }
  let webhookSecret = ''
  const { parts, startRelay } = startParts(options, log.write, () => loading, onConsoleUrl, onStoresChanged)
  const all = () => Object.entries<Child>(parts)
  const watch = async (name: string, { ended }: Child) => {
    const reason = await ended
    if (name !== 'relay' || !isRestarting) broken.resolve(`the ${name} ${reason}`)
  }
  const stop = async () => {
    isStopping = true
    await Promise.all(all().map(([, part]) => part.stop()))
    await log.close()
  }
  signal?.addEventListener('abort', stop, { once: true })
  const introduce = async () => {
    await parts.sandbox.ready()
    const accounting = accountingClient({ baseUrl: urls.sandbox, apiKey: async () => SANDBOX_KEY })
    const { secret } = await accounting.registerWebhook(urls.relay + WEBHOOK_PATH)
    webhookSecret = secret
    // The relay opens its port only now, so that no webhook arrives before its secret is known.
    parts.relay.send({ webhookSecret })
  }
  try {
    const waiting = new Set(Object.keys(parts))
    const progress = () => onProgress?.([...waiting])
    progress()
    const ready = all().map(async ([name, part]) => {
      await part.ready()
      waiting.delete(name)
      progress()
    })
    await Promise.all([introduce(), ...ready])
    loading = false
    for (const [name, part] of all()) watch(name, part)
    signal?.throwIfAborted()
    return { urls, webhookSecret, consoleUrl: () => consoleUrl, broken: broken.promise, stop }
  } catch (error) {
    await stop()
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}
