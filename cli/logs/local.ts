import { existsSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { logFile } from '../../local/log.ts'
import { cannot } from '../failure.ts'
import { type LogLine, logLineOf, type Range } from './line.ts'

const EVERY_MS = 250
const CHUNK_BYTES = 1024 * 1024

const sizeOf = async (path: string) => (await stat(path)).size

/** The bytes of a file from a place on, in pieces. */
async function* bytesFrom(path: string, start: number): AsyncGenerator<Buffer> {
  const file = await open(path)
  try {
    for (let at = start; ; ) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, at)
      if (bytesRead === 0) return
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

/** Whole lines of a file; what stands after the last line break is not one yet. */
async function* linesOf(path: string, follow: boolean): AsyncGenerator<string> {
  let read = 0
  let rest = Buffer.alloc(0)
  do {
    // Set aside by a new start of the stack: from the beginning.
    if ((await sizeOf(path)) < read) {
      read = 0
      rest = Buffer.alloc(0)
    }
    for await (const chunk of bytesFrom(path, read)) {
      read += chunk.length
      rest = Buffer.concat([rest, chunk])
      const end = rest.lastIndexOf('\n')
      if (end === -1) continue
      yield* rest.subarray(0, end).toString('utf8').split('\n')
      rest = rest.subarray(end + 1)
    }
    if (follow) await sleep(EVERY_MS)
  } while (follow)
}

/** Reads the log that `npm start` keeps, and the one before it. */
export async function* localLog(dataDir: string, { since, follow }: Range): AsyncGenerator<LogLine> {
  const path = logFile(dataDir)
  if (!existsSync(path)) {
    throw cannot('read the log', `there is no ${path}`, 'it is kept by npm start, from its first start on')
  }
  const files = [`${path}.old`, path].filter(existsSync)
  for (const file of files) {
    for await (const text of linesOf(file, follow && file === path)) {
      const line = logLineOf(text)
      if (line !== undefined && line.at >= since) yield line
    }
  }
}
