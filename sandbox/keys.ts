/** The scope that every change needs (spec: Authentication). */
export const WRITE = 'orders.write'

/** The keys of the sandbox and their scopes; they guard nothing but this machine. */
export const KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ['sandbox-key', [WRITE]],
  ['sandbox-read-key', []],
])
