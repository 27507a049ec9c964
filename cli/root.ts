import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The checkout that this command is part of, whatever directory it is called from. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The stores of this checkout. */
export const STORES_FILE = join(ROOT, 'stores.yml')
