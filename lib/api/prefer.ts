/** How a client prefers to be answered (RFC 7240, sections 4.1, 4.3 and 4.4). */
export type Preferences = {
  respondAsync: boolean
  /** Seconds. */
  wait?: number
  /** Fields without effect are refused instead of reported. */
  strict: boolean
}

const QUOTED = '"(?:[^"\\\\]|\\\\.)*"'

/** The members of the list: commas in quoted strings do not end them. */
const MEMBER = new RegExp(`(?:${QUOTED}|[^",])+`, 'g')

/** Name and value of a preference; of its parameters none is known here. */
const PREFERENCE = new RegExp(`^\\s*([^\\s"=;]+)(?:\\s*=\\s*(${QUOTED}|[^\\s"=;]+)?)?\\s*(?:;|$)`)

const unquoted = (word: string) => (word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/g, '$1') : word)

/**
 * Reads `Prefer`, whose fields API Gateway joins with commas. Unknown and malformed preferences are ignored,
 * and of a repeated one all but the first (RFC 7240, section 2).
 */
export const readPreferences = (header = ''): Preferences => {
  const found = new Map<string, string>()
  // Far more than any preference takes; searching for the ends of quoted strings takes quadratic time.
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
