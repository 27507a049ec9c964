import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseStores } from '@order-relay/deploy/stores.ts'
import type { Store } from '@order-relay/lib/platform/stores.ts'

/** The file in the data directory with the stores.yml of the relay that started last. */
const KEPT_FILE = 'stores.yml'

/** Saves the stores.yml with which a relay starts, for {@link keptStores}. */
export const keepStores = (dataDir: string, text: string): Promise<void> =>
  writeFile(join(dataDir, KEPT_FILE), text, { mode: 0o600 })

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
