import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { FEED_TEST } from '@order-relay/lib/feeds/deliver.ts'
import { listening } from '@order-relay/test-support/server.ts'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { Webhook } from 'standardwebhooks'
import { fastifyHandler, fetchHandler, nodeHandler } from '../src/handlers.ts'
import type { FeedMessage } from '../src/messages.ts'
import { onceInMemory } from '../src/once.ts'
import { createReceiver, type Receive } from '../src/receive.ts'
import { sign } from '../src/signature.ts'
import { orderUpdated, requestChanged, signedRequest } from '../src/testing.ts'

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='

type Options = Parameters<typeof createReceiver>[0]
type Handle = Options['handle']
type Secrets = Options['secrets']

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const listen = async (listener: RequestListener) => {
  const { url, close } = await listening(listener)
  closing.push(close)
  return url
}

/** All kinds of receivers; each returns a function that sends it a request. */
const SERVERS: Record<string, (receive: Receive) => Promise<(request: Request) => Promise<Response>>> = {
  'Request and Response': async receive => fetchHandler(receive),
  Hono: async receive => {
    const app = new Hono().post('/webhook', ({ req }) => fetchHandler(receive)(req.raw))
    return async request => app.fetch(request)
  },
  'node:http': async receive => sendingTo(await listen(nodeHandler(receive))),
  Express: async receive =>
    sendingTo(await listen(express().post('/webhook', nodeHandler(receive)).use(express.json()))),
  'Express with express.raw': async receive =>
    sendingTo(await listen(express().post('/webhook', express.raw({ type: '*/*' }), nodeHandler(receive)))),
  Fastify: async receive => {
    const app = fastify()
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    app.post('/webhook', fastifyHandler(receive))
    closing.push(() => app.close())
    return sendingTo(await app.listen({ host: '127.0.0.1', port: 0 }))
  },
}

const sendingTo = (address: string) => async (request: Request) =>
  fetch(`${address}/webhook`, {
    method: request.method,
    headers: request.headers,
    body: new Uint8Array(await request.arrayBuffer()),
  })

const request = (message: FeedMessage, secrets: string | string[] = SECRET) =>
  signedRequest('http://store.test/webhook', message, secrets)

test.each(Object.entries(SERVERS))(
  '%s: handles each message once, and refuses messages that are not authentic',
  async (_name, serve) => {
    const handled: FeedMessage[] = []
    const send = await serve(receiving(message => handled.push(message)).receive)
    const message = orderUpdated({ external_id: 'سفارش 1' })
    const signed = await request(message)
    const forged = new Request(signed, { body: (await signed.clone().text()).replace('150', '950') })
    const sent = [await request(message), await request(message), await request(message, 'other'), forged]
    const statuses = []
    for (const each of sent) statuses.push((await send(each)).status)
    expect(statuses).toEqual([200, 200, 401, 401])
    expect(handled).toEqual([message])
  },
)

test.each(Object.entries(SERVERS))('%s: returns 413 for a body of more than 1 MiB', async (_name, serve) => {
  const send = await serve(receiving(ignore).receive)
  const body = 'a'.repeat(1024 * 1024 + 1)
  const signed = await request(orderUpdated({ external_id: '1' }))
  expect((await send(new Request(signed, { body }))).status).toBe(413)
})

test('maxBytes also applies to bodies that a framework has already read', async () => {
  const receive = createReceiver({ secrets: SECRET, handle: ignore, onError: ignore, maxBytes: 10 })
  const statusOf = async (body: string) =>
    (await fetchHandler(receive)(new Request('http://store.test/', { method: 'POST', body }))).status
  expect(await statusOf('0123456789')).toBe(401)
  expect(await statusOf('01234567890')).toBe(413)
  expect((await receive({}, Buffer.alloc(11))).status).toBe(413)
  // Twelve bytes in six characters.
  expect((await receive({}, 'سفارشی')).status).toBe(413)
})

test('fetchHandler answers 413 even if the rest of the body cannot be cancelled', async () => {
  const body = new ReadableStream({
    pull: controller => controller.enqueue(new Uint8Array(65_536)),
    cancel: () => Promise.reject(new Error('The connection is gone')),
  })
  const endless = new Request('http://store.test/', { method: 'POST', body, duplex: 'half' })
  expect((await fetchHandler(receiving(ignore).receive)(endless)).status).toBe(413)
})

test('fetchHandler stops reading at the limit, regardless of Content-Length', async () => {
  const [chunk, cancelled] = [new Uint8Array(65_536), Promise.withResolvers<void>()]
  let sent = 0
  const body = new ReadableStream({
    pull: controller => {
      sent += chunk.length
      controller.enqueue(chunk)
    },
    cancel: () => cancelled.resolve(),
  })
  const headers = { 'content-length': '2' }
  const endless = new Request('http://store.test/', { method: 'POST', headers, body, duplex: 'half' })
  expect((await fetchHandler(receiving(ignore).receive)(endless)).status).toBe(413)
  await cancelled.promise
  expect(sent).toBeLessThan(2 * 1024 * 1024)
})

