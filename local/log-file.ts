import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** A log that has grown beyond this is set aside at the next start, in place of the one before it. */
const LARGE_BYTES = 64 * 1024 * 1024

/** Where what the relay's functions print is kept, for `relay tail` and `relay receipt`. */
export const logFile = (dataDir: string): string => join(dataDir, 'relay.log')

/** Opens the log for appending; each line that is written ends with a line break. */
export const openLog = (dataDir: string): { write: (line: string) => void; close: () => Promise<void> } => {
  const path = logFile(dataDir)
  if (existsSync(path) && statSync(path).size > LARGE_BYTES) renameSync(path, `${path}.old`)
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 })
  // A full disk must not end the stack: what is printed is seen all the same.
  stream.on('error', () => undefined)
  return {
    write: line => void stream.write(`${line}\n`),
    close: () => new Promise(resolve => stream.end(() => resolve())),
  }
}
