import type { IncomingMessage, ServerResponse } from 'node:http'

/** What a route answers: JSON, bytes of a type, nothing, or a stream that it writes itself. */
export type Answer = {
  status: number
  headers?: Record<string, string>
  json?: unknown
  content?: { type: string; bytes: Uint8Array | string }
  stream?: (response: ServerResponse) => void
}

export const ok = (json: unknown): Answer => ({ status: 200, json })

export const send = (answer: Answer, request: IncomingMessage, response: ServerResponse): void => {
  const { status, headers = {}, json, stream } = answer
  const content =
    json === undefined
      ? answer.content
      : { type: 'application/json; charset=utf-8', bytes: JSON.stringify(json) }
  const type = content && { 'content-type': content.type, 'content-length': Buffer.byteLength(content.bytes) }
  response.writeHead(status, { 'x-content-type-options': 'nosniff', ...headers, ...type })
  if (request.method === 'HEAD') response.end()
  else if (stream === undefined) response.end(content?.bytes)
  else stream(response)
}
