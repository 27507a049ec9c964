// Runs a program of a folder with its own lock file, and installs it first if necessary:
//
//   node test/tool.ts <folder> [<program> [arguments]]
//
// Without a program, only installs. `npm ci` in the root omits these packages, since only maintainers need them.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const run = (program: string, args: readonly string[]) => {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit' })
  if (error !== undefined) throw error
  return status ?? 1
}

type Packages = Readonly<Record<string, { integrity?: string; optional?: boolean }>>

const packagesOf = (lock: string): Packages => JSON.parse(readFileSync(lock, 'utf8')).packages

/** Whether npm's record of what it has installed matches the lock file; optional packages depend on the platform. */
const isInstalled = (folder: string): boolean => {
  const record = join(folder, 'node_modules', '.package-lock.json')
  if (!existsSync(record)) return false
  const [installed, locked] = [packagesOf(record), packagesOf(join(folder, 'package-lock.json'))]
  return Object.entries(locked).every(
    ([path, { integrity, optional = false }]) =>
      path === '' || (optional && !(path in installed)) || installed[path]?.integrity === integrity,
  )
}

/** Installs the packages of a folder's lock file unless they are installed; returns npm's exit code. */
export const install = (folder: string): number =>
  isInstalled(folder) ? 0 : run('npm', ['ci', '--prefix', folder])

/** Runs the program in the current folder and returns its exit code. */
export const tool = (folder: string, program: string, args: readonly string[]): number =>
  install(folder) || run(join(folder, 'node_modules', '.bin', program), args)

if (import.meta.main) {
  const [folder = '', program, ...args] = process.argv.slice(2)
  process.exitCode = program === undefined ? install(folder) : tool(folder, program, args)
}
