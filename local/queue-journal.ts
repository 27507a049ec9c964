import { closeSync, existsSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import * as v from 'valibot'

const sent = v.object({
  /** The message id that SQS gave it. */
  sent: v.string(),
  /** Name of its queue. */
  queue: v.string(),
  /** The SendMessage input without its queue, as it came. */
  message: v.looseObject({ MessageBody: v.string() }),
})
const removed = v.object({ removed: v.string() })
const purged = v.object({ purged: v.string() })
const entry = v.pipe(v.string(), v.parseJson(), v.union([sent, removed, purged]))

export type Sent = v.InferOutput<typeof sent>

/** The messages that a journal has as sent and not as removed, in the order of sending. */
const remaining = (journal: string): Sent[] => {
  const held = new Map<string, Sent>()
  for (const line of journal.split('\n')) {
    const read = v.safeParse(entry, line)
    // A kill may have cut the last line short; it was not acknowledged then.
    if (!read.success) continue
    const found = read.output
    if ('sent' in found) held.set(found.sent, found)
    else if ('removed' in found) held.delete(found.removed)
    else for (const [id, { queue }] of held) if (queue === found.purged) held.delete(id)
  }
  return [...held.values()]
}

/**
 * What was sent to the queues and not yet removed, in a file, so that messages outlive the process. Every
 * entry is with the operating system before the call that it belongs to is answered.
 */
export const openJournal = (path: string) => {
  const kept = existsSync(path) ? remaining(readFileSync(path, 'utf8')) : []
  const next = `${path}.next`
  const file = openSync(next, 'w', 0o600)
  const append = (line: v.InferInput<typeof sent> | { removed: string } | { purged: string }) => {
    writeSync(file, `${JSON.stringify(line)}\n`)
  }
  return {
    /** What an earlier process left, to be sent again. */
    kept,
    append,
    /** Call when all that was kept is sent again; until then the old file stays. */
    commit: () => renameSync(next, path),
    close: () => closeSync(file),
  }
}

export type Journal = ReturnType<typeof openJournal>
