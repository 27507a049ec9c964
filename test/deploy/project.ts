import { spawn } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ROOT } from './root.ts'

/** What a deployment is made from, and the command that serves it. */
const PARTS = [
  'serverless.yml',
  'stores.yml',
  'package.json',
  'cli',
  'deploy',
  'functions',
  'lib',
  'local',
  'sandbox',
]

/** Copies what a deployment is made from, so that changes to it touch nobody's work. */
export const copyProject = async (folder: string): Promise<void> => {
  await mkdir(folder)
  for (const part of PARTS) await cp(join(ROOT, part), join(folder, part), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir')
}

/**
 * Replaces a piece of a file in the copy.
 *
 * @throws when the piece is not there: the change would change nothing
 */
export const change = async (folder: string, file: string, from: string, to: string): Promise<void> => {
  const path = join(folder, file)
  const before = await readFile(path, 'utf8')
  if (!before.includes(from)) throw new Error(`Cannot change ${file}: ${JSON.stringify(from)} is not in it`)
  await writeFile(path, before.replace(from, to))
}

/** How a program ended: its code, what it answered, and that together with what else it said. */
export type Ran = { code: number | null; out: string; output: string }

/** Runs a program of the project to its end and answers with all it said. */
const run = async (
  script: string,
  args: readonly string[],
  { cwd, env, input }: { cwd: string; env: NodeJS.ProcessEnv; input?: string },
): Promise<Ran> => {
  const child = spawn(process.execPath, [script, ...args], { cwd, env, timeout: 5 * 60 * 1000 })
  child.stdin.end(input)
  const code = new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve)
    child.on('error', reject)
  })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, out, output: `${out}${err}` }
}

/** `npx serverless …` in the copy. */
export const serverless = (folder: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ran> =>
  run(join(ROOT, 'node_modules/serverless/bin/serverless.js'), args, { cwd: folder, env })

/** `node deploy/adopt-orders.ts …` in the copy. */
export const adoptOrders = (folder: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ran> =>
  run('deploy/adopt-orders.ts', args, { cwd: folder, env })

/** `npx relay …` in the copy, told a secret on its standard input where it asks for one. */
export const relay = (
  folder: string,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
  input?: string,
): Promise<Ran> => run('cli/main.ts', args, { cwd: folder, env, ...(input !== undefined && { input }) })

/** What a program answered. @throws with all that the program said, when it did not end well */
export const must = async (what: string, running: Promise<Ran>): Promise<string> => {
  const { code, out, output } = await running
  if (code !== 0)
    throw new Error(`${what}\n    expected: exit code 0\n    found:    exit code ${code}\n${output}`)
  return out
}
