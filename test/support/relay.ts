import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeAll } from '@jest/globals'
import {
  credentialsIn,
  keptCredentials,
  queueEnvironment,
  saveEnvironment,
} from '@order-relay/local/credentials.ts'
import { freePorts } from '@order-relay/local/ports.ts'
import { ACCOUNT_ID, environmentOf, type Ports } from '@order-relay/local/settings.ts'
import { type Context, createContext } from '@order-relay/operator/core/context.ts'
import { runRelay } from '@order-relay/operator/program.ts'
import { messageGroupOf } from '../../lib/platform/fifo.ts'
import { parametersBelow } from '../../lib/platform/parameters.ts'
import { recordingCalls } from './calls.ts'
import { fetchJson } from './fetch-json.ts'
import { useFolder } from './folder.ts'
import { clientsAt } from './parts.ts'
import { endPrograms, startProgram } from './program.ts'
import { ROOT } from './project.ts'
import { startStack as startResources } from './stack.ts'

export type RunOptions = {
  input?: string
  environment?: Record<string, string>
  /** Whether standard error is a terminal, which shows progress. @default false */
  isTerminal?: boolean
}

/** The command of the local stack's project. */
let program: Pick<typeof import('@order-relay/operator/program.ts'), 'runRelay'> = { runRelay }

/** Runs the command in this process. */
export const relay = async (
  args: readonly string[],
  { input = '', environment = {}, isTerminal = false }: RunOptions = {},
) => {
  const [stdin, stdout] = [Readable.from([input]), new PassThrough()]
  const stderr = Object.assign(new PassThrough(), { isTTY: isTerminal })
  const printed = Promise.all([text(stdout), text(stderr)])
  const code = await recordingCalls(args, () =>
    program.runRelay(args, { stdin, stdout, stderr, environment }),
  )
  stdout.end()
  stderr.end()
  const [out, err] = await printed
  return { code, out, err }
}

/** Starts the command in a separate process, without the developer's AWS account. */
export const startRelay = (
  args: readonly string[],
  environment: Record<string, string> = {},
  /** The launcher for other versions of Node. @default none: it runs on this one */
  launcher?: string,
) => {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_'))
  const env = { ...Object.fromEntries(inherited), AWS_EC2_METADATA_DISABLED: 'true', ...environment }
  const options = { cwd: tmpdir(), env }
  return launcher === undefined
    ? startProgram([join(ROOT, 'packages/operator/main.ts'), ...args], options)
    : startProgram(args, { ...options, program: launcher })
}

const start = async (project: string, dataDir: string) => {
  program = await import(join(project, 'packages/operator/program.ts'))
  const { startStack }: typeof import('@order-relay/local/stack.ts') = await import(
    join(project, 'packages/local/stack.ts')
  )
  const settings = { ports: await freePorts(), dataDir, watch: false }
  const printed: string[] = []
  // Five deliveries within 16 seconds, for a busy machine.
  const starting = new AbortController()
  const options = { speed: 50, signal: starting.signal, print: (line: string) => printed.push(line) }
  const stack = await startStack({ ...settings, ...options })
  // Aborts only the start.
  starting.abort()
  const { destroy, ...clients } = clientsAt(settings.ports, { credentials: credentialsIn(dataDir) })
  return {
    ...stack,
    ...settings,
    ...clients,
    printed,
    environment: environmentOf(settings),
    close: async () => {
      destroy()
      await stack.stop()
    },
  }
}

let running: Awaited<ReturnType<typeof start>>
let restart: () => Promise<void>

/**
 * Starts a local stack on free ports before the tests of a file, and stops it after them.
 *
 * @param prepare creates data of an earlier version
 * @param project creates the copy of the project to start. @default this one
 */
export const useLocalStack = ({
  prepare,
  project = async () => ROOT,
}: {
  prepare?: (dataDir: string) => Promise<void>
  project?: () => Promise<string>
}): void => {
  const dataDir = useFolder(() => running?.close())
  // Programs left by a failed test would disturb the next ones.
  afterEach(endPrograms)
  beforeAll(async () => {
    await prepare?.(dataDir())
    const folder = await project()
    running = await start(folder, dataDir())
    restart = async () => {
      await running.close()
      running = await start(folder, dataDir())
    }
  })
}

/** Writes credentials to a data directory, as a stack on these ports does. */
export const writeCredentials = async (dataDir: string, ports: Ports) =>
  saveEnvironment(dataDir, queueEnvironment(ports, await keptCredentials(dataDir)))

