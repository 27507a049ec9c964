import { fileURLToPath } from 'node:url'

/** The project's own directory. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
