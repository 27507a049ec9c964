import type { Access, Endpoint } from '../http/endpoint.ts'
import { orderEndpoints } from '../http/order-endpoints.ts'
import { panelEndpoints } from '../http/panel-endpoints.ts'
import { describe } from './descriptions.ts'
import { anyForm, type JsonSchema, jsonSchemas, parameterSchema } from './json-schema.ts'
import type { SchemaName } from './schemas.ts'

const DESCRIPTION = `A local implementation of the accounting service for development: the complete order synchronization
interface, and the actions of its accountant.

Money is whole rials. Numbers are read exactly, up to 40 digits with an exponent of at most 350, which includes every
double, and totals are strings of digits. Texts are well-formed Unicode: half of a surrogate pair is refused. In a list of the panel, an empty query parameter counts as missing.
Every refusal is a 4xx response with an \`Error\` that names the field, if one caused it.`

const ref = (schema: SchemaName) => ({ $ref: `#/components/schemas/${schema}` })

const content = (schema: JsonSchema) => ({ content: { 'application/json': { schema } } })

const BODY_REFUSALS = {
  400: 'The body is invalid.',
  413: 'The body is larger than 1 MiB.',
  415: 'The body is not declared as JSON.',
}

const ACCESS_REFUSALS: Record<Access, Record<number, string>> = {
  read: { 401: 'The key is missing or unknown.' },
  write: { 401: 'The key is missing or unknown.', 403: 'The key lacks the scope `orders.write`.' },
  local: { 403: 'The request is from another host or another web page.' },
}

/** The refusals by status; those that follow from the endpoint's access and input are added. */
const refusalsOf = ({ path, query, body, access, refusals }: Endpoint): Record<number, string> => ({
  ...(query && { 400: 'A parameter is invalid.' }),
  ...(body && BODY_REFUSALS),
  ...ACCESS_REFUSALS[access],
  ...(path.includes('{external_id}') && { 404: 'The order is not registered.' }),
  ...refusals,
})

/** The schema of a query parameter, with its example as a value of its type. */
const typed = (schema: JsonSchema, example: string | null) => ({
  schema,
  ...(example !== null && { example: schema.type === 'integer' ? Number(example) : example }),
})

const parametersOf = ({ path, id, query = {}, example }: Endpoint) => {
  const given = new URLSearchParams(example?.query)
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: describe(name),
    schema: { type: 'string' } as JsonSchema,
    ...(example?.path?.[name] !== undefined && { example: example.path[name] }),
  }))
  const inQuery = Object.entries(query).map(([name, schema]) => ({
    name,
    in: 'query',
    required: schema.type !== 'optional',
    description: describe(`${id}.${name}`),
    ...typed(parameterSchema(schema), given.get(name)),
  }))
  return [...inPath, ...inQuery]
}

const requestOf = ({ body, example }: Endpoint) => {
  if (body === undefined) return {}
  const media = {
    schema: anyForm(body.forms.map(ref)),
    ...(example?.body !== undefined && { example: example.body }),
  }
  return { requestBody: { required: body.required, content: { 'application/json': media } } }
}

const responsesOf = (endpoint: Endpoint) => {
  const successes = Object.entries(endpoint.answers).map(([status, { schema, type, when }]) => {
    const json = schema && content(ref(schema))
    return [status, { description: when, ...json, ...(type && { content: { [type]: {} } }) }] as const
  })
  const failures = Object.entries(refusalsOf(endpoint)).map(
    ([status, description]) => [status, { description, ...content(ref('Error')) }] as const,
  )
  return Object.fromEntries([...successes, ...failures])
}

const operationOf = (endpoint: Endpoint) => ({
  operationId: endpoint.id,
  tags: [endpoint.access === 'local' ? 'Accountant' : 'Orders'],
  summary: endpoint.summary,
  ...(endpoint.description && { description: endpoint.description }),
  parameters: parametersOf(endpoint),
  ...requestOf(endpoint),
  responses: responsesOf(endpoint),
  security: endpoint.access === 'local' ? [] : [{ key: [] }],
})

