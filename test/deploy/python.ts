import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './project.ts'

const run = promisify(execFile)

/** The Python tools need 3.10. */
const MIN_MINOR = 10

const versionOf = async (command: string): Promise<readonly [number, number] | undefined> => {
  try {
    const { stdout } = await run(command, ['-c', 'import sys; print(*sys.version_info[:2])'])
    const [major = 0, minor = 0] = stdout.trim().split(' ').map(Number)
    return [major, minor]
  } catch {
    return undefined
  }
}

const findPython = async (): Promise<string | undefined> => {
  for (const command of ['python3', 'python']) {
    const version = await versionOf(command)
    if (version !== undefined && version[0] === 3 && version[1] >= MIN_MINOR) return command
  }
  return undefined
}

/**
 * A Python environment below `.venv/` with the packages of a requirements file, created at first use and again
 * when the file has changed.
 *
 * @param name of the environment: tools with conflicting requirements use one each
 * @param requirements path of the requirements file, relative to the project
 * @returns the path of a program by its name, or undefined without Python 3.10 or newer
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
  const installed = await readFile(mark, 'utf8').catch(() => undefined)
  if (installed === wanted) return program

  const python = await findPython()
  if (python === undefined) return undefined
  process.stdout.write(`installing ${wanted.trim().split('\n').join(', ')}\n`)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  try {
    await run(python, ['-m', 'venv', folder])
    await run(program('python'), ['-m', 'pip', 'install', '--quiet', '-r', join(ROOT, requirements)], {
      timeout: 10 * 60 * 1000,
    })
  } catch (error) {
    const why = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error)
    throw new Error(`Cannot install ${requirements} with ${python}: ${why}`, { cause: error })
  }
  await writeFile(mark, wanted)
  return program
}

/** The message when Python is missing. */
export const skipped = (what: string): string => `skipped: ${what} needs Python 3.${MIN_MINOR} or newer`
