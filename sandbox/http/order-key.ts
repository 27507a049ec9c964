import * as v from 'valibot'
import { DEFAULT_SOURCE, type OrderKey, source } from '../../lib/protocol/order.ts'
import { quoted, Refusal } from '../refusal.ts'
import { valid } from '../valid.ts'
import type { Call } from './router.ts'

/**
 * A value that may stand in the query or in the body.
 *
 * @throws Refusal when it stands in both, or twice in the query, with different values
 */
export const either = (name: string, query: URLSearchParams, inBody: string | null | undefined) => {
  const values = new Set([...query.getAll(name), ...(inBody == null ? [] : [inBody])])
  if (values.size <= 1) return [...values][0]
  const found = [...values].map(quoted).join(' and ')
  throw new Refusal('invalid', `Field "${name}" is ${found}: query and body must agree`, name)
}

const querySource = v.object({ source: v.optional(source, DEFAULT_SOURCE) })

/** Which order a call means: `external_id` in the path, `source` in query or body (spec: Endpoints). */
export const keyOf = ({ parameters, query }: Call, inBody?: string | null): OrderKey => ({
  external_id: parameters.external_id ?? '',
  source: valid(querySource, { source: either('source', query, inBody) }).source,
})
