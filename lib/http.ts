import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'

/** An HTTP answer before it takes the shape that API Gateway wants. */
export type Answer = { status: number; body: object; headers?: Record<string, string> }

/** The raw bytes of a request's body: API Gateway hands binary types over as base64. */
export const bodyOf = ({ body, isBase64Encoded }: Pick<APIGatewayProxyEventV2, 'body' | 'isBase64Encoded'>) =>
  // serverless-offline says null where API Gateway says nothing.
  Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')

export const reply = ({ status, body, headers }: Answer): APIGatewayProxyStructuredResultV2 => ({
  statusCode: status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