/** The tag of HEAD requests, which documentation pages show as a separate group. */
export const HEAD_TAG = { name: 'HEAD', description: 'Every GET request, without the body of its response.' }

type Read = { operationId: string; summary: string; responses: Readonly<Record<number, object>> }

/** The HEAD operation for a GET operation. */
export const headOf = <Get extends Read>(get: Get) => ({
  ...get,
  operationId: `head${get.operationId[0]?.toUpperCase()}${get.operationId.slice(1)}`,
  tags: [HEAD_TAG.name],
  summary: `${get.summary}: only the headers`,
  responses: Object.fromEntries(
    Object.entries(get.responses).map(([status, response]) => {
      const { content: _, ...rest } = { content: undefined, ...response }
      return [status, rest]
    }),
  ),
})

/** The schema with a description of every field, also inside arrays and alternatives. */
export const described = (schema: JsonSchema, path: string): JsonSchema => {
  const { properties = {}, items, anyOf = [] } = schema
  const fields = Object.entries(properties).map(([name, field]) => {
    const at = `${path}.${name}`
    return [name, typeof field === 'object' ? { ...described(field, at), description: describe(at) } : field]
  })
  return {
    ...schema,
    ...(fields.length > 0 && { properties: Object.fromEntries(fields) }),
    ...(typeof items === 'object' && !Array.isArray(items) && { items: described(items, path) }),
    ...(anyOf.length > 0 && {
      anyOf: anyOf.map(each => (typeof each === 'object' ? described(each, path) : each)),
    }),
  }
}

const webhook = {
  operationId: 'orderUpdated',
  tags: ['Webhook'],
  summary: 'An order changed inside the accounting service',
  description:
    'Signed: `X-Service-Signature: t=<unix time>,v1=<hex>`, where v1 is the HMAC-SHA256 of `<t>.<raw body>`, keyed with the secret of the registration. After the URL was registered again, that is the newest secret. Any 2xx response within 10 s accepts the delivery. Otherwise it is sent again after 5 s, 30 s, 2 min, 10 min, 1 h, 6 h and 24 h, with a new `t` and the same delivery identifier.',
  parameters: ['X-Service-Event', 'X-Service-Delivery', 'X-Service-Signature'].map(name => ({
    name,
    in: 'header',
    required: true,
    schema: { type: 'string' } as JsonSchema,
  })),
  requestBody: { required: true, ...content(ref('Webhook')) },
  responses: {
    '2XX': { description: 'Accepted.' },
    401: { description: 'The signature is invalid, malformed or outside the tolerance of 300 s.' },
  },
  security: [],
}

export const operations: readonly Endpoint[] = [...orderEndpoints, ...panelEndpoints]

/** The OpenAPI 3.1 document of the sandbox, from the endpoints and the schemas that validate their requests. */
export const openApi = (): object => {
  const paths: Record<string, Record<string, object>> = {}
  for (const each of operations) {
    const operation = operationOf(each)
    const head = each.method === 'get' && { head: headOf(operation) }
    paths[each.path] = { ...paths[each.path], [each.method]: operation, ...head }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Order Synchronization Service (sandbox)',
      version: '1.0.0',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [
      {
        name: 'Orders',
        description: 'The API for stores. Keys: `sandbox-key`, and `sandbox-read-key` for reading.',
      },
      { name: 'Accountant', description: 'The API of the panel: no key, from this machine only.' },
      { name: 'Webhook', description: 'The request that a registered URL receives.' },
      HEAD_TAG,
    ],
    paths,
    webhooks: { 'order.updated': { post: webhook } },
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(
        Object.entries(jsonSchemas()).map(([name, schema]) => [
          name,
          { ...described(schema, name), description: describe(name) },
        ]),
      ),
    },
  }
}
