import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import type { Body } from '../protocol/json.ts'

/** A response before its conversion for API Gateway; a string body is already JSON. */
export type HttpResponse = { status: number; body: object | string; headers?: Record<string, string> }

/** The body of a request as API Gateway passes it. */
export const bodyOf = ({
  body = '',
  isBase64Encoded,
}: Pick<APIGatewayProxyEventV2, 'body' | 'isBase64Encoded'>): Body =>
  isBase64Encoded ? Buffer.from(body, 'base64') : body

/** A response in the shape that API Gateway expects. */
export const toApiGateway = ({ status, body, headers }: HttpResponse): APIGatewayProxyStructuredResultV2 => ({
  statusCode: status,
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

/** An error response; the spec leaves its body open. */
export const errorResponse = (
  status: number,
  code: string,
  message: string,
  { field, headers }: { field?: string; headers?: Record<string, string> } = {},
): HttpResponse & { body: object } => ({
  status,
  body: { error: { code, message, ...(field !== undefined && { field }) } },
  ...(headers !== undefined && { headers }),
})

/**
 * Nothing was accepted; the client must retry.
 *
 * @param retryAfter seconds
 */
export const unavailable = (message: string, retryAfter = 5) =>
  errorResponse(503, 'unavailable', message, { headers: { 'retry-after': String(retryAfter) } })