/** Runs the command against the local stack with this environment. */
export const relayOf = (environmentOf: () => Record<string, string>) => {
  const run = (args: readonly string[], { environment, ...options }: RunOptions = {}) =>
    relay([...args, '--local'], { ...options, environment: { ...environmentOf(), ...environment } })
  return {
    relay: run,
    /** The JSON that the command prints with `--json`, for any exit code. */
    json: async (args: readonly string[], options?: RunOptions) => {
      const { code, out, err } = await run([...args, '--json'], options)
      if (out === '') throw new Error(`relay ${args.join(' ')} printed nothing: ${err}`)
      return { code, data: JSON.parse(out) }
    },
  }
}

/** The resources of a stack for the tests of a file, and the command run against them in this process. */
export const relayForTests = async () => {
  const stack = await startResources()
  const contexts: Context[] = []
  const dataDir = useFolder(() => {
    for (const context of contexts) context.close()
    return stack.close()
  })
  beforeAll(() => writeCredentials(dataDir(), stack.ports))
  const environment = () => environmentOf({ ports: stack.ports, dataDir: dataDir(), watch: false })
  return {
    stack,
    dataDir,
    ...relayOf(environment),
    /** The context of one run of the command, without a terminal. */
    newContext: (): Context => {
      const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
      const terminal = { stdin, stdout, stderr, environment: environment() }
      const context = createContext({ local: true }, terminal)
      contexts.push(context)
      return context
    },
  }
}

/** A busy machine may need longer than stores wait by default. */
const call = (url: string, key: string, method: string, body?: unknown, prefer = 'wait=10') =>
  fetchJson(url, { method, body, key, headers: { prefer } })

export const ITEMS = [{ sku: 'SKU-1', quantity: 0.01, unit_price: 1000 }]

/** The local stack of this file. */
export const local = {
  ...relayOf(() => running.environment),
  stack: () => running,
  /** Stops the stack and starts it again with the same data. */
  restart: () => restart(),
  queue: (name: string) => `${running.urls.sqs}/${ACCOUNT_ID}/${name}`,
  /** Empties queues, including in-flight messages. */
  empty: async (...queues: string[]) => {
    for (const queue of queues) await running.sqs.purgeQueue({ QueueUrl: local.queue(queue) })
  },

  /** Calls the sandbox as an accountant or a store. */
  sandbox: (method: string, path: string, body?: unknown) =>
    call(running.urls.sandbox + path, 'sandbox-key', method, body),

  /** Calls the stores' API as the store "api". */
  store: (method: string, path: string, body?: unknown, prefer?: string) =>
    call(`${running.urls.relay}/api/v1/orders/${path}`, 'local-api', method, body, prefer),

  /** Creates an order and returns its status. */
  create: async (external_id: string, more: object = {}, at: 'sandbox' | 'relay' = 'sandbox') => {
    const url = `${running.urls[at]}/api/v1/orders/`
    const order = { external_id, items: ITEMS, ...more }
    const { status, body } = await call(url, at === 'sandbox' ? 'sandbox-key' : 'local-api', 'POST', order)
    if (status !== 201) throw new Error(`Cannot create the order: ${status} ${JSON.stringify(body)}`)
    return body.status
  },

  /** An order at the service, with the document numbers shown in the panel. */
  order: async (external_id: string) =>
    (await local.sandbox('GET', `/panel/orders/${external_id}?source=api`)).body,

  /** Adds a message about an order to a queue and returns its delivery id. */
  enqueue: async (
    queue: string,
    event: string,
    data: { source?: string; external_id: string; [name: string]: unknown },
    delivery: string = randomUUID(),
  ) => {
    const order = { source: 'api', ...data }
    await running.sqs.sendMessage({
      QueueUrl: local.queue(queue),
      MessageGroupId: messageGroupOf(order),
      MessageDeduplicationId: delivery,
      MessageBody: JSON.stringify({ event, delivery, data: order }),
    })
    return delivery
  },

  /** The webhook secret that the stack accepts. */
  webhookSecret: async () => {
    const [secret = ''] = Object.values(
      await parametersBelow(running.ssm, '/order-relay/local/webhook/secrets')(),
    )
    return secret
  },

  /** Adds a body to the quarantine. */
  quarantine: (from: 'webhook' | 'worker', body: string) =>
    running.sqs.sendMessage({
      QueueUrl: local.queue('quarantine'),
      MessageBody: JSON.stringify({
        from,
        reason: 'an older version could not read it',
        received_at: new Date().toISOString(),
        body_base64: Buffer.from(body).toString('base64'),
      }),
    }),
}
