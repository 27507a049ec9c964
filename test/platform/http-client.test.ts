import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from '@jest/globals'
import {
  headerOf,
  httpClient,
  type OutgoingRequest,
  retryAfterSeconds,
} from '../../lib/platform/http-client.ts'
import { addressOf } from '../support/address.ts'
import { until } from '../support/until.ts'

let server: Server | undefined

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** Starts a server, and returns a client of it with the sockets on which its requests arrived. */
const serve = async (listener: RequestListener) => {
  const sockets: Socket[] = []
  server = createServer((request, response) => {
    sockets.push(request.socket)
    listener(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = addressOf(server)
  const client = httpClient()
  const request = (changes: Partial<OutgoingRequest> = {}) =>
    client({ method: 'POST', origin, path: '/', headers: {}, timeout: 2000, ...changes })
  return { sockets, request }
}

/** The requests on their sockets: [first, first, second] says that the second request reused a connection. */
const connections = (sockets: Socket[]) => sockets.map(socket => [...new Set(sockets)].indexOf(socket))

describe('a request', () => {
  test('is sent as given: method, path, headers and body', async () => {
    let received: IncomingMessage | undefined
    let body = ''
    const { request } = await serve(async (incoming, response) => {
      received = incoming
      body = await text(incoming)
      response.writeHead(201, { 'x-answer': '1', 'set-cookie': ['a', 'b'] }).end('پاسخ')
    })
    const path = '/a/../b/%2E%2E/سفارش?x=%41'.replace('سفارش', encodeURIComponent('سفارش'))
    const response = await request({ method: 'PUT', path, headers: { 'x-name': 'value' }, body: 'بدنه' })
    expect(received).toMatchObject({
      method: 'PUT',
      url: path,
      headers: { 'x-name': 'value', 'content-length': '8' },
    })
    expect(body).toBe('بدنه')
    expect(response).toMatchObject({ status: 201, text: 'پاسخ' })
    expect([headerOf(response, 'x-answer'), headerOf(response, 'set-cookie')]).toEqual(['1', undefined])
  })

  test('reuses its connection', async () => {
    const { sockets, request } = await serve((_request, response) => response.end('ok'))
    for (let count = 0; count < 5; count++) await request()
    expect(connections(sockets)).toEqual([0, 0, 0, 0, 0])
  })

  test('does not follow a redirect', async () => {
    const { sockets, request } = await serve((_request, response) =>
      response.writeHead(307, { location: '/elsewhere' }).end(),
    )
    expect(await request()).toMatchObject({ status: 307 })
    expect(sockets).toHaveLength(1)
  })
})

describe('a connection that is reset', () => {
  /** Resets the connection at the requests with these numbers, from 1. */
  const resetting = (...numbers: number[]) => {
    let count = 0
    return serve(async (request, response) => {
      count++
      if (numbers.includes(count)) return void request.socket.resetAndDestroy()
      response.end(await text(request))
    })
  }

  test('while it was idle is replaced, and the request is sent again', async () => {
    const { sockets, request } = await resetting(2)
    expect(await request()).not.toHaveProperty('resent')
    expect(await request({ body: 'again' })).toMatchObject({ status: 200, text: 'again', resent: true })
    expect(connections(sockets)).toEqual([0, 0, 1])
  })

  test('when it is new fails the request', async () => {
    const { sockets, request } = await resetting(1)
    await expect(request()).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(sockets).toHaveLength(1)
  })

  test('a second time fails the request', async () => {
    const { sockets, request } = await resetting(2, 3)
    await request()
    await expect(request()).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(sockets).toHaveLength(3)
  })
})

describe('a response', () => {
  test.each<[string, RequestListener]>([
    ['never begins', () => undefined],
    ['never ends', (_request, response) => void response.write('{')],
  ])('that %s fails after the timeout, by its name', async (_name, listener) => {
    const { request } = await serve(listener)
    await expect(request({ timeout: 100 })).rejects.toThrow('no complete response within 100 ms')
  })

  test('that is cut off fails', async () => {
    const { request } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{')
      setImmediate(() => response.destroy())
    })
    await expect(request()).rejects.toThrow('aborted')
  })

  test('is limited to 1 MiB, unless another limit is given', async () => {
    const body = 'x'.repeat(1024 * 1024 + 1)
    const { request } = await serve((_request, response) => response.end(body))
    await expect(request()).rejects.toThrow('the response is larger than 1048576 bytes')
    expect(await request({ maxBytes: body.length })).toMatchObject({ text: body })
  })
})

describe('a response whose body is discarded', () => {
  test('leaves the connection usable when it is short', async () => {
    const { sockets, request } = await serve((_request, response) => response.end('x'.repeat(10_000)))
    await until(async () => {
      expect(await request({ maxBytes: 0 })).toMatchObject({ status: 200, text: '' })
      return new Set(sockets).size < sockets.length
    })
  })

  test('is not waited for, and ends the connection when it is long', async () => {
    const { sockets, request } = await serve((_request, response) => {
      const more = () => !response.destroyed && response.write('x'.repeat(65_536), more)
      more()
    })
    // Not by the timeout, which would end it as well.
    expect(await request({ maxBytes: 0, timeout: 60_000 })).toMatchObject({ status: 200, text: '' })
    await until(() => sockets[0]?.destroyed === true)
  })
})

test('a server that does not listen fails the request', async () => {
  const request = { method: 'GET', origin: 'http://127.0.0.1:1', path: '/', headers: {}, timeout: 1000 }
  await expect(httpClient()(request)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})

test.each([
  ['120', 120],
  ['0', 0],
  ['Thu, 01 Jan 1970 00:01:30 GMT', 90],
  ['Thu, 01 Jan 1960 00:00:00 GMT', 0],
  ['soon', undefined],
  [undefined, undefined],
])('Retry-After %p is %p seconds', (header, seconds) => {
  expect(retryAfterSeconds(header, 0)).toBe(seconds)
})
