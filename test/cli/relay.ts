import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { SSMClient } from '@aws-sdk/client-ssm'
import { afterAll, beforeAll } from '@jest/globals'
import { runRelay } from '../../cli/program.ts'
import { freePorts } from '../../local/ports.ts'
import { ACCOUNT_ID, CREDENTIALS, environmentOf, REGION } from '../../local/settings.ts'
import { recordingCalls } from './calls.ts'

export const ROOT = join(import.meta.dirname, '../..')
export const MAIN = join(ROOT, 'cli/main.ts')

export type RunOptions = { input?: string; environment?: Record<string, string> }

const collector = () => {
  const chunks: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk))
      done()
    },
  })
  return { stream, text: () => chunks.join('') }
}

/** Runs the command in this process. */
export const relay = async (args: readonly string[], { input = '', environment = {} }: RunOptions = {}) => {
  const [out, err] = [collector(), collector()]
  const stdin = Readable.from([input])
  const terminal = { stdin, stdout: out.stream, stderr: err.stream, environment }
  const code = await recordingCalls(() => program.runRelay(args, terminal))
  return { code, out: out.text(), err: err.text() }
}

/** Runs the command in a process of its own, without the developer's AWS account. */
export const relayProcess = async (args: readonly string[], environment: Record<string, string> = {}) => {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_'))
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...Object.fromEntries(inherited), AWS_EC2_METADATA_DISABLED: 'true', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}

/** The command of the stack's project. */
let program: Pick<typeof import('../../cli/program.ts'), 'runRelay'> = { runRelay }

const start = async (project: string) => {
  program = await import(join(project, 'cli/program.ts'))
  const { startStack }: typeof import('../../local/stack.ts') = await import(join(project, 'local/stack.ts'))
  const dataDir = await mkdtemp(join(tmpdir(), 'order-relay-cli-'))
  const settings = { ports: await freePorts(), dataDir, watch: false }
  const stack = await startStack({ ...settings, speed: 10 })
  const { urls } = stack
  const client = { region: REGION, credentials: CREDENTIALS }
  const sqs = new SQSClient({ ...client, endpoint: urls.sqs })
  const dynamodb = new DynamoDBClient({ ...client, endpoint: urls.dynamodb })
  const ssm = new SSMClient({ ...client, endpoint: urls.ssm })
  return {
    ...stack,
    sqs,
    dynamodb,
    ssm,
    dataDir,
    ports: settings.ports,
    environment: environmentOf(settings),
    close: async () => {
      for (const each of [sqs, dynamodb, ssm]) each.destroy()
      await stack.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

let running: Awaited<ReturnType<typeof start>>

/**
 * Starts a local stack on free ports before the tests of a file, and stops it after them.
 *
 * @param project prepares the copy of the project to use. @default this one
 */
export const useLocalStack = (project: () => Promise<string> = async () => ROOT): void => {
  beforeAll(async () => {
    running = await start(await project())
  })
  afterAll(() => running?.close())
}

const run = (args: readonly string[], { environment, ...options }: RunOptions = {}) =>
  relay([...args, '--local'], { ...options, environment: { ...running.environment, ...environment } })

/** The local stack of this file. */
export const local = {
  stack: () => running,
  queue: (name: string) => `${running.urls.sqs}/${ACCOUNT_ID}/${name}`,
  relay: run,
  /** The document that the command prints with `--json`, whatever its exit code. */
  json: async (args: readonly string[], options?: RunOptions) => {
    const { code, out, err } = await run([...args, '--json'], options)
    if (out === '') throw new Error(`relay ${args.join(' ')} printed nothing: ${err}`)
    return { code, data: JSON.parse(out) }
  },

  /** Calls the sandbox as its accountant or as a store. */
  sandbox: async (method: string, path: string, body?: unknown) => {
    const response = await fetch(running.urls.sandbox + path, {
      method,
      headers: { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: JSON.parse((await response.text()) || 'null') }
  },
}
