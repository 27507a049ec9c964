import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import type { Body } from './body.ts'

/** An HTTP answer before it takes the shape that API Gateway wants. */
export type Answer = { status: number; body: object; headers?: Record<string, string> }

/** The body of a request as API Gateway hands it over. */
export const bodyOf = ({
  body,
  isBase64Encoded,
}: Pick<APIGatewayProxyEventV2, 'body' | 'isBase64Encoded'>): Body =>
  // serverless-offline says null where API Gateway says nothing.
  isBase64Encoded ? Buffer.from(body ?? '', 'base64') : (body ?? '')

export const reply = ({ status, body, headers }: Answer): APIGatewayProxyStructuredResultV2 => ({
  statusCode: status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
