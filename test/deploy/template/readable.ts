import * as v from 'valibot'
import { Document, visit } from 'yaml'
import type { Template } from './template-schema.ts'

/** Hashes of code and of nested templates, and the time of packaging. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/(LambdaVersion)\w+/g, '$1<hash>'],
  [/("CodeSha256":")[^"]+/g, '$1<hash>'],
  [/-[0-9a-f]{12}(?=\.json")/g, '-<hash>'],
  [/\/\d+-[\d-]+T[\d:.]+Z\//g, '/<time>/'],
]

const WIDTH = 110

const substituted = v.object({ 'Fn::Sub': v.string() })

/** A template as reviewed in the snapshot: YAML in a stable order, with short values on one line, without hashes. */
export const readable = (template: Template): string => {
  const text = VOLATILE.reduce(
    (text, [pattern, name]) => text.replace(pattern, name),
    JSON.stringify(template),
  )
  const parsed: unknown = JSON.parse(text, (key, value) =>
    key === 'DashboardBody' ? JSON.parse(v.parse(substituted, value)['Fn::Sub']) : value,
  )
  const document = new Document(parsed, { aliasDuplicateObjects: false, sortMapEntries: true })
  visit(document, {
    Collection(_key, node) {
      if (JSON.stringify(node).length < WIDTH) node.flow = true
    },
  })
  return document.toString({ lineWidth: 0, flowCollectionPadding: true })
}
