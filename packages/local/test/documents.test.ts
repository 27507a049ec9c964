import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { sign } from '@order-relay/lib/protocol/signature.ts'
import { bodyErrors, codeBlocks, undocumentedMessage } from '@order-relay/test-support/documents.ts'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { apiDiff } from 'api-smart-diff'
import fc from 'fast-check'
import { type JsonSchema, SCHEMAS as SANDBOX_SCHEMAS } from 'order-relay-sandbox/src/openapi/schemas.ts'
import * as v from 'valibot'
import { documents } from '../documents/generate.ts'
import { openApi } from '../documents/openapi.ts'
import { SCHEMAS } from '../documents/schemas.ts'

test.each(documents())('$path is current; if not, run "npm run docs"', ({ path, text }) => {
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test("the document of the stores' API is valid OpenAPI 3.1", async () => {
  expect(await new Validator().validate(JSON.parse(JSON.stringify(openApi())))).toEqual({ valid: true })
})

/** Boundary values of the fields' rules, tried for all fields. */
const VALUES: readonly unknown[] = [
  ...[null, true, 0, -1, 1, 1.5, 101, [], {}, '', ' ', 'x'.repeat(101), '🛒'.repeat(100), '🛒'.repeat(101)],
  ...'a card cheque 2026-02-28 2026-02-30 2026-1-1 9121112233 +98۹۱۲۱۱۱۲۲۳۳ 0912'.split(' '),
  ...'http://shop.example/x HTTPS://shop.example ftp://shop.example shop.example'.split(' '),
  ...['http://a:b@shop.example', ' 09121112233 '],
]

const USUAL: Readonly<Record<string, unknown>> = {
  ...{ string: 'a', number: 1, integer: 1, boolean: true, null: null },
  ...{ date: '2026-02-28', uri: 'http://shop.example/x' },
}

/** Values that mostly match a schema, with any of the boundary values in any place. */
const bodyOf = (schemas: Json, schema: JsonSchema): fc.Arbitrary<unknown> => {
  const { $ref, anyOf, properties, required = [], items, enum: choices } = schema
  const inner = (each: unknown) => bodyOf(schemas, each as JsonSchema)
  const described = () => {
    if ($ref !== undefined) return inner(schemas[$ref.slice($ref.lastIndexOf('/') + 1)])
    if (anyOf !== undefined) return fc.oneof(...anyOf.map(inner))
    if (properties !== undefined) {
      const fields = Object.entries(properties).map(([name, field]) => [name, inner(field)] as const)
      return fc.record<Json>(Object.fromEntries(fields), { requiredKeys: required })
    }
    if (items !== undefined) return fc.array(inner(items), { minLength: 1, maxLength: 2 })
    const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'null']
    return fc.constantFrom(...(choices ?? types.map(type => USUAL[schema.format ?? type])))
  }
  return fc.oneof(
    { weight: 15, arbitrary: described() },
    { weight: 1, arbitrary: fc.constantFrom(...VALUES) },
  )
}

const FORMATS = {
  date: (text: string) => !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text),
  uri: (text: string) => URL.canParse(text),
}

test.each([
  ['relay.openapi', SCHEMAS],
  ['openapi', SANDBOX_SCHEMAS],
] as const)('docs/%s.json accepts the same bodies as the code', (name, schemas) => {
  const document = current(name)
  const ajv = new Ajv2020({ strict: false, formats: { ...FORMATS, uuid: true, 'date-time': true } })
  ajv.addSchema(document, 'api')
  const components = (document.components as { schemas: Json }).schemas
  for (const [schema, validation] of Object.entries<v.GenericSchema>(schemas)) {
    if (
      !/Request$|Change$|^(?:Review|Correction|Account|FiscalYear|Customer|Item|WebhookRemoval)$/.test(schema)
    )
      continue
    const $ref = `#/components/schemas/${schema}`
    const validate = ajv.getSchema(`api${$ref}`)
    const verdicts = new Set<boolean>()
    const agree = fc.property(bodyOf(components, { $ref }), body => {
      const accepted = v.is(validation, body)
      verdicts.add(accepted)
      expect({ schema, accepted: validate?.(body) }).toEqual({ schema, accepted })
    })
    fc.assert(agree, { numRuns: 500 })
    expect({ schema, verdicts: verdicts.size }).toEqual({ schema, verdicts: 2 })
  }
})

