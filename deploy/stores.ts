import { existsSync, readFileSync } from 'node:fs'
import * as v from 'valibot'
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml'
import { nearest } from '../lib/api/warnings.ts'
import { type Store, storesFile } from '../lib/platform/stores.ts'
import { fieldOf } from '../lib/protocol/errors.ts'

/**
 * Reads stores.yml.
 *
 * @throws listing every error with its line, key and remedy
 */
export const readStores = (file: string): readonly Store[] => {
  if (!existsSync(file)) throw new Error(`Cannot read ${file}: it does not exist`)
  return parseStores(readFileSync(file, 'utf8'), file)
}

export const parseStores = (text: string, file = 'stores.yml'): readonly Store[] => {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: true })
  const [syntax] = document.errors
  if (syntax !== undefined) throw new Error(`Cannot read ${file}: ${syntax.message}`)

  const parsed = v.safeParse(storesFile, contentOf(document, file))
  if (parsed.success) return parsed.output.stores

  const problems = problemsIn(parsed.issues).map(({ issue, message }) => {
    const { line } = lineCounter.linePos(startOf(document, pathOf(issue)))
    const field = fieldOf(issue)
    return `line ${line}: ${field === undefined ? 'the file' : `"${field}"`} ${message}`
  })
  throw new Error(`Cannot read ${file}:\n${problems.join('\n')}`)
}

type Issue = v.BaseIssue<unknown>

const pathOf = ({ path }: Issue) => path?.map(({ key }) => key) ?? []

/**
 * A mistake is one problem: the message about an unknown key names the required ones that are missing beside it, since it is
 * usually a misspelled one. In a list instead of a mapping, the positions are not keys.
 */
const problemsIn = (issues: readonly Issue[]) => {
  const mappingOf = (issue: Issue) => JSON.stringify(pathOf(issue).slice(0, -1))
  const isUnknown = ({ expected }: Issue) => expected === 'never'
  const missing = issues.filter(({ received }) => received === 'undefined')
  const isPosition = (issue: Issue) => isUnknown(issue) && Array.isArray(issue.path?.at(-1)?.input)
  const others = issues.filter(issue => !missing.includes(issue) && !isPosition(issue))
  const unknown = others.filter(isUnknown)
  const alone = missing.filter(each => unknown.every(other => mappingOf(other) !== mappingOf(each)))
  return [...others, ...alone].map(issue => {
    const lacks = unknown.includes(issue) ? missing.filter(each => mappingOf(each) === mappingOf(issue)) : []
    const names = lacks.map(each => `"${pathOf(each).at(-1)}"`).join(' and ')
    const also = lacks.length === 0 ? '' : `, and ${names} ${lacks.length === 1 ? 'is' : 'are'} missing`
    const meant = isUnknown(issue) ? nearest(`${pathOf(issue).at(-1)}`, leftIn(issue)) : undefined
    if (meant !== undefined) return { issue, message: `is not a known key${also}: did you mean "${meant}"?` }
    return { issue, message: issue.message.replace(':', `${also}:`) }
  })
}

/** The keys that the mapping of an unknown one may have, which its message quotes, and does not have yet. */
const leftIn = ({ message, path }: Issue) => {
  const keys = Array.from(message.matchAll(/"(\w+)"/g), ([, key = '']) => key)
  return keys.filter(key => !Object.hasOwn(Object(path?.at(-1)?.input), key))
}

/** Converting can fail after parsing: the yaml package limits the expansion of aliases. */
const contentOf = (document: Document, file: string): unknown => {
  try {
    return document.toJS()
  } catch (cause) {
    throw new Error(`Cannot read ${file}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

/** The text offset of a key, or of the closest enclosing node when the key is missing. */
const startOf = (document: Document, path: readonly unknown[]): number => {
  if (path.length === 0) return isNode(document.contents) ? (document.contents.range?.[0] ?? 0) : 0
  const around = document.getIn(path.slice(0, -1), true)
  const pair = isMap(around)
    ? around.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))
    : undefined
  const node = pair === undefined ? document.getIn(path, true) : pair.key
  return isNode(node) && node.range ? node.range[0] : startOf(document, path.slice(0, -1))
}
