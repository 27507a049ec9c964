import { execFile } from 'node:child_process'
import { appendFile, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The project's own directory. */
export const ROOT = join(import.meta.dirname, '../..')

/** The files of a deployment and of the `relay` command. */
const PARTS = [
  'serverless.yml',
  'stores.yml',
  'package.json',
  'deploy',
  'examples',
  'functions',
  'lib',
  'packages',
  'connectors',
]

/** Links the installed packages into a copy of the project, with the copy's own workspaces. */
export const linkModules = async (folder: string): Promise<void> => {
  const [from, to] = [join(ROOT, 'node_modules'), join(folder, 'node_modules')]
  await mkdir(to)
  for (const name of await readdir(from)) {
    if (/^@?order-relay/.test(name))
      await cp(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true })
    else await symlink(join(from, name), join(to, name))
  }
}

/** Copies the project so that a test can change it. */
export const copyProject = async (folder: string): Promise<void> => {
  await mkdir(folder)
  for (const part of PARTS) await cp(join(ROOT, part), join(folder, part), { recursive: true })
  await linkModules(folder)
}

/** A store whose source cannot be part of a queue's name. */
export const PERSIAN = 'فروشگاه شمالی'

/** A store with `feed: http`, which registers its URL. */
export const SELF = 'self-shop'

/** Copies the project and adds these two stores. */
export const projectWithPersianStore = async (folder: string): Promise<string> => {
  await copyProject(folder)
  const store = `{ source: ${PERSIAN}, feed: sqs, dead_letter_after: 2, consumers: ["111122223333"] }`
  await appendFile(join(folder, 'stores.yml'), `  - ${store}\n  - { source: ${SELF}, feed: http }\n`)
  return folder
}

/** Builds a published package, packs it, and returns the path of its tarball. */
export const pack = async (name: 'store' | 'sandbox', destination: string): Promise<string> => {
  const folder = join(ROOT, 'packages', name)
  await run(process.execPath, ['../build.ts', '.'], { cwd: folder })
  const packing = ['pack', '--json', '--pack-destination', destination]
  const { stdout } = await run('npm', packing, { cwd: join(folder, 'dist') })
  const [{ filename = '' } = {}]: { filename?: string }[] = JSON.parse(stdout)
  return join(destination, filename)
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
