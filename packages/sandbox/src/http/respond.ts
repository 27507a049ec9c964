import type { ErrorBody } from '@order-relay/lib/protocol/errors.ts'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Refusal } from '../refusal.ts'
import type { Environment } from './endpoint.ts'

type Headers = Record<string, string>

/** A response with an explicit length: for HEAD, Hono drops the body before the adapter counts it. */
export const respondBytes = (
  context: Context<Environment>,
  status: ContentfulStatusCode,
  type: string,
  bytes: string | Uint8Array<ArrayBuffer>,
  headers: Headers = {},
): Response => {
  const length = String(Buffer.byteLength(bytes))
  return context.body(bytes, status, { ...headers, 'content-type': type, 'content-length': length })
}

export const respond = (
  context: Context<Environment>,
  status: ContentfulStatusCode,
  json: object,
  headers?: Headers,
): Response => respondBytes(context, status, 'application/json; charset=utf-8', JSON.stringify(json), headers)

/** The only place where an error becomes a response. Anything but a Refusal is a bug and is logged. */
export const refuse = (context: Context<Environment>, error: unknown, headers: Headers = {}): Response => {
  if (!(error instanceof Refusal)) {
    console.error(error)
    const message = 'The sandbox failed; see its output for the cause'
    return respond(context, 500, { error: { code: 'internal', message } } satisfies ErrorBody)
  }
  const { code, status, message, field } = error
  const body: ErrorBody = { error: { code, message, ...(field !== undefined && { field }) } }
  const challenge = code === 'unauthorized' && { 'www-authenticate': 'Bearer' }
  return respond(context, status, body, { ...headers, ...challenge })
}
