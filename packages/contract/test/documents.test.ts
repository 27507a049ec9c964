import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { sign } from '@order-relay/lib/protocol/signature.ts'
import { bodyErrors, codeBlocks, undocumentedMessage } from '@order-relay/test-support/documents.ts'
import { readOpenApi } from '@order-relay/test-support/openapi/document.ts'
import { valuesOf } from '@order-relay/test-support/openapi/values.ts'
import { Validator } from '@seriousme/openapi-schema-validator'
import fc from 'fast-check'
import { SCHEMAS as SANDBOX_SCHEMAS } from 'order-relay-sandbox/src/openapi/schemas.ts'
import * as v from 'valibot'
import { MESSAGES, WAITING } from '../examples.ts'
import { documents } from '../generate.ts'
import { openApi } from '../openapi.ts'
import { SCHEMAS } from '../schemas.ts'

test.each(documents())('$path is current; if not, run "npm run docs"', ({ path, text }) => {
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test("the document of the stores' API is valid OpenAPI 3.1", async () => {
  expect(await new Validator().validate(JSON.parse(JSON.stringify(openApi())))).toEqual({ valid: true })
})

test.each([
  ['relay.openapi', SCHEMAS],
  ['openapi', SANDBOX_SCHEMAS],
] as const)('docs/%s.json accepts the same bodies as the code', (name, schemas) => {
  const document = JSON.parse(readFileSync(`docs/${name}.json`, 'utf8'))
  const { schemas: components, errorsOf } = readOpenApi(document)
  for (const [schema, validation] of Object.entries<v.GenericSchema>(schemas)) {
    if (!/Request$|Change$|^(?:Review|Correction|FiscalYear|Customer|Item|WebhookRemoval)$/.test(schema))
      continue
    const $ref = `#/components/schemas/${schema}`
    const verdicts = new Set<boolean>()
    const agree = fc.property(valuesOf({ $ref }, { schemas: components }), body => {
      const accepted = v.is(validation, body)
      verdicts.add(accepted)
      expect({ schema, accepted: errorsOf({ $ref }, body) === undefined }).toEqual({ schema, accepted })
    })
    fc.assert(agree, { numRuns: 500 })
    expect({ schema, verdicts: verdicts.size }).toEqual({ schema, verdicts: 2 })
  }
})

type Exampled = { payload?: object; schema?: object; example?: unknown; examples?: { payload: unknown }[] }

/** The bodies that a document describes with examples. */
const exampled = (part: unknown): Exampled[] =>
  typeof part !== 'object' || part === null
    ? []
    : ('schema' in part && 'example' in part && !('in' in part)) || 'payload' in part
      ? [part as Exampled]
      : Object.values(part).flatMap(exampled)

test.each(['relay.openapi', 'feeds.asyncapi'])('every example in docs/%s.json matches its schema', name => {
  const document = JSON.parse(readFileSync(`docs/${name}.json`, 'utf8'))
  const { errorsOf } = readOpenApi({ ...document, paths: document.paths ?? {} })
  const bodies = exampled([document.paths, document.channels])
  expect(bodies.length).toBeGreaterThan(4)
  for (const { payload, schema = payload ?? {}, example, examples } of bodies) {
    for (const body of examples?.map(each => each.payload) ?? [example])
      expect({ body, errors: errorsOf(schema, body) }).toEqual({ body, errors: undefined })
  }
})

const page = readFileSync('docs/integrate.md', 'utf8')

test('docs/integrate.md shows the examples of the documents', () => {
  const blocks = codeBlocks('docs/integrate.md', 'json').map(block => JSON.parse(block))
  expect(blocks).toEqual(expect.arrayContaining([MESSAGES.OrderUpdated, MESSAGES.RequestChanged, WAITING]))
})

test('every message and response in docs/integrate.md matches the documents', () => {
  const blocks = codeBlocks('docs/integrate.md', 'json').map(block => JSON.parse(block))
  const errors = blocks.map(body =>
    'event' in body
      ? undocumentedMessage(body)
      : bodyErrors('status' in body ? 'Order' : 'relay' in body ? 'Error' : 'Accepted', body),
  )
  expect(errors).toEqual(Array(5).fill(undefined))
})

type Field = { type?: string | string[]; anyOf?: Field[]; format?: string; items?: Fields } & Partial<Fields>
type Fields = { properties: Record<string, Field>; required: string[] }

/** The path, type and presence of every field of a schema, as listed in docs/integrate.md. */
const fieldsOf = ({ properties, required }: Fields, parent = ''): string[][] =>
  Object.entries(properties).flatMap(([name, field]) => {
    const [type = ''] = [field.type ?? field.anyOf?.[0]?.type ?? ''].flat()
    const named = field.format ?? (type === 'array' ? 'list' : type)
    const row = [`\`${parent}${name}\``, named, required.includes(name) ? 'yes' : '']
    const { properties = field.items?.properties, required: needed = field.items?.required ?? [] } = field
    const path = `${parent}${name}${type === 'array' ? '[]' : ''}.`
    return [row, ...(properties ? fieldsOf({ properties, required: needed }, path) : [])]
  })

test.each([
  ['create', 'OrderRequest'],
  ['payment', 'PaymentRequest'],
  ['refund', 'RefundRequest'],
  ['order result', 'OrderResult'],
])(
  'the table "%s" of docs/integrate.md has the fields, types and required fields of the schema',
  (title, name) => {
    const [, , ...rows] = (new RegExp(`^\\| ${title}.*\\n(\\|.*\\n)+`, 'm').exec(page) ?? [''])[0]
      .trim()
      .split('\n')
    const shown = rows.map(row =>
      row
        .split('|')
        .slice(1, 4)
        .map(cell => cell.trim()),
    )
    const { components } = JSON.parse(JSON.stringify(openApi()))
    expect(shown.toSorted()).toEqual(fieldsOf(components.schemas[name]).toSorted())
  },
)

test('docs/integrate.md computes the signature that the relay sends', () => {
  const command = codeBlocks('docs/integrate.md', 'sh').find(block => block.includes('openssl')) ?? ''
  const [, t = '', body = '', secret = ''] = /%s' (\d+) '(.*)' \| .* -hmac (\S+)/.exec(command) ?? []
  const [, v1 = ''] = sign({ secret, t: Number(t), body }).split('v1=')
  expect(readFileSync('docs/integrate.md', 'utf8')).toContain(v1)
  expect(execFileSync('sh', ['-c', command]).toString()).toContain(v1)
})
