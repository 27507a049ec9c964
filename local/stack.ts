import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import { openLog } from './log-file.ts'
import { readable } from './log-lines.ts'
import { assertFree } from './ports.ts'
import { environmentOf, type Settings, urlOf } from './settings.ts'

const PROJECT = join(import.meta.dirname, '..')
const COMPILE_CACHE = join(PROJECT, 'node_modules/.cache/order-relay')
const serverless = createRequire(import.meta.url).resolve('serverless/bin/serverless.js')

const START_MS = 60_000

export type StackOptions = Settings & {
  /** Told of each line that the stack's parts print. @default nobody */
  print?: (line: string) => void
  /** Whether `print` hears of everything, as it was printed. @default false: what people want to know */
  verbose?: boolean
  /** Ends the start when it is aborted; nothing is left running then. */
  signal?: AbortSignal
  /** How many times faster than real time the sandbox retries its webhooks. @default 1 */
  speed?: number
}

export type Stack = {
  urls: Readonly<Record<'relay' | 'sandbox' | 'dynamodb' | 'sqs' | 'ssm', string>>
  /** The secret with which the sandbox signs its webhooks to the relay. */
  webhookSecret: string
  /** Resolves when a part has ended that was not asked to, with which and how. */
  broken: Promise<string>
  stop: () => Promise<void>
}

const startParts = (options: StackOptions, log: (line: string) => void, isWarming: () => boolean) => {
  const { ports, dataDir, print, verbose = false, speed = 1 } = options
  const printer = (prefix: string) => (line: string) => {
    log(line)
    const text = verbose ? line : readable(line, isWarming())
    if (text !== undefined) print?.(`${prefix} | ${text}`)
  }
  const environment = {
    // Compiled code of the packages, kept from start to start: a quarter of the work of a start.
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...process.env,
    ...environmentOf(options),
    ...(!verbose && { SLS_LOG_LEVEL: 'warning' }),
  }
  const start = (name: string, prefix: string, args: readonly string[], line?: RegExp) =>
    startChild({
      name,
      args,
      cwd: PROJECT,
      environment,
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
  }
}

/**
 * Starts the sandbox and the relay, makes them known to each other, and resolves when both answer.
 *
 * @throws Error when a port is taken, a part does not start, or `signal` is aborted; nothing is left
 *   running then
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const { ports, dataDir, signal } = options
  await assertFree(ports)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  signal?.throwIfAborted()
  const urls = {
    relay: urlOf(ports.relay),
    sandbox: urlOf(ports.sandbox),
    dynamodb: urlOf(ports.dynamodb),
    sqs: urlOf(ports.sqs),
    ssm: urlOf(ports.ssm),
  }
  const log = openLog(dataDir)
  let warming = true
  const { sandbox, relay } = startParts(options, log.write, () => warming)
  const stop = async () => {
    await Promise.all([sandbox.stop(), relay.stop()])
    await log.close()
  }
  signal?.addEventListener('abort', stop, { once: true })
  const brokenBy = async (name: string, { ended }: Child) => `the ${name} ${await ended}`
  try {
    // Only now: what it imports takes a while to load, and the parts start meanwhile.
    const { introduce } = await import('./introduce.ts')
    await Promise.all([sandbox.reached('ready', START_MS), relay.reached('stores', START_MS)])
    // Before the functions serve, so that no webhook meets a relay that does not know its secret.
    const [webhookSecret] = await Promise.all([introduce(urls), relay.reached('functions', START_MS)])
    warming = false
    const broken = Promise.race([brokenBy('sandbox', sandbox), brokenBy('relay', relay)])
    signal?.throwIfAborted()
    return { urls, webhookSecret, broken, stop }
  } catch (error) {
    await stop()
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}
