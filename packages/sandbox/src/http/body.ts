import type { IncomingMessage } from 'node:http'
import { parseJson } from '@order-relay/lib/protocol/json.ts'
import { quoted, Refusal } from '../refusal.ts'

/** An order of 500 rows has about 60 KB. */
const MAX_BYTES = 1024 * 1024

/** How much of an oversized body is still read, because many clients send all of it before they read. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024

const read = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length <= MAX_BYTES) chunks.push(chunk)
    if (length > MAX_DISCARDED_BYTES) break
  }
  if (length > MAX_BYTES) throw new Refusal('too_large', `The body is larger than ${MAX_BYTES} bytes`)
  return Buffer.concat(chunks)
}

const requireJson = ({ headers }: IncomingMessage) => {
  const type = headers['content-type']
  if (type && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new Refusal('unsupported_content', `Content-Type is ${quoted(type)}: must be application/json`)
  }
  const encoding = headers['content-encoding']
  if (encoding && encoding !== 'identity') {
    throw new Refusal('unsupported_content', `Content-Encoding is ${quoted(encoding)}: must be none`)
  }
}

const problemOf = (error: unknown) => {
  if (error instanceof SyntaxError) return `not JSON: ${error.message || 'a number is too long'}`
  // Arrays nested ten thousand levels deep exhaust the stack.
  return error instanceof RangeError ? 'not JSON: nested too deep' : 'not UTF-8'
}

/**
 * The JSON body of a request, undefined if it is empty. Unlike `Request.json()`, it keeps numbers exact.
 *
 * @throws Refusal when the body is too large, not declared as JSON, or not JSON
 */
export const jsonBody = async (request: IncomingMessage): Promise<unknown> => {
  const bytes = await read(request)
  if (bytes.length === 0) return undefined
  requireJson(request)
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw new Refusal('malformed', `The body is ${problemOf(error)}`)
  }
}
