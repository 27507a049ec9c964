import { chmod, lstat, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from './ports.ts'

/** What the relay keeps in the directory. The sandbox takes care of its own database. */
const OWN = ['build', 'dynamodb', 'queues', 'parameters.json', 'relay.log', 'relay.log.old']

/** Takes the access of other users away from a file or directory and all below it, if it exists. */
const keepPrivate = async (path: string): Promise<void> => {
  const found = await lstat(path).catch(() => undefined)
  if (found?.isFile()) await chmod(path, 0o600)
  if (!found?.isDirectory()) return
  await chmod(path, 0o700)
  for (const name of await readdir(path)) await keepPrivate(join(path, name))
}

/**
 * Creates the directory of the local stack's data. Customers and secrets in it are readable by their owner only,
 * those that an earlier version wrote included.
 *
 * @throws Error when the path is not a directory or cannot be created
 */
export const openDataDir = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
    await chmod(path, 0o700)
  } catch (error) {
    const code = codeOf(error)
    const state = code === 'EEXIST' || code === 'ENOTDIR' ? 'it is not a directory' : (code ?? error)
    throw new Error(
      `Cannot keep data in ${path}: ${state}; set ORDER_RELAY_DATA to a directory that you can write to`,
      { cause: error },
    )
  }
  for (const name of OWN) await keepPrivate(join(path, name))
}
