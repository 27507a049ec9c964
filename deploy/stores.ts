import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { LineCounter, parseDocument } from 'yaml'
import { fieldOf } from '../lib/protocol/errors.ts'
import { type Store, storesFile } from '../lib/stores.ts'

/**
 * Reads stores.yml.
 *
 * @throws with line, key and remedy for everything that is wrong with it
 */
export const readStores = (file: string): readonly Store[] => parseStores(readFileSync(file, 'utf8'), file)

export const parseStores = (text: string, file = 'stores.yml'): readonly Store[] => {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: true })
  const [syntax] = document.errors
  if (syntax !== undefined) throw new Error(`Cannot read ${file}: ${syntax.message}`)

  const parsed = v.safeParse(storesFile, document.toJS())
  if (parsed.success) return parsed.output.stores

  const complaints = parsed.issues.map(issue => {
    const path = issue.path?.map(({ key }) => key) ?? []
    const line = lineOf(path)
    return `line ${line}: "${fieldOf(issue) ?? 'the file'}" is ${issue.received}: ${issue.message}`
  })
  throw new Error(`Cannot read ${file}:\n${complaints.join('\n')}`)

  /** The line of a key, or of the nearest thing around it when the key is missing. */
  function lineOf(path: readonly unknown[]): number {
    for (let length = path.length; length >= 0; length--) {
      const node = document.getIn(path.slice(0, length), true)
      const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
      if (Array.isArray(range)) return lineCounter.linePos(range[0]).line
    }
    return 1
  }
}
