import { once } from 'node:events'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import * as v from 'valibot'
import { type Case, type CaseOptions, casesOf, targetOf } from './cases.ts'
import { type OpenApi, type Operation, readOpenApi } from './document.ts'

type Reply = { status: number; headers: IncomingHttpHeaders; body: string }

/** A difference between the document and the server, with the shortest request that shows it. */
export type Mismatch = { operation: string; found: string; request: string; reply: string }

/**
 * Whether a mismatch is expected.
 *
 * @param read reads what the request is about; undefined if the document has no such operation
 */
export type Exception = (
  found: string,
  each: Case,
  reply: Reply,
  read: () => Promise<Reply | undefined>,
) => boolean | Promise<boolean>

export type TesterOptions = Omit<CaseOptions, 'judges'> & {
  document: object
  /** Address of the server. */
  url: string
  /** Requests of all operations together. */
  runs: number
  /** The same requests again. */
  seed: number
  only?: (operation: Operation) => boolean
  /** Documents that a request must also match to count as valid. */
  judges?: readonly object[]
  exceptions?: readonly Exception[]
}

/** Requests in flight. */
const CONCURRENCY = 8

/** Headers of HTTP itself, which documents do not list. */
const USUAL_HEADERS =
  /^(allow|cache-control|connection|content-disposition|content-length|content-type|date|keep-alive|transfer-encoding|vary|www-authenticate|x-content-type-options|accept-ranges)$/

const send = async (url: string, { method, target, headers, body }: Case, agent: Agent): Promise<Reply> => {
  const { hostname, port } = new URL(url)
  const length = body !== undefined && { 'content-length': Buffer.byteLength(body) }
  const sent = request({ hostname, port, agent, method, path: target, headers: { ...headers, ...length } })
  sent.end(body)
  const [incoming] = await once(sent, 'response')
  const reply = { status: incoming.statusCode, headers: incoming.headers }
  if (String(incoming.headers['content-type']).startsWith('text/event-stream')) {
    incoming.destroy()
    return { ...reply, body: '' }
  }
  return { ...reply, body: await text(incoming) }
}

const sorted = (names: readonly string[]) => names.toSorted().join(', ')

const jsonOf = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const escaped = (name: string) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))

/** How a response differs from the documented ones. */
const undocumented = (
  { path, method, responses }: Operation,
  { status, headers, body }: Reply,
  errorsOf: OpenApi['errorsOf'],
): string[] => {
  const documented = responses[status]
  if (documented === undefined) return [`status ${status} is not documented`]
  const found = Object.keys(headers)
    .filter(name => !USUAL_HEADERS.test(name))
    .filter(name => !Object.keys(documented.headers).some(each => each.toLowerCase() === name))
    .map(name => `header ${name} of ${status} is not documented`)
  for (const [name, { schema }] of Object.entries(documented.headers)) {
    const value = headers[name.toLowerCase()]
    const error = value && errorsOf(schema, schema.type === 'integer' ? Number(value) : value)
    if (error) found.push(`header ${name} of ${status}: ${error}`)
  }
  if (method === 'HEAD' || body === '') {
    const isExpected = documented.content !== undefined && method !== 'HEAD'
    const isStream = 'text/event-stream' in (documented.content ?? {})
    return isExpected && !isStream && headers['content-length'] === '0'
      ? [...found, `${status} has no body`]
      : found
  }
  const [type = ''] = headers['content-type']?.split(';') ?? []
  const media = documented.content?.[type]
  if (media === undefined) return [...found, `content type ${type} of ${status} is not documented`]
  if (media.schema === undefined) return found
  const at = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content', type, 'schema']
  const error = errorsOf(`/${at.map(escaped).join('/')}`, jsonOf(body))
  // Without the indexes, in which equal mismatches differ.
  return error === undefined ? found : [...found, `body of ${status}: ${error.replace(/\/\d+/g, '/*')}`]
}