test('fetchHandler keeps a body that arrives in single bytes in a buffer of its size', async () => {
  const [byte, count] = [new Uint8Array(1), 200_000]
  const before = process.memoryUsage.rss()
  let sent = 0
  const body = new ReadableStream({
    pull: controller => {
      if (sent === count) return controller.close()
      sent += 1
      controller.enqueue(byte)
    },
  })
  const single = new Request('http://store.test/', { method: 'POST', body, duplex: 'half' })
  expect((await fetchHandler(receiving(ignore).receive)(single)).status).toBe(401)
  expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024)
})

test('nodeHandler stops reading at the limit and closes the connection', async () => {
  const address = await listen(nodeHandler(receiving(ignore).receive))
  const client = connect(Number(new URL(address).port), '127.0.0.1').on('error', ignore)
  client.write('POST / HTTP/1.1\r\nhost: store.test\r\ntransfer-encoding: chunked\r\n\r\n')
  const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`
  const send = () => {
    while (client.writable && client.write(chunk));
  }
  client.on('drain', send)
  send()
  let response = ''
  client.on('data', text => {
    response += text
  })
  await new Promise(resolve => client.on('close', resolve))
  expect(response).toMatch(/^HTTP\/1\.1 413 .*\r\nconnection: close\r\n/is)
})

test('nodeHandler discards the rest of a body, so that a sender that reads only afterwards receives the 413', async () => {
  const { port } = new URL(await listen(nodeHandler(receiving(ignore).receive)))
  const client = connect({ port: Number(port), allowHalfOpen: true }).pause()
  const body = 'a'.repeat(4 * 1024 * 1024)
  const head = `POST / HTTP/1.1\r\nhost: store.test\r\ncontent-length: ${body.length}\r\n\r\n`
  await promisify(client.write.bind(client) as (sent: string, done: () => void) => void)(head + body)
  expect(await text(client)).toMatch(/^HTTP\/1\.1 413 .*\r\nconnection: close\r\n/is)
  client.destroy()
})

/** A receiver with this handler, and its errors. */
const receiving = (handle: Handle, secrets: Secrets = SECRET) => {
  const errors: unknown[] = []
  const receive = createReceiver({ secrets, handle, onError: error => errors.push(error) })
  return { receive, errors, send: async (sent: Request) => (await fetchHandler(receive)(sent)).status }
}
const ignore = () => undefined

test('reads the ArrayBuffer of a request, and its limit counts its bytes', async () => {
  const handled: FeedMessage[] = []
  const message = orderUpdated({ external_id: '1001' })
  const handle = (each: FeedMessage) => handled.push(each)
  const receive = createReceiver({ secrets: SECRET, handle, onError: ignore, maxBytes: 1000 })
  const signed = await request(message)
  const { headers } = signed
  expect(await receive(headers, await signed.arrayBuffer())).toEqual({ status: 200 })
  expect(handled).toEqual([message])
  expect((await receive(headers, new ArrayBuffer(1001))).status).toBe(413)
})

test.each([
  ['invoiced', ['posted', null, null, null]],
  ['paid', ['posted', 1, null, null]],
  ['refunded', ['posted', 1, 1, null]],
  ['needs_review', ['draft', null, null, 'The stock is insufficient']],
])('a message for tests has the fields of an order that is %s', (status, expected) => {
  const { data } = orderUpdated({ external_id: '1', status })
  const { status_display, invoice_status, receipt_number, return_number, error } = data
  expect(status_display).toBe(status)
  expect([invoice_status, receipt_number, return_number, error]).toEqual(expected)
})

test('a parsed body causes a clear error', async () => {
  const { receive, errors } = receiving(ignore)
  const app = express().use(express.json()).post('/webhook', nodeHandler(receive))
  const send = sendingTo(await listen(app))
  expect((await send(await request(orderUpdated({ external_id: '1' })))).status).toBe(500)
  expect(String(errors[0])).toContain('receive the raw bytes')
})

test('a Request that is passed to the receiver itself causes an error that names fetchHandler', async () => {
  const { receive, errors } = receiving(ignore)
  const received = await request(orderUpdated({ external_id: '1' }))
  expect((await receive(received as never, undefined)).status).toBe(500)
  expect((await receive(received.headers, received)).status).toBe(500)
  const error = 'Cannot receive a Request: pass it to a handler, as in fetchHandler(receive)(request)'
  expect(errors).toEqual([new TypeError(error), new TypeError(error)])
})

describe('a receiver', () => {
  test('handles the messages of an order in sequence, and different orders concurrently', async () => {
    const handled: string[] = []
    const [entered, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { send } = receiving(async ({ data, version }) => {
      entered.resolve()
      if (data.external_id === 'a') await gate.promise
      handled.push(`${data.external_id}${version}`)
    })
    const sending = async (message: FeedMessage) => send(await request(message))
    const first = orderUpdated({ external_id: 'a' }, 1)
    const sent = [sending(first)]
    await entered.promise
    sent.push(sending(first), sending(orderUpdated({ external_id: 'a' }, 2)))
    await sending(orderUpdated({ external_id: 'b' }, 7))
    expect(handled).toEqual(['b7'])
    gate.resolve()
    expect(await Promise.all(sent)).toEqual([200, 200, 200])
    expect(handled).toEqual(['b7', 'a1', 'a2'])
  })

  test('returns an error when the handler throws, so that the message is redelivered', async () => {
    let fails = true
    const { send, errors } = receiving(
      () => {
        if (fails) throw new Error('The database is unavailable')
      },
      async () => ['next', SECRET],
    )
    const message = orderUpdated({ external_id: '1' })
    expect(await send(await request(message, ['old', 'next']))).toBe(500)
    fails = false
    expect(await send(await request(message))).toBe(200)
    expect(errors).toEqual([new Error('The database is unavailable')])
  })

  test.each(['{', '{"event":"order.updated"}'])('returns 400 for the signed body %s', async body => {
    const headers = { 'x-service-signature': await sign(body, SECRET) }
    expect((await receiving(ignore).receive(headers, body)).status).toBe(400)
  })

  test('names the setting of a store whose messages have no version', async () => {
    const { version: _, cause: __, ...exact } = orderUpdated({ external_id: '1001' })
    const body = JSON.stringify(exact)
    const headers = { 'x-service-signature': await sign(body, SECRET) }
    const answer = await receiving(ignore).receive(headers, body)
    expect(answer).toMatchObject({
      status: 400,
      error: expect.stringMatching(/webhook of the accounting service.*verifySignature.*remove "exact"/),
    })
  })

  test('accepts the test message of the relay without handling it', async () => {
    const { send, errors } = receiving(() => expect('handled').toBe('not handled'))
    const message = { ...orderUpdated({ external_id: FEED_TEST }, 0), event: FEED_TEST }
    expect(await send(await request(message as FeedMessage))).toBe(200)
    expect(errors).toEqual([])
  })

  test('survives a client that disconnects while sending', async () => {
    const { receive, errors } = receiving(() => expect('handled').toBe('not handled'))
    const handle = nodeHandler(receive)
    const handled = Promise.withResolvers<void>()
    const address = await listen((message, response) => {
      handled.resolve(handle(message, response))
      client.destroy()
    })
    const client = connect(Number(new URL(address).port), '127.0.0.1').on('error', ignore)
    client.write(`POST / HTTP/1.1\r\nhost: store.test\r\ncontent-length: 9000000\r\n\r\n${'a'.repeat(100)}`)
    await expect(handled.promise).resolves.toBeUndefined()
    expect(errors).toEqual([])
  })

  test('logs one line for a request without a valid signature', async () => {
    const error = jest.spyOn(console, 'error').mockImplementation(ignore)
    const receive = createReceiver({ secrets: SECRET, handle: ignore })
    expect((await receive({}, '{}')).status).toBe(401)
    expect(error.mock.calls).toEqual([[expect.stringMatching(/^Cannot verify the signature: [^\n]*$/)]])
    error.mockRestore()
  })

  test('accepts only POST', async () => {
    expect(await receiving(ignore).send(new Request('http://store.test/'))).toBe(405)
  })
})

test('the Standard Webhooks library verifies requests of the testing module, including during a rotation', async () => {
  const message = requestChanged('rejected', { external_id: '1', error: { status: 404, message: 'none' } })
  for (const secrets of [SECRET, ['a text', 'whsec_c2VjcmV0', SECRET]]) {
    const signed = await request(message, secrets)
    const headers = Object.fromEntries(signed.headers)
    expect(new Webhook(SECRET).verify(await signed.text(), headers)).toEqual(message)
  }
  expect((await request(message, 'a text')).headers.has('webhook-signature')).toBe(false)
})

test('a message is not acknowledged if once does not say whether it was handled', async () => {
  const errors: unknown[] = []
  const receive = createReceiver({
    secrets: 'secret',
    handle: () => undefined,
    // Plain JavaScript may omit the result.
    once: (async () => undefined) as unknown as ReturnType<typeof onceInMemory>,
    onError: error => errors.push(error),
  })
  const request = await signedRequest('https://shop.example/', orderUpdated({ external_id: '1' }), 'secret')
  expect(await receive(request.headers, await request.text())).toMatchObject({ status: 500 })
  expect(String(errors[0])).toContain('the result of once is undefined; it must be true or false')
})

test('handles every message of the current version, and none of an older version', async () => {
  const once = onceInMemory()
  const isNew = (message: FeedMessage) => once(message, () => undefined)
  const data = { source: 'shop', external_id: '1', status: 'paid' }
  const cause = { event: 'order.check', delivery: 'c' }
  const messages = ['2a', '2b', '2a', '1c', '4d', '2b'].map(([version, delivery = '']) =>
    isNew({ event: 'order.updated', version: Number(version), delivery, cause, data }),
  )
  expect(await Promise.all(messages)).toEqual([true, true, false, false, true, false])
})
