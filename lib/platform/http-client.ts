import dns from 'node:dns'
import type { IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { hostOf } from './addresses.ts'
import { keptAgents } from './agents.ts'
import { traced } from './tracing.ts'

export type OutgoingRequest = {
  method: string
  /** Scheme, host and port. */
  origin: string
  /** Path and query, sent exactly as given: a URL parser would resolve an order named "..". */
  path: string
  headers: Readonly<Record<string, string>>
  body?: string | undefined
  /** How long the exchange may take, connection and body included, in milliseconds. */
  timeout: number
  /**
   * Maximum size of the response body in bytes; 0 discards the body unread.
   * @default 1 MiB
   */
  maxBytes?: number
}

export type IncomingResponse = {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
}

/** Sends one HTTP request. Does not follow redirects; rejects when there is no complete response. */
export type HttpClient = (request: OutgoingRequest) => Promise<IncomingResponse>

const ONE_MEBIBYTE = 1024 * 1024

/** Whether a kept connection was closed by the other side, or by a NAT gateway, while it was idle. */
const isStaleConnection = (reused: boolean, error: Error) =>
  reused && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')

/** A DNS lookup that fails when the name resolves to an address that `assertAddress` refuses. */
const checkedLookup =
  (assertAddress: (address: string) => void): LookupFunction =>
  (hostname, options, callback) =>
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null || first === undefined) return callback(error, '')
      try {
        for (const { address } of addresses) assertAddress(address)
      } catch (refused) {
        return callback(refused instanceof Error ? refused : new Error(String(refused)), '')
      }
      if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })

/**
 * An HTTP client that keeps connections open. A request that finds its kept connection reset is sent once
 * more on another one, since the reset says nothing about the receiver; everything the relay sends is safe to
 * repeat.
 *
 * @param assertAddress throws for an IP address that must not be called, whatever name resolves to it
 */
export const httpClient = (assertAddress: (address: string) => void = () => undefined): HttpClient => {
  const lookup = checkedLookup(assertAddress)
  const { http, https, httpAgent, httpsAgent } = keptAgents()

  const connect = (
    outgoing: OutgoingRequest,
    signal: AbortSignal,
    fresh: boolean,
  ): Promise<IncomingMessage> => {
    const { method, path, headers, body } = outgoing
    const url = new URL(outgoing.origin)
    const { protocol, port } = url
    const host = hostOf(url)
    // Node does not look up an address.
    assertAddress(host)
    const [scheme, keptAgent] = protocol === 'https:' ? [https, httpsAgent] : [http, httpAgent]
    const agent = fresh ? false : keptAgent
    return new Promise((resolve, reject) => {
      const request = scheme
        .request({ agent, protocol, host, port, lookup, method, path, headers, signal }, resolve)
        .on('error', error => {
          if (fresh || !isStaleConnection(request.reusedSocket, error)) return reject(error)
          connect(outgoing, signal, true).then(resolve, reject)
        })
      request.end(body)
    })
  }

  const exchange = async (request: OutgoingRequest, signal: AbortSignal): Promise<IncomingResponse> => {
    const { body, maxBytes = ONE_MEBIBYTE } = request
    const length: Record<string, string> =
      body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const headers = { ...request.headers, ...length }
    const response = await connect({ ...request, headers }, signal, false)
    const { statusCode: status = 0, headers: responseHeaders } = response
    // A short discarded body is read to the end so that the connection can be reused; a long one closes it.
    const limit = maxBytes === 0 ? 16_384 : maxBytes
    let size = 0
    response.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) response.destroy(new Error(`the response is larger than ${limit} bytes`))
    })
    const text = maxBytes === 0 ? '' : await readText(response)
    return { status, headers: responseHeaders, text }
  }

  const send: HttpClient = async request => {
    const signal = AbortSignal.timeout(request.timeout)
    try {
      return await exchange(request, signal)
    } catch (error) {
      // Node reports "The operation was aborted", which does not say why.
      throw signal.aborted ? new Error(`no complete response within ${request.timeout} ms`) : error
    }
  }

  return request =>
    traced(
      () => send(request),
      outcome => ({
        name: new URL(request.origin).host,
        namespace: 'remote',
        status: 'result' in outcome ? outcome.result.status : undefined,
        // The path may contain an order number or the secret part of a store's URL.
        request: { method: request.method, url: `${request.origin}/` },
      }),
    )
}

/** Whether a status is 2xx. */
export const isOk = (status: number): boolean => status >= 200 && status <= 299

/** The value of a response header that occurs once. */
export const headerOf = ({ headers }: IncomingResponse, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Seconds of a `Retry-After` header, which holds a number of seconds or a date. */
export const retryAfterSeconds = (header: string | undefined, now: number): number | undefined => {
  if (header === undefined) return undefined
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined
}
