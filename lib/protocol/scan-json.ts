// In a string, control characters, quotation marks and backslashes are escaped.
const TOKEN =
  /([[\]{},:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y
const SPACE = /[ \t\r\n]*/y

/**
 * What JSON.parse does not report: the position of the first error, and fields that occur twice in an object, such as
 * `items[0].quantity`.
 */
export type JsonScan = { errorAt: number } | { repeated: readonly string[] }

/** A path may be as long as the text: a text with a million of them would occupy the process for minutes. */
const MAX_REPEATED = 10

/** An open object with its names, of which `true` ones occurred twice, or an open array; `at` is the current field. */
type Open = { path: string; names?: Map<string, boolean>; at: string | number }

const pathOf = ({ path, at }: Open) => {
  if (typeof at === 'number') return `${path}[${at}]`
  return path === '' ? at : `${path}.${at}`
}

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end'

// Not jsonc-parser: it is recursive, so deep JSON overflows its stack, and its bundle is five times as large.
/** Scans a JSON text in linear time. It accepts what JSON.parse accepts. */
export const scanJson = (text: string): JsonScan => {
  const repeated: string[] = []
  const open: Open[] = []
  let expected = 'value' as Expected
  let at = 0

  const accepts = (mark: string | undefined, string: string | undefined): boolean => {
    const inner = open.at(-1)
    if (expected === ', or end') {
      if (inner === undefined) return false
      if (mark === ',') expected = inner.names ? 'name' : 'value'
      if (mark === ',' && typeof inner.at === 'number') inner.at += 1
      return mark === ',' || (mark === (inner.names ? '}' : ']') && close())
    }
    if (expected === ':') {
      expected = 'value'
      return mark === ':'
    }
    if (expected === 'name' || expected === 'name or }') {
      if (mark === '}') return expected === 'name or }' && close()
      if (string === undefined || inner?.names === undefined) return false
      const name: string = JSON.parse(string)
      inner.at = name
      if (inner.names.get(name) === false && repeated.length < MAX_REPEATED) repeated.push(pathOf(inner))
      inner.names.set(name, inner.names.has(name))
      expected = ':'
      return true
    }
    if (mark === ']') return expected === 'value or ]' && close()
    if (mark === '{' || mark === '[') {
      const path = inner === undefined ? '' : pathOf(inner)
      open.push(mark === '{' ? { path, names: new Map(), at: '' } : { path, at: 0 })
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
    if (at === text.length && expected === ', or end' && open.length === 0)
      return { repeated: [...new Set(repeated)] }
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
