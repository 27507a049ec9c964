import type { Access } from '../http/router.ts'
import type { SchemaName } from './schemas.ts'

/** One endpoint as the document tells of it. */
export type Operation = {
  method: 'get' | 'post' | 'put' | 'delete'
  path: string
  id: string
  access: Access
  summary: string
  description?: string
  /** Query parameters and what they are. */
  query?: Record<string, string>
  body?: SchemaName | readonly SchemaName[]
  bodyIsOptional?: true
  /** Successful answers by status: the schema of the body, if there is one, and when it comes. */
  answers: Record<number, { schema?: SchemaName; type?: string; when: string }>
  /** Refusals by status, besides those of every endpoint. */
  refusals?: Record<number, string>
  /** A request that works on a new sandbox, after those of the operations before it. */
  example?: { path?: Record<string, string>; query?: string; body?: unknown }
}
