import { createReadStream, existsSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { logFile } from '../../local/log.ts'
import type { Context } from './context.ts'
import { cannot } from './errors.ts'

type Local = Pick<Context, 'dataDir'>

/** The log of the local stack, after the one before it. */
const filesOf = ({ dataDir }: Local) => {
  const path = logFile(dataDir)
  if (existsSync(path)) return [`${path}.old`, path].filter(existsSync)
  throw cannot(
    'read the log',
    `${path} does not exist`,
    'npm start writes it, npx serverless offline does not',
  )
}

/** The functions write side by side: a line may stand behind others that are so much newer. */
const LATE_MS = 30_000

const SAMPLE_BYTES = 64 * 1024

/** Where in a file what was written since a time begins, by bisection; most of a log is older than what is asked for. */
const beginOf = async (file: FileHandle, since: Date) => {
  const from = new Date(since.getTime() - LATE_MS).toISOString()
  const sample = Buffer.alloc(SAMPLE_BYTES)
  let [begin, end] = [0, (await file.stat()).size]
  while (end - begin > SAMPLE_BYTES) {
    const middle = Math.floor((begin + end) / 2)
    const { bytesRead } = await file.read(sample, 0, SAMPLE_BYTES, middle)
    const [, written = from] = /"timestamp":"([^"]+)"/.exec(sample.toString('latin1', 0, bytesRead)) ?? []
    if (written < from) begin = middle
    else end = middle
  }
  return begin
}

const NEWLINE = 10

/** Reads, at each call, the lines that were completed in a file since the last one; at the first, since a time. */
const newLines = (path: string, since: Date) => {
  let read: number | undefined
  let rest = Buffer.alloc(0)
  return async function* (): AsyncGenerator<string> {
    if (read === undefined) {
      await using file = await open(path)
      read = await beginOf(file, since)
    }
    // The stack has started a new file.
    if ((await stat(path)).size < read) {
      read = 0
      rest = Buffer.alloc(0)
    }
    for await (const chunk of createReadStream(path, { start: read })) {
      read += chunk.length
      rest = Buffer.concat([rest, chunk])
      const end = rest.lastIndexOf(NEWLINE)
      if (end === -1) continue
      yield* rest.subarray(0, end).toString('utf8').split('\n')
      rest = rest.subarray(end + 1)
    }
  }
}

/** Reads, at each call, what the local stack has written to its log since the last one, metrics included. */
export const localLines = (context: Local, since: Date) => {
  let files: ReturnType<typeof newLines>[] | undefined
  return async function* (): AsyncGenerator<string> {
    const paths = filesOf(context)
    files ??= paths.map(path => newLines(path, since))
    for (const next of files) yield* next()
    files = files.slice(-1)
  }
}

const CHUNK_BYTES = 4 * 1024 * 1024

/** The lines of a chunk that have one of some texts, the last first. */
function* linesWith(chunk: Buffer, texts: readonly string[]): Generator<string> {
  const ends = new Map<number, number>()
  for (const text of texts.map(each => Buffer.from(each))) {
    for (let at = chunk.indexOf(text); at !== -1; ) {
      const end = chunk.indexOf(NEWLINE, at)
      ends.set(chunk.lastIndexOf(NEWLINE, at) + 1, end === -1 ? chunk.length : end)
      at = end === -1 ? -1 : chunk.indexOf(text, end)
    }
  }
  for (const [begin, end] of [...ends].sort(([a], [b]) => b - a)) yield chunk.toString('utf8', begin, end)
}

/**
 * The lines since a time that have one of some texts, the last first. Reading ends with the reader's interest; a
 * hundred megabytes without the texts take a tenth of a second, if the texts have a dozen characters.
 */
export async function* lastLocalLines(
  context: Local,
  since: Date,
  texts: readonly string[],
): AsyncGenerator<string> {
  let buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  for (const path of filesOf(context).toReversed()) {
    await using file = await open(path)
    const begin = await beginOf(file, since)
    let { size: end } = await file.stat()
    while (end > begin) {
      const start = Math.max(begin, end - buffer.length)
      const { bytesRead } = await file.read(buffer, 0, end - start, start)
      const chunk = buffer.subarray(0, bytesRead)
      // What is before belongs to a line that the next chunk has.
      const whole = start === begin ? 0 : chunk.indexOf(NEWLINE) + 1
      if (start > begin && (whole === 0 || whole === bytesRead)) {
        // A line is longer than the buffer.
        buffer = Buffer.allocUnsafe(2 * buffer.length)
        continue
      }
      yield* linesWith(chunk.subarray(whole), texts)
      end = start + whole
    }
  }
}
