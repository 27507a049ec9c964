import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The project's own directory. */
export const ROOT = join(import.meta.dirname, '../..')

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
