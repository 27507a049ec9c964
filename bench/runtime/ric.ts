import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const FOLDER = join(import.meta.dirname, '../.ric')
const CLIENT = join(FOLDER, 'node_modules/aws-lambda-ric')

/** AWS's runtime interface client, with which Lambda runs functions; undefined when it is not installed. */
export const runtimeClient = (): string | undefined =>
  existsSync(join(CLIENT, 'rapid-client.node')) ? join(CLIENT, 'index.mjs') : undefined

/** Takes its place: see there. */
export const MINIMAL_LOOP = join(import.meta.dirname, 'minimal-loop.mjs')

/**
 * Installs the runtime interface client into a folder that git ignores. The installation compiles libcurl and a
 * native addon, which takes minutes.
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
  await mkdir(FOLDER, { recursive: true })
  await writeFile(join(FOLDER, 'package.json'), JSON.stringify({ private: true }))
  await run('npm', ['install', '--save-exact', 'aws-lambda-ric@4.0.2'], { cwd: FOLDER })
}
