import dns from 'node:dns'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { type LookupFunction, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { assertAllowed } from '../../lib/platform/addresses.ts'
import {
  headerOf,
  httpClient,
  type OutgoingRequest,
  retryAfterSeconds,
} from '../../lib/platform/http-client.ts'
import { listening } from '../support/server.ts'
import { until } from '../support/until.ts'

const closing: (() => Promise<void>)[] = []
afterEach(() => Promise.all(closing.splice(0).map(close => close())))

/** Starts a server; returns a client for it and the connection number of each received request. */
const serve = async (listener: RequestListener, assertAddress?: (address: string) => void) => {
  const sockets: Socket[] = []
  const {
    server,
    url: origin,
    close,
  } = await listening((request, response) => {
    sockets.push(request.socket)
    listener(request, response)
  })
  closing.push(close)
  const client = httpClient(assertAddress)
  const request = (changes: Partial<OutgoingRequest> = {}) =>
    client({ method: 'POST', origin, path: '/', headers: {}, timeout: 20_000, ...changes })
  const connections = () => sockets.map(socket => [...new Set(sockets)].indexOf(socket))
  return { server, sockets, connections, origin, request }
}

describe('a request', () => {
  test('sends the given method, path, headers and body', async () => {
    let received: unknown
    const { request } = await serve(async (incoming, response) => {
      const { method, url, headers } = incoming
      received = { method, url, headers, body: await text(incoming) }
      response.writeHead(201, { 'x-answer': '1', 'set-cookie': ['a', 'b'] }).end('پاسخ')
    })
    const path = `/a/../b/%2E%2E/${encodeURIComponent('سفارش')}?x=%41`
    const sent = { method: 'PUT', headers: { 'x-name': 'value' }, body: 'بدنه' }
    const response = await request({ ...sent, path })
    const headers = { ...sent.headers, 'content-length': '8' }
    expect(received).toMatchObject({ ...sent, url: path, headers })
    expect(response).toMatchObject({ status: 201, text: 'پاسخ' })
    expect([headerOf(response, 'x-answer'), headerOf(response, 'set-cookie')]).toEqual(['1', undefined])
  })

  test('reuses its connection, and follows no redirect', async () => {
    const { connections, request } = await serve((_request, response) =>
      response.writeHead(307, { location: '/elsewhere' }).end(),
    )
    for (let count = 0; count < 3; count++) expect(await request()).toMatchObject({ status: 307 })
    expect(connections()).toEqual([0, 0, 0])
    await Promise.all([request(), request()])
    expect(connections().slice(3).sort()).toEqual([0, 1])
  })

  test('to an https URL begins with a TLS handshake', async () => {
    const { server, origin, request } = await serve(() => undefined)
    const failed = expect(request({ origin: origin.replace('http', 'https') })).rejects.toThrow()
    const [{ rawPacket }, socket] = await once(server, 'clientError')
    expect(rawPacket[0]).toBe(0x16)
    socket.destroy()
    await failed
  })
})

describe('a connection that is reset', () => {
  /** Resets the connection at these requests, numbered from 1. */
  const resetting = (...numbers: number[]) => {
    let count = 0
    return serve(async (request, response) => {
      count++
      if (numbers.includes(count)) return void request.socket.resetAndDestroy()
      response.end(await text(request))
    })
  }

  test('while idle is replaced by a new one, and the request is sent again', async () => {
    const { connections, request } = await resetting(3)
    await Promise.all([request(), request()])
    expect(await request({ body: 'again' })).toMatchObject({ status: 200, text: 'again' })
    expect(connections()).toEqual([0, 1, expect.any(Number), 2])
  })

  test('before the request is written is also replaced', async () => {
    const { connections, request } = await resetting()
    await request()
    const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
    const write = jest.spyOn(Socket.prototype, 'write').mockImplementationOnce(function (this: Socket) {
      return !this.destroy(broken)
    })
    expect(await request()).toMatchObject({ status: 200 })
    write.mockRestore()
    expect(connections()).toEqual([0, 1])
  })

  test('when it is new, or a second time, fails the request', async () => {
    const { sockets, request } = await resetting(1, 3, 4)
    await expect(request()).rejects.toMatchObject({ code: 'ECONNRESET' })
    await request()
    await expect(request()).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(sockets).toHaveLength(4)
  })
})

describe('a response', () => {
  test.each<[string, RequestListener, string]>([
    ['never begins', () => undefined, 'no complete response within 100 ms'],
    ['never ends', (_request, response) => void response.write('{'), 'no complete response within 100 ms'],
    [
      'is cut off',
      (_request, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('{')
        setImmediate(() => response.destroy())
      },
      'aborted',
    ],
  ])('that %s fails with a reason', async (_name, listener, message) => {
    const { request } = await serve(listener)
    await expect(request({ timeout: message === 'aborted' ? 20_000 : 100 })).rejects.toThrow(message)
  })

  test('is limited to 1 MiB, unless another limit is given', async () => {
    const body = 'x'.repeat(1024 * 1024 + 1)
    const { request } = await serve((_request, response) => response.end(body))
    await expect(request()).rejects.toThrow('the response is larger than 1048576 bytes')
    expect(await request({ maxBytes: body.length })).toMatchObject({ text: body })
  })

  test('with a short discarded body leaves the connection reusable', async () => {
    const { sockets, request } = await serve((_request, response) => response.end('x'.repeat(10_000)))
    await until(async () => {
      expect(await request({ maxBytes: 0 })).toMatchObject({ status: 200, text: '' })
      return new Set(sockets).size < sockets.length
    })
  })

  test('with a long discarded body is not awaited, and closes the connection', async () => {
    const { sockets, request } = await serve((_request, response) => {
      const more = () => !response.destroyed && response.write('x'.repeat(65_536), () => setImmediate(more))
      more()
    })
    // Before the timeout, which would also close it.
    expect(await request({ maxBytes: 0, timeout: 60_000 })).toMatchObject({ status: 200, text: '' })
    await until(() => sockets[0]?.destroyed === true)
  })
})

describe('the address of a feed', () => {
  const feed = async (allowed: 'public' | 'loopback') => {
    const reached = await serve(
      (_request, response) => response.end('reached'),
      address => assertAllowed(address, allowed),
    )
    const { port } = new URL(reached.origin)
    return (host: string) => reached.request({ origin: `http://${host}:${port}` })
  }

  test.each(['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]'])(
    '%s is only called locally',
    async host => {
      await expect((await feed('public'))(host)).rejects.toThrow('is not public')
      if (!host.startsWith('['))
        expect(await (await feed('loopback'))(host)).toMatchObject({ text: 'reached' })
    },
  )

  test('is not called when its name resolves to any internal address', async () => {
    const addresses = ['8.8.8.8', '127.0.0.1'].map(address => ({ address, family: 4 }))
    const answer = (...[, , callback]: Parameters<LookupFunction>) => callback(null, addresses)
    const call = await feed('public')
    const lookup = jest.spyOn(dns, 'lookup').mockImplementation(answer as typeof dns.lookup)
    await expect(call('shop.example')).rejects.toThrow('is not public')
    lookup.mockRestore()
  })
})

test.each([
  ['120', 120],
  ['0', 0],
  ['Thu, 01 Jan 1970 00:01:30 GMT', 60],
  ['Thu, 01 Jan 1960 00:00:00 GMT', 0],
  ['soon', undefined],
  [undefined, undefined],
])('parses Retry-After %p as %p seconds', (header, seconds) => {
  expect(retryAfterSeconds(header, 30_000)).toBe(seconds)
})
