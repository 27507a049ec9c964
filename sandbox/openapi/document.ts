import type { Access } from '../http/router.ts'
import type { Operation } from './operation.ts'
import { orderOperations } from './order-operations.ts'
import { panelOperations } from './panel-operations.ts'
import { type JsonSchema, jsonSchemas, type SchemaName } from './schemas.ts'
import { ABOUT, describe } from './words.ts'

const DESCRIPTION = `The accounting service with which the relay and its stores live in development: the order synchronization
interface, complete, and the actions of its accountant.

Money is whole rials. An amount may have any size: numbers are read exactly, totals are strings of digits.
Every refusal is a 4xx with an \`Error\` that names the field where there is one.`

const ref = (schema: SchemaName) => ({ $ref: `#/components/schemas/${schema}` })

const json = (schema: object) => ({ 'application/json': { schema } })

const refusal = (description: string) => ({ description, content: json(ref('Error')) })

/** The refusals that every endpoint of a kind has in common. */
const COMMON: Record<Access, Record<number, string>> = {
  read: { 401: 'No key, or an unknown one.' },
  write: { 401: 'No key, or an unknown one.', 403: 'The key lacks the scope `orders.write`.' },
  local: { 403: 'Not from this machine, or from another web page.' },
}

const BODY_REFUSALS = { 413: 'The body is larger than 1 MiB.', 415: 'The body is not declared as JSON.' }

const bodySchema = (body: Operation['body'] & {}) =>
  typeof body === 'string' ? ref(body) : { anyOf: body.map(ref) }

const parameter = (name: string, where: 'path' | 'query', description: string) => ({
  ...{ name, in: where, required: where === 'path', description },
  schema: { type: 'string' },
})

const parametersOf = ({ path, query = {} }: Operation) => [
  ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => parameter(name, 'path', describe(name))),
  ...Object.entries(query).map(([name, description]) => parameter(name, 'query', description)),
]

const exampleOf = ({ example, body }: Operation) =>
  body !== undefined && example?.body !== undefined ? { example: example.body } : {}

const responsesOf = ({ answers, refusals, access, body }: Operation) => ({
  ...Object.fromEntries(
    Object.entries(answers).map(([status, { schema, type, when }]) => {
      const content = schema
        ? json(ref(schema))
        : type
          ? { [type]: { schema: { type: 'string' } } }
          : undefined
      return [status, { description: when, ...(content && { content }) }]
    }),
  ),
  ...Object.fromEntries(
    Object.entries({ ...COMMON[access], ...(body && BODY_REFUSALS), ...refusals }).map(([status, when]) => [
      status,
      refusal(when),
    ]),
  ),
})

const operationOf = (operation: Operation) => {
  const { id, summary, description, access, body, bodyIsOptional } = operation
  const content = body && { 'application/json': { schema: bodySchema(body), ...exampleOf(operation) } }
  return {
    operationId: id,
    tags: [access === 'local' ? 'Accountant' : 'Orders'],
    summary,
    ...(description && { description }),
    parameters: parametersOf(operation),
    ...(content && { requestBody: { required: bodyIsOptional !== true, content } }),
    responses: responsesOf(operation),
    security: access === 'local' ? [] : [{ key: [] }],
  }
}

const pathsOf = (operations: readonly Operation[]) => {
  const paths: Record<string, Record<string, ReturnType<typeof operationOf>>> = {}
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationOf(operation) }
  }
  return paths
}

/** The schema with a description at every field. */
const described = (schema: JsonSchema, path: string): JsonSchema => {
  const { properties, items } = schema
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, each]) => {
          const at = `${path}.${name}`
          return [
            name,
            typeof each === 'object' ? { ...described(each, at), description: describe(at) } : each,
          ]
        }),
      ),
    }),
    ...(typeof items === 'object' && !Array.isArray(items) && { items: described(items, path) }),
    ...(schema.anyOf && {
      anyOf: schema.anyOf.map(each => (typeof each === 'object' ? described(each, path) : each)),
    }),
  }
}

const webhook = {
  post: {
    operationId: 'orderUpdated',
    tags: ['Webhook'],
    summary: 'An order changed inside the accounting system',
    description:
      'Signed: `X-Service-Signature: t=<unix time>,v1=<hex>`, where v1 is the HMAC-SHA256, keyed with the secret of the registration, of `<t>.<raw body>`. Any 2xx within 10 s takes it; else it is sent again after 5 s, 30 s, 2 min, 10 min, 1 h, 6 h and 24 h, with a new `t` and the same delivery.',
    parameters: ['X-Service-Event', 'X-Service-Delivery', 'X-Service-Signature'].map(name => ({
      ...{ name, in: 'header', required: true, schema: { type: 'string' } },
    })),
    requestBody: { required: true, content: json(ref('Webhook')) },
    responses: {
      '2XX': { description: 'Taken.' },
      401: { description: 'The signature is invalid, malformed or out of the tolerance of 300 s.' },
    },
    security: [],
  },
}

export type OpenApi = ReturnType<typeof openApi>

export const operations: readonly Operation[] = [...orderOperations, ...panelOperations]

/** The OpenAPI 3.1 document of the sandbox, from the schemas that validate its requests. */
export const openApi = () => ({
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
      description: 'What a store calls. Keys: `sandbox-key`, and `sandbox-read-key` to read.',
    },
    { name: 'Accountant', description: 'What the panel calls: no key, from this machine only.' },
    { name: 'Webhook', description: 'What a registered URL receives.' },
  ],
  paths: pathsOf(operations),
  webhooks: { 'order.updated': webhook },
  components: {
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    schemas: Object.fromEntries(
      Object.entries(jsonSchemas()).map(([name, schema]) => [
        name,
        { ...described(schema, name), description: ABOUT[name as SchemaName] },
      ]),
    ),
  },
})