type Json = Record<string, unknown>

const FILES = ['openapi', 'relay.openapi', 'feeds.asyncapi'] as const
const current = (name: string): Json => JSON.parse(readFileSync(`docs/${name}.json`, 'utf8'))

/** The feeds' document as an OpenAPI document whose responses are the messages, since the tool only reads AsyncAPI 2. */
const comparable = ({ asyncapi, channels, components, ...document }: Json) => {
  if (asyncapi === undefined) return { ...document, components }
  const names = Object.keys((components as { schemas: Json }).schemas)
  const answer = (name: string) => {
    const schema = { $ref: `#/components/schemas/${name}` }
    return { get: { responses: { 200: { description: '', content: { 'application/json': { schema } } } } } }
  }
  const paths = [...names, ...Object.keys(channels as Json)].map(name => [`/${name}`, answer(name)])
  return { openapi: '3.1.0', ...document, components, paths: Object.fromEntries(paths) }
}

/** The breaking changes, unless the document has a new major version. */
const breakingChanges = (before: Json, after: Json): string[] => {
  const major = ({ info }: Json) => Number.parseInt((info as { version: string }).version, 10)
  if (major(after) > major(before)) return []
  return apiDiff(comparable(before), comparable(after)).flatMap(({ type, path, description }) =>
    type === 'breaking' ? [description || path.join('/')] : [],
  )
}

const git = (...args: string[]) => execFileSync('git', args).toString()

test.each(FILES)('docs/%s.json is compatible with the last release, or has a new major version', name => {
  if (!existsSync('.git')) return
  const [release] = git('tag', '--list', 'v*', '--sort=-v:refname').split('\n')
  const before = JSON.parse(git('show', `${release || 'HEAD'}:docs/${name}.json`))
  const breaking = breakingChanges(before, current(name))
  // No compatibility is promised before the first release.
  if (release) expect(breaking).toEqual([])
  else if (breaking.length > 0) console.warn(`Breaking since the last commit:\n${breaking.join('\n')}`)
})

const without = (document: Json, path: string) => {
  const keys = path.split(' ')
  const last = keys.pop() ?? ''
  const parent = keys.reduce<Json>((inner, key) => inner[key] as Json, document)
  delete parent[last]
}

test.each<[(typeof FILES)[number], string, string]>([
  ['openapi', 'paths /api/v1/orders/ post responses 201', 'Response 201'],
  ['relay.openapi', 'paths /api/v1/orders/{external_id}/refund/ delete', 'DELETE'],
  ['feeds.asyncapi', 'components schemas OrderUpdated properties version', 'version'],
  ['feeds.asyncapi', 'channels http', 'http'],
])('reports a breaking change in docs/%s.json: without %s', (name, path, named) => {
  const changed = current(name)
  without(changed, path)
  expect(breakingChanges(current(name), changed).join()).toContain(named)
  expect(breakingChanges(current(name), { ...changed, info: { version: '2.0.0' } })).toEqual([])
})

test('every message and response in docs/integrate.md matches the documents', () => {
  const blocks = codeBlocks('docs/integrate.md', 'json').map(block => JSON.parse(block))
  const errors = blocks.map(body =>
    'event' in body ? undocumentedMessage(body) : bodyErrors('relay' in body ? 'Order' : 'Accepted', body),
  )
  expect(errors).toEqual([undefined, undefined, undefined, undefined])
})

test('docs/integrate.md computes the signature that the relay sends', () => {
  const command = codeBlocks('docs/integrate.md', 'sh').find(block => block.includes('openssl')) ?? ''
  const [, t = '', body = '', secret = ''] = /%s' (\d+) '(.*)' \| .* -hmac (\S+)/.exec(command) ?? []
  const [, v1 = ''] = sign({ secret, t: Number(t), body }).split('v1=')
  expect(readFileSync('docs/integrate.md', 'utf8')).toContain(v1)
  expect(execFileSync('sh', ['-c', command]).toString()).toContain(v1)
})
