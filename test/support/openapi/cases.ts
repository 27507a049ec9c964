import fc from 'fast-check'
import type { OpenApi, Operation, Schema } from './document.ts'
import { type ValueOptions, valuesOf } from './values.ts'

/** What the document says about a request; `open` if it is silent. */
type Verdict = 'valid' | 'invalid' | 'open' | 'unauthorized' | 'wrong method'

export type Case = {
  operation: Operation
  method: string
  /** Path and query. */
  target: string
  headers: Readonly<Record<string, string>>
  body: string | undefined
  verdict: Verdict
}

export type CaseOptions = Pick<ValueOptions, 'known'> & {
  key: string
  /** Documents that a request must also match to count as valid, such as the document of a service to which the request is forwarded. */
  judges?: readonly OpenApi[]
}

type Parameter = { in: string; name: string; text: string }
type Given = { parameters: readonly Parameter[]; body: string | undefined; type: string }

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']

const JSON_TYPE = 'application/json'

const typesOf = ({ type = [] }: Schema) => [type].flat()

/** A parameter as a value of its type. */
const typed = (schema: Schema, text: string): unknown =>
  !typesOf(schema).includes('string') && /^-?\d+$/.test(text) ? Number(text) : text

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** What a document says about a request. */
const verdictOf = (api: OpenApi, { method, path }: Operation, { parameters, body, type }: Given): Verdict => {
  const operation = api.operations.find(each => each.method === method && each.path === path)
  if (operation === undefined) return 'valid'
  for (const { schema, required, ...each } of operation.parameters) {
    const given = parameters.filter(({ name, in: place }) => name === each.name && place === each.in)
    // Documents do not say what an empty or a repeated parameter means.
    if (given.length > 1 || given.some(({ text }) => text === '')) return 'open'
    const [only] = given
    if (only === undefined ? required : api.errorsOf(schema, typed(schema, only.text)) !== undefined)
      return 'invalid'
  }
  const { requestBody } = operation
  if (requestBody === undefined) return 'valid'
  if (body === undefined) return requestBody.required ? 'invalid' : 'valid'
  const { schema } = requestBody.content[type] ?? {}
  return schema === undefined || api.errorsOf(schema, parsed(body)) !== undefined ? 'invalid' : 'valid'
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

const parametersOf = (operation: Operation, options: ValueOptions): fc.Arbitrary<Parameter[]> =>
  fc
    .tuple(
      ...operation.parameters.map(({ name, in: place, required, schema }) => {
        const text = valuesOf(schema, options, name)
          .map(textOf)
          // Other characters cannot be sent, and an empty segment is another path.
          .map(each => (place === 'header' ? each.replace(/[^\x20-\x7e]/g, '').trim() : each))
          .filter(each => place !== 'path' || each !== '')
        const times = fc.constantFrom(
          ...(required ? [1] : [0, 0, 0, 0, 1, 1, 1, 1, 1, place === 'query' ? 2 : 1]),
        )
        return times
          .chain(count => fc.array(text, { minLength: count, maxLength: count }))
          .map(texts => texts.map(each => ({ name, in: place, text: each })))
      }),
    )
    .map(all => all.flat())

const bodyOf = ({ requestBody }: Operation, options: ValueOptions) => {
  const { schema } = requestBody?.content[JSON_TYPE] ?? {}
  const none = fc.constant({ body: undefined, type: JSON_TYPE })
  if (schema === undefined) return none
  const json = valuesOf(schema, options).map(value => JSON.stringify(value))
  const body = (text: fc.Arbitrary<string>, type: string) => text.map(each => ({ body: each, type }))
  return fc.oneof(
    { weight: 30, arbitrary: body(json, JSON_TYPE) },
    { weight: 2, arbitrary: none },
    { weight: 1, arbitrary: body(fc.constantFrom('{', 'x', '{"a":1}}', '\u0000'), JSON_TYPE) },
    { weight: 1, arbitrary: body(json, 'text/plain') },
  )
}

/** A path with its parameters, and its query. */
export const targetOf = (path: string, parameters: readonly Parameter[]) => {
  const at = (place: string) => parameters.filter(each => each.in === place)
  const filled = at('path').reduce(
    (rest, { name, text }) => rest.replace(`{${name}}`, () => encodeURIComponent(text)),
    path,
  )
  const query = at('query').map(({ name, text }) => `${name}=${encodeURIComponent(text)}`)
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

/** Requests of an operation: valid and invalid ones, also without a key and with methods that its path does not have. */
export const casesOf = (operation: Operation, api: OpenApi, options: CaseOptions): fc.Arbitrary<Case> => {
  const { path, methods, isSecured } = operation
  const { key, judges = [] } = options
  const values = { ...options, schemas: api.schemas }
  const others = METHODS.filter(method => !methods.includes(method))
  const keys = fc.oneof(
    { weight: 30, arbitrary: fc.constant(key) },
    { weight: isSecured ? 1 : 0, arbitrary: fc.constantFrom(undefined, 'unknown') },
  )
  const request = fc
    .record({ key: keys, parameters: parametersOf(operation, values), content: bodyOf(operation, values) })
    .map(({ key: used, parameters, content: { body, type } }): Case => {
      const given = { parameters, body, type }
      const isJudgedInvalid = judges.some(judge => verdictOf(judge, operation, given) !== 'valid')
      const verdict = verdictOf(api, operation, given)
      const headers = parameters.filter(each => each.in === 'header').map(({ name, text }) => [name, text])
      return {
        operation,
        method: operation.method,
        target: targetOf(path, parameters),
        body,
        headers: {
          ...Object.fromEntries(headers),
          ...(body !== undefined && { 'content-type': type }),
          ...(isSecured && used !== undefined && { authorization: `Bearer ${used}` }),
        },
        verdict:
          isSecured && used !== key
            ? 'unauthorized'
            : verdict === 'valid' && isJudgedInvalid
              ? 'open'
              : verdict,
      }
    })
  const wrongMethod = fc
    .tuple(fc.constantFrom(...others), request)
    .map(([method, each]): Case => ({ ...each, method, body: undefined, verdict: 'wrong method' }))
  return fc.oneof({ weight: 20, arbitrary: request }, { weight: 1, arbitrary: wrongMethod })
}
