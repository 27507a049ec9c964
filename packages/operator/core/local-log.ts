import { createReadStream, existsSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { logFile } from '@order-relay/local/log.ts'
import type { Context } from './context.ts'
import { cannot } from './errors.ts'

type Local = Pick<Context, 'dataDir'>

/** Whether there is a log: `npx serverless offline` writes none. */
export const hasLog = ({ local, dataDir }: Local & Pick<Context, 'local'>): boolean =>
  !local || existsSync(logFile(dataDir))

/** The logs of the local stack: the previous one, then the current one. */
const filesOf = ({ dataDir }: Local) => {
  const path = logFile(dataDir)
  if (existsSync(path)) return [`${path}.old`, path].filter(existsSync)
  const remedy = 'npm start writes it, npx serverless offline does not'
  throw cannot('read the log', `${path} does not exist`, remedy)
}

/**
 * Lines may be out of sequence by this much: the functions write concurrently, and CloudWatch shows lines seconds after
 * they were written.
 */
export const LATE_MS = 30_000

const SAMPLE_BYTES = 64 * 1024

/** Finds the offset of a time in a file by bisection; most of a log is older than the requested period. */
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

/** Each call returns the lines that a file gained since the previous call; the first, those since a time. */
const newLines = (path: string, since: Date) => {
  let read: number | undefined
  let rest = Buffer.alloc(0)
  return async function* (): AsyncGenerator<string> {
    if (read === undefined) {
      await using file = await open(path)
      read = await beginOf(file, since)
    }
    // The stack has started a new log file.
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

/** Each call returns what the local stack has logged since the previous call, including metrics. */
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

/** The lines of a chunk that contain one of the texts, newest first. */
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
 * The lines since a time that contain one of the texts, newest first. Stops reading when the consumer stops; searching
 * a hundred megabytes takes a tenth of a second for texts of a dozen characters.
 */
export async function* lastLocalLines(context: Local, since: Date, texts: readonly string[]) {
  let buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  for (const path of filesOf(context).toReversed()) {
    await using file = await open(path)
    const begin = await beginOf(file, since)
    let { size: end } = await file.stat()
    while (end > begin) {
      const start = Math.max(begin, end - buffer.length)
      const { bytesRead } = await file.read(buffer, 0, end - start, start)
      const chunk = buffer.subarray(0, bytesRead)
      // The first line continues in the next chunk.
      const whole = start === begin ? 0 : chunk.indexOf(NEWLINE) + 1
      if (start > begin && (whole === 0 || whole === bytesRead)) {
        // The line is longer than the buffer.
        buffer = Buffer.allocUnsafe(2 * buffer.length)
        continue
      }
      yield* linesWith(chunk.subarray(whole), texts)
      end = start + whole
    }
  }
}
