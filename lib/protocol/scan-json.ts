// In a string, control characters, quotation marks and backslashes are escaped.
const TOKEN =
  /([[\]{},:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y
const SPACE = /[ \t\r\n]*/y

/** What JSON.parse does not report: the position of the first error, and names that occur twice in an object. */
export type JsonScan = { errorAt: number } | { repeated: readonly string[] }

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end'

// Not jsonc-parser: it is recursive, so deep JSON overflows its stack, and its bundle is five times as large.
/** Scans a JSON text in linear time. It accepts what JSON.parse accepts. */
export const scanJson = (text: string): JsonScan => {
  const repeated = new Set<string>()
  /** The names of each open object; undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  let expected = 'value' as Expected
  let at = 0

  const accepts = (mark: string | undefined, string: string | undefined): boolean => {
    const names = open.at(-1)
    if (expected === ', or end') {
      if (mark === ',') expected = names === undefined ? 'value' : 'name'
      return open.length > 0 && (mark === ',' || (mark === (names === undefined ? ']' : '}') && close()))
    }
    if (expected === ':') {
      expected = 'value'
      return mark === ':'
    }
    if (expected === 'name' || expected === 'name or }') {
      if (mark === '}') return expected === 'name or }' && close()
      if (string === undefined) return false
      const name: string = JSON.parse(string)
      if (names?.has(name)) repeated.add(name)
      names?.add(name)
      expected = ':'
      return true
    }
    if (mark === ']') return expected === 'value or ]' && close()
    if (mark === '{' || mark === '[') {
      open.push(mark === '{' ? new Set() : undefined)
      expected = mark === '{' ? 'name or }' : 'value or ]'
      return true
    }
    expected = ', or end'
    return mark === undefined
  }
  const close = () => {
    open.pop()
    expected = ', or end'
    return true
  }

  for (;;) {
    SPACE.lastIndex = at
    at += SPACE.exec(text)?.[0].length ?? 0
    if (at === text.length && expected === ', or end' && open.length === 0) return { repeated: [...repeated] }
    TOKEN.lastIndex = at
    const [token, mark, string] = TOKEN.exec(text) ?? []
    if (token === undefined || !accepts(mark, string)) return { errorAt: at }
    at += token.length
  }
}

/** The position of the first error in a text that is not JSON; empty for JSON. JSON.parse reports it only sometimes. */
export const placeOfError = (text: string): string => {
  const scan = scanJson(text)
  if (!('errorAt' in scan)) return ''
  const lines = text.slice(0, scan.errorAt).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}
