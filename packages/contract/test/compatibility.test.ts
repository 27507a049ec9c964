import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { apiDiff } from 'api-smart-diff'

type Json = Record<string, unknown>

const FILES = ['openapi', 'relay.openapi', 'feeds.asyncapi'] as const
const current = (name: string): Json => JSON.parse(readFileSync(`docs/${name}.json`, 'utf8'))

type Operation = { requestBody: { content: Json } }

/** The webhooks of an OpenAPI document and the messages of an AsyncAPI document, with their media types. */
const messagesOf = ({ asyncapi, components, webhooks = {} }: Json): [name: string, content: Json][] => {
  if (asyncapi === undefined)
    return Object.entries(webhooks as Record<string, { post: Operation }>).map(([name, { post }]) => [
      name,
      post.requestBody.content,
    ])
  const names = Object.keys((components as { schemas: Json }).schemas)
  return names.map(name => [
    name,
    { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  ])
}

/** The document with its messages as responses, since stores read both; the tool knows neither webhooks nor AsyncAPI 3. */
const comparable = (document: Json) => {
  const { asyncapi, channels = {}, webhooks, paths, ...rest } = document
  const received = [
    ...messagesOf(document),
    ...Object.keys(channels as Json).map(name => [name, {}] as const),
  ]
  const operations = received.map(([name, content]) => [
    `/${name}`,
    { get: { responses: { 200: { description: '', content } } } },
  ])
  return { openapi: '3.1.0', ...rest, paths: { ...(paths as Json), ...Object.fromEntries(operations) } }
}

/** The breaking changes, unless the document has a new major version. */
const breakingChanges = (before: Json, after: Json): string[] => {
  const major = ({ info }: Json) => Number.parseInt((info as { version: string }).version, 10)
  if (major(after) > major(before)) return []
  return apiDiff(comparable(before), comparable(after)).flatMap(({ type, action, path, description }) => {
    // The tool compares a schema once where it is used, and once more among the components, as if stores sent it.
    if (path[0] === 'components' && path[1] === 'schemas') return []
    // A store may read an optional field.
    const isRead = action === 'remove' && path.includes('responses') && path.at(-2) === 'properties'
    return type === 'breaking' || isRead ? [description || path.join('/')] : []
  })
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

type Schema = { properties: Json; required: string[] }

/** A document with another version of one of its schemas. */
const withSchema = (file: string, name: string, change: (schema: Schema) => Partial<Schema>): Json => {
  const document = current(file)
  const { schemas } = document.components as { schemas: Record<string, Schema> }
  const schema = schemas[name] as Schema
  schemas[name] = { ...schema, ...change(schema) }
  return document
}

const add = ({ properties }: Schema) => ({ properties: { ...properties, added: { type: 'string' } } })
const addRequired = (schema: Schema) => ({ ...add(schema), required: [...schema.required, 'added'] })
const remove = (field: string) => (schema: Schema) => ({
  properties: Object.fromEntries(Object.entries(schema.properties).filter(([name]) => name !== field)),
  required: schema.required.filter(name => name !== field),
})
const makeOptional =
  (field: string) =>
  ({ required }: Schema) => ({ required: required.filter(name => name !== field) })
const makeRequired =
  (field: string) =>
  ({ required }: Schema) => ({ required: [...required, field] })

describe.each([
  ['a response', 'relay.openapi', 'Order', 'status', 'total'],
  ['a message of a feed', 'feeds.asyncapi', 'OrderUpdated', 'version', 'requests'],
  ['a webhook', 'openapi', 'Webhook', 'delivery', undefined],
])('%s', (_, file, name, required, optional) => {
  const changes = (change: Parameters<typeof withSchema>[2]) =>
    breakingChanges(current(file), withSchema(file, name, change)).join()

  test('may have new fields', () => {
    expect(changes(add)).toBe('')
    expect(changes(addRequired)).toBe('')
    if (optional !== undefined) expect(changes(makeRequired(optional))).toBe('')
  })

  test('keeps the fields that stores read', () => {
    expect(changes(remove(required))).toContain(required)
    expect(changes(makeOptional(required))).toContain('required')
    if (optional !== undefined) expect(changes(remove(optional))).toContain(optional)
  })
})

test('a request may have new optional fields, and needs no field that stores do not send', () => {
  const changes = (change: Parameters<typeof withSchema>[2]) =>
    breakingChanges(current('relay.openapi'), withSchema('relay.openapi', 'OrderRequest', change)).join()
  expect(changes(add)).toBe('')
  expect(changes(makeOptional('external_id'))).toBe('')
  expect(changes(addRequired)).toContain('added')
  expect(changes(makeRequired('customer'))).toContain('required')
})

test.each<[(typeof FILES)[number], string, string]>([
  ['openapi', 'paths /api/v1/orders/ post responses 201', 'Response 201'],
  ['relay.openapi', 'paths /api/v1/orders/{external_id}/refund/ delete', 'DELETE'],
  ['feeds.asyncapi', 'channels http', 'http'],
])('reports a breaking change in docs/%s.json: without %s', (name, path, named) => {
  const changed = current(name)
  const keys = path.split(' ')
  const last = keys.pop() ?? ''
  delete keys.reduce<Json>((inner, key) => inner[key] as Json, changed)[last]
  expect(breakingChanges(current(name), changed).join()).toContain(named)
  expect(breakingChanges(current(name), { ...changed, info: { version: '2.0.0' } })).toEqual([])
})
