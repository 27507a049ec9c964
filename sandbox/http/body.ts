import type { IncomingMessage } from 'node:http'
import { parseJson } from '../../lib/protocol/json.ts'
import { quoted, Refusal } from '../refusal.ts'

/** An order of 500 rows has about 60 KB. */
const LIMIT = 1024 * 1024

/** So much of a body that is refused is still read, for many clients hear an answer only after they have sent. */
const PATIENCE = 64 * 1024 * 1024

const tooLarge = () => new Refusal('too_large', `The body is larger than ${LIMIT} bytes`)

const read = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length <= LIMIT) chunks.push(chunk)
    if (length > PATIENCE) throw tooLarge()
  }
  if (length > LIMIT) throw tooLarge()
  return Buffer.concat(chunks)
}

const requireJson = ({ headers }: IncomingMessage) => {
  const type = headers['content-type']
  if (type !== undefined && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new Refusal('unsupported_content', `Content-Type is ${quoted(type)}: must be application/json`)
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new Refusal('unsupported_content', `Content-Encoding is ${quoted(encoding)}: must be none`)
  }
}

const decode = (bytes: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Refusal('malformed', 'The body is not UTF-8')
  }
}

const parse = (text: string): unknown => {
  try {
    return parseJson(text)
  } catch (error) {
    // Besides a SyntaxError, arrays nested ten thousand deep exhaust the stack.
    const reason = error instanceof SyntaxError ? error.message : 'nested too deep'
    throw new Refusal('malformed', `The body is not JSON: ${reason}`)
  }
}

/**
 * The JSON body of a request, its numbers exact; undefined when there is none.
 *
 * @throws Refusal when it is too large, not declared as JSON, or not JSON
 */
export const jsonBody = async (request: IncomingMessage): Promise<unknown> => {
  const bytes = await read(request)
  if (bytes.length === 0) return undefined
  requireJson(request)
  return parse(decode(bytes))
}
