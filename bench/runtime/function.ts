import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import type { Bundle } from '../implementations.ts'
import { startRuntimeApi } from './api.ts'
import { MINIMAL_LOOP, runtimeClient } from './ric.ts'

/** Set by Lambda for Node 24. */
const FLAGS = ['--no-experimental-require-module', '--no-experimental-detect-module']

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
 * Starts a function as Lambda does: a process of its own with the runtime client, which asks for events.
 *
 * @param environment what serverless.yml sets
 * @param trace the header of the invocations' trace; without it none is sampled
 */
export const startFunction = async (
  { folder, handler }: Bundle,
  environment: Record<string, string>,
  trace?: string,
) => {
  const api = await startRuntimeApi(trace)
  const started = performance.now()
  const child = spawn(process.execPath, [...FLAGS, runtimeClient() ?? MINIMAL_LOOP, handler], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      AWS_LAMBDA_RUNTIME_API: api.address,
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
  exit.then(([code]) => api.fail(`the function ended with ${code}`))
  return {
    started,
    ready: api.ready,
    invoke: api.invoke,
    /** What the function has logged so far. */
    logged: () => ({ ...logged }),
    cpu: () => (child.pid === undefined ? undefined : cpuOf(child.pid)),
    stop: async () => {
      child.kill('SIGKILL')
      await exit
      api.close()
    },
  }
}

export type RunningFunction = Awaited<ReturnType<typeof startFunction>>
