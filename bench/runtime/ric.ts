import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const FOLDER = join(import.meta.dirname, '../.ric')
const CLIENT = join(FOLDER, 'node_modules/aws-lambda-ric')

/** The program with which Lambda runs functions, or undefined when it is not installed. */
export const runtimeClient = (): string | undefined =>
  existsSync(join(CLIENT, 'rapid-client.node')) ? join(CLIENT, 'index.mjs') : undefined

/** What stands in for it: see there. */
export const MINIMAL_LOOP = join(import.meta.dirname, 'minimal-loop.mjs')

/**
 * Installs AWS's runtime interface client into a folder that git ignores. Its installation compiles libcurl
 * and a native addon, which takes minutes, so it is no dependency of the project.
 *
 * @throws when cmake, a C++ compiler or make is missing
 */
export const installRuntimeClient = async (): Promise<void> => {
  const run = promisify(execFile)
  for (const tool of ['cmake', 'g++', 'make']) {
    await run(tool, ['--version']).catch(cause => {
      throw new Error(`Cannot install aws-lambda-ric: there is no ${tool}; install it and try again`, {
        cause,
      })
    })
  }
  await mkdir(FOLDER, { recursive: true })
  await writeFile(join(FOLDER, 'package.json'), JSON.stringify({ private: true, dependencies: {} }))
  await run('npm', ['install', 'aws-lambda-ric@4', '--foreground-scripts'], { cwd: FOLDER })
}
