import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import dynalite from 'dynalite'
import { Level } from 'level'
import * as v from 'valibot'
import { codeOf } from './error-code.ts'
import { HOST } from './settings.ts'

/** dynalite's own record of a table: key `table~<name>`, value its description as JSON. */
const TABLES = { gte: 'table~', lt: 'table\u007f' }
const unfinished = v.looseObject({ TableStatus: v.picklist(['CREATING', 'DELETING']) })

/**
 * Opens the database once on its own, since dynalite leaves a directory that it cannot open unanswered,
 * and forgets tables whose creation was cut short: they would stay CREATING for good.
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
        ? `Cannot open ${path}: another order-relay uses it; end that one, or set ORDER_RELAY_DATA to another directory`
        : `Cannot open ${path}: the database is not readable (${code ?? error}); remove the directory to begin with empty tables`,
      { cause: error },
    )
  } finally {
    await db.close()
  }
}

/**
 * Starts the embedded DynamoDB on the loopback address, its tables kept in `path`.
 *
 * @throws Error when the directory is in use or not readable
 */
export const startDynamodb = async ({ port, path }: { port: number; path: string }) => {
  await prepare(path)
  const server = dynalite({ path, createTableMs: 0 })
  server.listen({ host: HOST, port })
  await once(server, 'listening')
  return {
    close: async () => {
      const closed = promisify(server.close.bind(server))()
      // Clients keep their connections alive; without this, close waits for them.
      server.closeAllConnections()
      await closed
    },
  }
}
