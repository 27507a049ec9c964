import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const CLIENT = join(import.meta.dirname, 'node_modules/aws-lambda-ric')

/** AWS's runtime interface client, with which Lambda runs functions; undefined when it is not installed. */
export const runtimeClient = (): string | undefined =>
  existsSync(join(CLIENT, 'rapid-client.node')) ? join(CLIENT, 'index.mjs') : undefined

/** Takes its place: see there. */
export const MINIMAL_LOOP = join(import.meta.dirname, 'minimal-loop.mjs')

/**
 * Installs the runtime interface client, which compiles libcurl and a native addon for minutes.
 *
 * @throws when cmake, g++ or make is missing
 */
export const installRuntimeClient = async (): Promise<void> => {
  const run = promisify(execFile)
  for (const tool of ['cmake', 'g++', 'make']) {
    await run(tool, ['--version']).catch(cause => {
      throw new Error(`Cannot install aws-lambda-ric: ${tool} does not run; install ${tool}`, { cause })
    })
  }
  await run('npm', ['ci', '--foreground-scripts'], { cwd: import.meta.dirname })
}
