import type { ErrorBody } from '../../lib/protocol/errors.ts'
import { Refusal, type RefusalCode } from '../refusal.ts'
import type { Answer } from './answer.ts'
import { MethodNotAllowed } from './router.ts'

const STATUS: Record<RefusalCode, number> = {
  malformed: 400,
  invalid: 400,
  unknown_sku: 400,
  no_customer: 400,
  outside_fiscal_years: 400,
  not_finalized: 400,
  no_receiving_account: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_content: 415,
}

const bodyOf = (code: string, message: string, field?: string): ErrorBody => ({
  error: { code, message, ...(field !== undefined && { field }) },
})

const headersOf = (refusal: Refusal): Record<string, string> => {
  if (refusal instanceof MethodNotAllowed) return { allow: refusal.allow }
  return refusal.code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}
}

/** The one place where an error becomes an answer. What is not a refusal is our own fault, and is logged. */
export const refused = (error: unknown): Answer => {
  if (error instanceof Refusal) {
    const { code, message, field } = error
    return { status: STATUS[code], json: bodyOf(code, message, field), headers: headersOf(error) }
  }
  console.error(error)
  return { status: 500, json: bodyOf('internal', 'The sandbox failed; its output says how') }
}
