import type { HttpBindings } from '@hono/node-server'
import { DEFAULT_SOURCE, type OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Context } from 'hono'
import * as v from 'valibot'
import type { Sender } from '../delivery/sender.ts'
import type { Faults } from '../faults.ts'
import type { SchemaName } from '../openapi/schemas.ts'
import { quoted, refusedField, valid } from '../refusal.ts'
import { nonEmptyText } from '../requests.ts'
import type { Store } from '../store/open.ts'

/** Who may call: any key, a key with the scope `orders.write`, or any program on this machine. */
export type Access = 'read' | 'write' | 'local'

/** The dependencies of the endpoints; `stopping` ends the event streams. */
export type Services = { store: Store; sender: Sender; faults: Faults; stopping: AbortSignal }

export type Environment = { Bindings: HttpBindings }

/** A request; `body` is the parsed JSON, undefined when the request has no body. */
export type EndpointRequest = Services & {
  context: Context<Environment>
  parameters: Record<string, string>
  query: URLSearchParams
  body: unknown
}

export type Route = {
  /** Its `operationId`, if it is documented. */
  id?: string
  method: 'get' | 'post' | 'put' | 'delete'
  /** In the form of OpenAPI, such as `/orders/{id}/`. */
  path: string
  access: Access
  /** Returns the JSON of a 200 response, or a Response. */
  handle: (request: EndpointRequest) => object | Promise<object>
}

/** A route and its documentation: one description serves both the router and the OpenAPI document. */
export type Endpoint = Route & {
  id: string
  summary: string
  description?: string
  /** Query parameters and their schemas. */
  query?: v.ObjectEntries
  body?: { forms: readonly SchemaName[]; required: boolean }
  /** Successful responses by status. */
  answers: Record<number, { schema?: SchemaName; type?: string; when: string }>
  /** Refusals by status, if they differ from the generated ones. */
  refusals?: Record<number, string>
  /** A request that succeeds on a new sandbox after the examples of the preceding endpoints. */
  example?: { path?: Record<string, string>; query?: string; body?: unknown }
}

type About = Omit<Endpoint, 'method' | 'path' | 'id' | 'summary' | 'access'>

/** Creates endpoints for callers with this access, by method. */
export const endpointsFor = (access: Access) => {
  const of = (method: Route['method']) => (path: string, id: string, summary: string, about: About) => ({
    method,
    path,
    id,
    access,
    summary,
    ...about,
  })
  return { get: of('get'), post: of('post'), put: of('put'), remove: of('delete') }
}

/**
 * The JSON body of an endpoint.
 *
 * @param schema validates the body; the body may be missing when the schema is optional
 * @param forms the schemas that document it
 */
export const accepts = <Schema extends v.GenericSchema>(
  schema: Schema,
  forms: readonly SchemaName[],
  handle: (body: v.InferOutput<Schema>, request: EndpointRequest) => ReturnType<Route['handle']>,
): Pick<Endpoint, 'body' | 'handle'> => ({
  body: { forms, required: schema.type !== 'optional' },
  handle: request => handle(valid(schema, request.body), request),
})

/**
 * A value that may be in the query or in the body.
 *
 * @throws Refusal when both have it, or the query has it twice, with different values
 */
export const either = (name: string, query: URLSearchParams, inBody: string | null | undefined) => {
  const values = new Set([...query.getAll(name), ...(inBody == null ? [] : [inBody])])
  if (values.size <= 1) return [...values][0]
  const found = [...values].map(quoted).join(' and ')
  throw refusedField(name, `is ${found}: query and body must agree`)
}

const sourceQuery = v.object({ source: v.optional(nonEmptyText, DEFAULT_SOURCE) })

/** The query of every endpoint whose path has an `external_id`. */
export const SOURCE = sourceQuery.entries

/** The order of a request: `external_id` in the path, `source` in the query or body (spec: Endpoints). */
export const keyOf = ({ parameters, query }: EndpointRequest, inBody?: string | null): OrderKey => ({
  external_id: parameters.external_id ?? '',
  source: valid(sourceQuery, { source: either('source', query, inBody) }).source,
})
