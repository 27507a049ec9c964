import { spawn } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

/** The project's own directory. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What a deployment and the `relay` command consist of. */
const PARTS = [
  'serverless.yml',
  'stores.yml',
  'package.json',
  'bin',
  'cli',
  'console',
  'kit',
  'deploy',
  'examples',
  'functions',
  'lib',
  'local',
  'sandbox',
  'web',
]

/** Copies the project, so that the test can change it. */
export const copyProject = async (folder: string): Promise<void> => {
  await mkdir(folder)
  for (const part of PARTS) await cp(join(ROOT, part), join(folder, part), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir')
}

/**
 * Replaces text in a file of the copy.
 *
 * @throws when the file does not contain the text
 */
export const change = async (folder: string, file: string, from: string, to: string): Promise<void> => {
  const path = join(folder, file)
  const before = await readFile(path, 'utf8')
  if (!before.includes(from)) throw new Error(`Cannot change ${file}: ${JSON.stringify(from)} is not in it`)
  await writeFile(path, before.replace(from, to))
}

/** How a program ended; `out` is its standard output, `output` that and the errors. */
export type Ran = { code: number | null; out: string; output: string }

/** Runs a program of the project to its end. */
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

/** Runs `npx serverless …` in the copy. */
export const serverless = (folder: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ran> =>
  run(join(ROOT, 'node_modules/serverless/bin/serverless.js'), args, { cwd: folder, env })

/** Runs `node deploy/adopt-orders.ts …` in the copy. */
export const adoptOrders = (folder: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ran> =>
  run('deploy/adopt-orders.ts', args, { cwd: folder, env })

/** Runs `npx relay …` in the copy; `input` is its standard input. */
export const relay = (
  folder: string,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
  input?: string,
): Promise<Ran> => run('bin/main.ts', args, { cwd: folder, env, ...(input !== undefined && { input }) })

/** A program's standard output. @throws with all of its output when its exit code is not 0 */
export const must = async (what: string, running: Promise<Ran>): Promise<string> => {
  const { code, out, output } = await running
  if (code !== 0)
    throw new Error(`${what}\n    expected: exit code 0\n    found:    exit code ${code}\n${output}`)
  return out
}
