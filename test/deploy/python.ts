import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../support/project.ts'

const run = promisify(execFile)
const INSTALL_MS = 10 * 60 * 1000

const isRecent = (command: string): Promise<boolean> =>
  run(command, ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).then(
    () => true,
    () => false,
  )

/**
 * A Python environment below `.venv/` with the packages of a requirements file, created at first use and after changes
 * of the file. Reports if Python 3.10 or later is missing.
 *
 * @param name of the environment; tools with conflicting requirements need separate ones
 * @param requirements path of the requirements file, relative to the project
 * @returns the path of a program by its name, or undefined without Python
 * @throws when the packages cannot be installed
 */
export const pythonTools = async (
  name: string,
  requirements: string,
): Promise<((program: string) => string) | undefined> => {
  const folder = join(ROOT, '.venv', name)
  const program = (tool: string) => join(folder, process.platform === 'win32' ? 'Scripts' : 'bin', tool)
  const wanted = await readFile(join(ROOT, requirements), 'utf8')
  const mark = join(folder, 'installed.txt')
  if ((await readFile(mark, 'utf8').catch(() => undefined)) === wanted) return program

  const python = (await isRecent('python3')) ? 'python3' : 'python'
  if (!(await isRecent(python))) {
    process.stdout.write('skipped: this test needs Python 3.10 or newer\n')
    return undefined
  }
  process.stdout.write(`installing ${wanted.trim().split('\n').join(', ')}\n`)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await run(python, ['-m', 'venv', folder])
  const install = ['-m', 'pip', 'install', '--quiet', '-r', join(ROOT, requirements)]
  // The error contains pip's output.
  await run(program('python'), install, { timeout: INSTALL_MS })
  await writeFile(mark, wanted)
  return program
}