const REFUSED_AS_INVALID = /^\{"error":\{"code":"(invalid|malformed|too_large|unsupported_content)"/

/** How the response to a case differs from the document. */
const mismatchesOf = (each: Case, reply: Reply, errorsOf: OpenApi['errorsOf']): string[] => {
  const { status, headers, body } = reply
  const { operation, verdict } = each
  if (verdict === 'wrong method') {
    if (status !== 405) return [`${each.method} is not documented: answered ${status}`]
    const [allowed, documented] = [headers.allow?.split(/, */) ?? [], operation.methods].map(sorted)
    return allowed === documented ? [] : [`Allow is ${allowed}: documented are ${documented}`]
  }
  const found = undocumented(operation, reply, errorsOf)
  if (status >= 500) found.push(`server error ${status}`)
  if (verdict === 'unauthorized' && status !== 401) found.push(`answered ${status} without a valid key`)
  if (verdict === 'invalid' && status < 400) found.push(`an invalid request is answered ${status}`)
  if (verdict === 'valid' && status >= 400 && status < 500 && REFUSED_AS_INVALID.test(body))
    found.push(`a valid request is refused with ${status}`)
  return found
}

/** The read of what a request has created or is to create, if the document has one. */
const readOf = (
  { operation: { path, method }, verdict, headers: { authorization = '' } }: Case,
  { status, body }: Reply,
  { operations }: OpenApi,
): Case | undefined => {
  if (method !== 'POST' || (status !== 201 && status !== 202)) return undefined
  const operation = operations.find(each => each.method === 'GET' && each.path.startsWith(`${path}{`))
  const created = v.parse(v.record(v.string(), v.unknown()), jsonOf(body))
  return (
    operation && {
      operation,
      method: 'GET',
      headers: { authorization },
      body: undefined,
      verdict,
      target: targetOf(
        operation.path,
        operation.parameters.map(({ name, in: place }) => ({ name, in: place, text: String(created[name]) })),
      ),
    }
  )
}

const shown = ({ method, target, headers, body }: Case) =>
  `${method} ${target} ${JSON.stringify(headers)} ${body ?? ''}`

/**
 * Sends requests that are made from an OpenAPI document, valid and invalid ones, and compares the responses with it:
 * statuses, media types, bodies and headers are documented, invalid requests are refused and valid ones are not,
 * methods without documentation get a 405 whose `Allow` has the documented ones, a request without a key gets a 401, and
 * what was created can be read.
 */
export const testOpenApi = async (options: TesterOptions) => {
  const { document, url, runs, seed, only = () => true, exceptions = [], judges = [] } = options
  const api = readOpenApi(document)
  const operations = api.operations.filter(only)
  const judging = { ...options, judges: judges.map(readOpenApi) }
  const cases = fc.sample(fc.oneof(...operations.map(each => casesOf(each, api, judging))), {
    numRuns: runs,
    seed,
  })

  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })
  const mismatches = new Map<string, Mismatch>()
  const succeeded = new Set<string>()
  const check = async (each: Case) => {
    const { operationId } = each.operation
    const reply = await send(url, each, agent).catch(error => ({
      status: 0,
      headers: {},
      body: String(error),
    }))
    if (reply.status >= 200 && reply.status < 300) succeeded.add(operationId)
    const reading = readOf(each, reply, api)
    const read = async () => reading && (await send(url, reading, agent))
    const isLost = reply.status === 201 && ((await read())?.status ?? 0) >= 300
    for (const found of [...mismatchesOf(each, reply, api.errorsOf), ...(isLost ? ['cannot be read'] : [])]) {
      const covered = await Promise.all(exceptions.map(covers => covers(found, each, reply, read)))
      if (covered.includes(true)) continue
      const key = `${operationId} ${found}`
      const request = shown(each)
      if (request.length < (mismatches.get(key)?.request.length ?? Number.POSITIVE_INFINITY))
        mismatches.set(key, {
          operation: operationId,
          found,
          request,
          reply: `${reply.status} ${reply.body.slice(0, 300)}`,
        })
    }
  }
  // The workers take from one iterator.
  const queue = cases.values()
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const each of queue) await check(each)
    }),
  )
  agent.destroy()
  return {
    seed,
    mismatches: [...mismatches.values()],
    /** The operations without any success. */
    unsuccessful: operations.map(each => each.operationId).filter(id => !succeeded.has(id)),
  }
}
