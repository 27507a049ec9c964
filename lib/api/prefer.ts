/** The preferences of a client for its response (RFC 7240, sections 4.1, 4.3 and 4.4). */
export type Preferences = {
  respondAsync: boolean
  /** Seconds. */
  wait?: number
  /** Fields without effect are refused instead of reported. */
  strict: boolean
}

const QUOTED = '"(?:[^"\\\\]|\\\\.)*"'

/** The members of the list; commas inside quoted strings do not separate them. */
const MEMBER = new RegExp(`(?:${QUOTED}|[^",])+`, 'g')

/** Name and value of a preference; its parameters are ignored. */
const PREFERENCE = new RegExp(`^\\s*([^\\s"=;]+)(?:\\s*=\\s*(${QUOTED}|[^\\s"=;]+)?)?\\s*(?:;|$)`)

const unquoted = (word: string) => (word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/g, '$1') : word)

/**
 * Reads `Prefer`, whose fields API Gateway joins with commas. Ignores unknown and malformed preferences, and all but
 * the first occurrence of a repeated one (RFC 7240, section 2).
 */
export const readPreferences = (header = ''): Preferences => {
  const found = new Map<string, string>()
  // Far longer than any valid header; the search for closing quotes takes quadratic time.
  for (const [member] of header.slice(0, 1000).matchAll(MEMBER)) {
    const [, name, value = ''] = PREFERENCE.exec(member) ?? []
    const key = name?.toLowerCase()
    if (key !== undefined && !found.has(key)) found.set(key, unquoted(value))
  }
  const wait = found.get('wait') ?? ''
  return {
    respondAsync: found.has('respond-async'),
    strict: found.get('handling') === 'strict',
    ...(/^\d{1,9}$/.test(wait) && { wait: Number(wait) }),
  }
}
