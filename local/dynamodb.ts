import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import dynalite from 'dynalite'
import { Level } from 'level'
import * as v from 'valibot'
import { codeOf } from './ports.ts'
import { HOST } from './settings.ts'

/** dynalite stores a table under the key `table~<name>`, with its description as JSON. */
const TABLES = { gte: 'table~', lt: 'table\u007f' }
const unfinished = v.looseObject({ TableStatus: v.picklist(['CREATING', 'DELETING']) })

/**
 * Opens the database first, since dynalite never answers when it cannot, and removes tables whose creation was
 * interrupted: they would stay CREATING.
 */
const prepare = async (path: string) => {
  await mkdir(path, { recursive: true })
  const db = new Level<string, unknown>(path, { valueEncoding: 'json' })
  try {
    await db.open()
    for await (const [key, value] of db.iterator(TABLES)) {
      if (v.is(unfinished, value)) await db.del(key)
    }
  } catch (error) {
    const code = codeOf(error)
    throw new Error(
      code === 'LEVEL_LOCKED'
        ? `Cannot open ${path}: another order-relay uses it; stop that one, or set ORDER_RELAY_DATA to another directory`
        : `Cannot open ${path}: the database cannot be read (${code ?? error}); remove the directory to begin with empty tables`,
      { cause: error },
    )
  } finally {
    await db.close()
  }
}

/**
 * Starts the embedded DynamoDB on the loopback address; its tables are kept in the directory `path`.
 *
 * @throws Error when the directory is in use or cannot be read
 */
export const startDynamodb = async ({ port, path }: { port: number; path: string }) => {
  await prepare(path)
  const server = dynalite({ path, createTableMs: 0 })
  server.listen({ host: HOST, port })
  await once(server, 'listening')
  return {
    close: async () => {
      const closed = promisify(server.close.bind(server))()
      // Clients keep their connections alive, and close waits for them.
      server.closeAllConnections()
      await closed
    },
  }
}
