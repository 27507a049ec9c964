import { chmod, lstat, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ENVIRONMENT_FILE } from './credentials.ts'
import { codeOf } from './ports.ts'

/** The relay's files in the directory. The sandbox manages its own database. */
const OWN = [ENVIRONMENT_FILE, 'build', 'dynamodb', 'queues', 'parameters.json', 'relay.log', 'relay.log.old']

/** Removes other users' access to a file or directory and everything below it, if it exists. */
const keepPrivate = async (path: string): Promise<void> => {
  const found = await lstat(path).catch(() => undefined)
  if (found?.isFile()) await chmod(path, 0o600)
  if (!found?.isDirectory()) return
  await chmod(path, 0o700)
  for (const name of await readdir(path)) await keepPrivate(join(path, name))
}

/**
 * Creates the data directory of the local stack. Customers and secrets in it are readable only by their owner, including
 * those that an earlier version wrote.
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
