import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from '../../../test/support/server.ts'
import type { Bundle } from '../implementations.ts'

/** AWS's runtime interface client, with which Lambda runs functions; undefined when it is not installed. */
export const runtimeClient = (): string | undefined => {
  const client = join(import.meta.dirname, 'node_modules/aws-lambda-ric')
  return existsSync(join(client, 'rapid-client.node')) ? join(client, 'index.mjs') : undefined
}

/** The replacement for machines without the runtime client. */
const MINIMAL_LOOP = join(import.meta.dirname, 'minimal-loop.mjs')

/** Set by Lambda for Node 24. */
const FLAGS = ['--no-experimental-require-module', '--no-experimental-detect-module']

/** A trace that Lambda does not sample. */
const UNSAMPLED = 'Root=1-00000000-000000000000000000000000;Parent=0000000000000000;Sampled=0'

type Answered = {
  /** The result of the function, as JSON text. */
  body: string
  /** When the event was passed and when the result arrived, in milliseconds of `performance.now()`. */
  from: number
  to: number
}

/** CPU time of all threads of a process so far, in milliseconds; undefined where there is no /proc. */
const cpuOf = (pid: number): number | undefined => {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce(
      (sum, task) =>
        sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
      0,
    )
  } catch {
    return undefined
  }
}

/**
 * Starts a function as Lambda does: a separate process with the runtime client, which polls Lambda's Runtime API
 * (2018-06-01) on the loopback address for one event at a time.
 *
 * @param environment what serverless.yml sets
 * @param trace the header of the invocations' trace; by default none is sampled
 */
export const startFunction = async (
  { folder, handler }: Bundle,
  environment: Record<string, string>,
  trace = UNSAMPLED,
) => {
  const ready = Promise.withResolvers<number>()
  let event = Promise.withResolvers<string>()
  let answered = Promise.withResolvers<Answered>()
  let from = 0
  const fail = (reason: string) => {
    for (const { promise, reject } of [ready, answered]) {
      // A failed start rejects the invocation, so the start need not be awaited.
      promise.catch(() => undefined)
      reject(new Error(`Cannot measure: ${reason}`))
    }
  }
  const api = await startServer(async ({ url = '' }, sent) => {
    const to = performance.now()
    if (url.endsWith('/invocation/next')) {
      ready.resolve(to)
      const body = await event.promise
      event = Promise.withResolvers()
      from = performance.now()
      const headers = {
        'content-type': 'application/json',
        'lambda-runtime-aws-request-id': randomUUID(),
        'lambda-runtime-deadline-ms': String(Date.now() + 30_000),
        'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-central-1:000000000000:function:bench',
        'lambda-runtime-trace-id': trace,
      }
      return { status: 200, headers, body }
    }
    if (url.endsWith('/response')) answered.resolve({ body: sent.toString(), from, to })
    else fail(`the function failed: ${sent}`)
    return { status: 202 }
  })

  const started = performance.now()
  const child = spawn(process.execPath, [...FLAGS, runtimeClient() ?? MINIMAL_LOOP, handler], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${api.port}`,
      _HANDLER: handler,
      LAMBDA_TASK_ROOT: folder,
      AWS_LAMBDA_FUNCTION_NAME: 'bench',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
      AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/bench',
      AWS_LAMBDA_LOG_STREAM_NAME: 'bench',
      ...environment,
    },
  })
  const logged = { bytes: 0, lines: 0 }
  child.stdout.on('data', (chunk: Buffer) => {
    logged.bytes += chunk.length
    logged.lines += chunk.toString('latin1').split('\n').length - 1
  })
  const exit = once(child, 'exit')
  exit.then(([code]) => fail(`the function ended with ${code}`))
  return {
    started,
    /** When the function first asked for an event. */
    ready: ready.promise,
    /**
     * Hands an event over as soon as the function asks for one.
     *
     * @throws when the function fails, or its result does not contain the expected text
     */
    async invoke(content: unknown, expected = ''): Promise<Answered> {
      answered = Promise.withResolvers()
      event.resolve(JSON.stringify(content))
      const result = await answered.promise
      if (!result.body.includes(expected)) throw new Error(`Cannot measure: the response was ${result.body}`)
      return result
    },
    /** The function's log so far. */
    logged: () => ({ ...logged }),
    cpu: () => (child.pid === undefined ? undefined : cpuOf(child.pid)),
    stop: async () => {
      child.kill('SIGKILL')
      await exit
      await api.close()
    },
  }
}

export type RunningFunction = Awaited<ReturnType<typeof startFunction>>
