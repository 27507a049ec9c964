// Runs a program of a folder with its own lock file, and installs it first if necessary:
//
//   node test/tool.ts <folder> [<program> [arguments]]
//
// Without a program, only installs. `npm ci` in the root omits these packages, since only maintainers need them.

import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'

const run = (program: string, args: readonly string[]) => {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit' })
  if (error !== undefined) throw error
  return status ?? 1
}

/** Installs the packages of a folder's lock file unless they are installed; returns npm's exit code. */
export const install = (folder: string): number => {
  const installed = join(folder, 'node_modules', '.package-lock.json')
  const lock = join(folder, 'package-lock.json')
  const isThere = existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs
  return isThere ? 0 : run('npm', ['ci', '--prefix', folder])
}

/** Runs the program in the current folder and returns its exit code. */
export const tool = (folder: string, program: string, args: readonly string[]): number =>
  install(folder) || run(join(folder, 'node_modules', '.bin', program), args)

if (import.meta.main) {
  const [folder = '', program, ...args] = process.argv.slice(2)
  process.exitCode = program === undefined ? install(folder) : tool(folder, program, args)
}
