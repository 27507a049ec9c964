import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseStores } from '@order-relay/deploy/stores.ts'
import { queueNames, type Store } from '@order-relay/lib/platform/stores.ts'
import * as v from 'valibot'

/** The file in the data directory with the stores.yml of the relay that started last. */
const KEPT_FILE = 'stores.yml'

/** The file in the data directory with the queues that stores.yml no longer defines. */
const REMOVED_FILE = 'removed-queues.json'

const removedQueue = v.object({ source: v.string(), queue: v.string() })

/** A queue of a store that was removed from stores.yml; the local stack keeps it with its messages. */
export type RemovedQueue = v.InferOutput<typeof removedQueue>

/** The queues that stores.yml no longer defines. */
export const removedQueues = (dataDir: string): readonly RemovedQueue[] => {
  try {
    const text = readFileSync(join(dataDir, REMOVED_FILE), 'utf8')
    return v.parse(v.pipe(v.string(), v.parseJson(), v.array(removedQueue)), text)
  } catch {
    return []
  }
}

const queuesOf = (stores: readonly Store[]): RemovedQueue[] =>
  stores.flatMap(store => queueNames(store).map(queue => ({ source: store.source, queue })))

/** Saves the stores.yml that a relay starts with, for {@link keptStores}, and the queues that it no longer defines. */
export const keepStores = async (dataDir: string, text: string): Promise<void> => {
  const write = (file: string, content: string) => writeFile(join(dataDir, file), content, { mode: 0o600 })
  const present = new Set(queuesOf(parseStores(text)).map(({ queue }) => queue))
  const former = [...removedQueues(dataDir), ...queuesOf(keptStores(dataDir) ?? [])]
  const removed = new Map(former.map(each => [each.queue, each]))
  const left = [...removed.values()].filter(({ queue }) => !present.has(queue))
  await write(REMOVED_FILE, JSON.stringify(left))
  await write(KEPT_FILE, text)
}

/** The stores of the relay that started last with this data directory; undefined if none has started. */
export const keptStores = (dataDir: string): readonly Store[] | undefined => {
  try {
    return parseStores(readFileSync(join(dataDir, KEPT_FILE), 'utf8'))
  } catch {
    return undefined
  }
}

/** What happens while stores.yml has errors, in a sentence. */
export const keepsStores = (stores: readonly Store[]): string =>
  `The relay keeps the stores ${stores.map(({ source }) => source).join(', ')} until this is fixed.`
