import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { SSMClient } from '@aws-sdk/client-ssm'
import { readStores } from '../deploy/stores.ts'
import { type Child, startChild } from './child.ts'
import { CREDENTIALS } from './functions-environment.ts'
import { openLog } from './log-file.ts'
import { readable } from './log-lines.ts'
import { assertFree } from './ports.ts'
import { keepAccountingKey, keepStoreKeys, keepWebhookSecret, registerWebhook } from './registration.ts'
import { environmentOf, type Settings, urlOf } from './settings.ts'

const PROJECT = join(import.meta.dirname, '..')
const serverless = createRequire(import.meta.url).resolve('serverless/bin/serverless.js')

const SECRETS_PATH = '/order-relay/local'
const SANDBOX_KEY = 'sandbox-key'
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

const startParts = (options: StackOptions, log: (line: string) => void) => {
  const { ports, dataDir, print, verbose = false, speed = 1 } = options
  const printer = (prefix: string) => (line: string) => {
    log(line)
    const text = verbose ? line : readable(line)
    if (text !== undefined) print?.(`${prefix} | ${text}`)
  }
  const environment = {
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

/** Tells each side of the other, as one would in the panel and in the cloud console. */
const introduce = async (urls: Stack['urls']) => {
  // The region is part of the signature only, which nobody checks here.
  const ssm = new SSMClient({ region: 'eu-central-1', endpoint: urls.ssm, credentials: CREDENTIALS })
  try {
    await keepAccountingKey(ssm, SECRETS_PATH, SANDBOX_KEY)
    const stores = readStores(join(PROJECT, 'stores.yml'))
    await keepStoreKeys(
      ssm,
      SECRETS_PATH,
      stores.map(({ source }) => source),
    )
    const webhookSecret = await registerWebhook({
      accountingUrl: urls.sandbox,
      apiKey: SANDBOX_KEY,
      webhookUrl: `${urls.relay}/webhook`,
    })
    await keepWebhookSecret(ssm, SECRETS_PATH, webhookSecret)
    return webhookSecret
  } finally {
    ssm.destroy()
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
  const { sandbox, relay } = startParts(options, log.write)
  const stop = async () => {
    await Promise.all([sandbox.stop(), relay.stop()])
    await log.close()
  }
  signal?.addEventListener('abort', stop, { once: true })
  const brokenBy = async (name: string, { ended }: Child) => `the ${name} ${await ended}`
  try {
    await Promise.all([sandbox.reached('ready', START_MS), relay.reached('stores', START_MS)])
    // Before the functions serve, so that no webhook meets a relay that does not know its secret.
    const [webhookSecret] = await Promise.all([introduce(urls), relay.reached('functions', START_MS)])
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
