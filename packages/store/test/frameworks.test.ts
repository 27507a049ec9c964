import type { RequestListener } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterEach, expect, test } from '@jest/globals'
import { listening } from '@order-relay/test-support/server.ts'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { createReceiver, fastifyHandler, fetchHandler, nodeHandler } from '../src/index.ts'
import { orderUpdated, signedRequest } from '../src/testing.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

type Receive = ReturnType<typeof createReceiver>
/** A handler that any framework may call, as in plain JavaScript. */
type Handler = (first: unknown, second?: unknown) => never
type Send = (request: Request) => Promise<Response>

const HANDLERS = {
  fetchHandler,
  nodeHandler,
  fastifyHandler,
  receive: (receive: Receive) => receive,
} as Record<string, unknown> as Record<string, (receive: Receive) => Handler>

const sendingTo =
  (url: string): Send =>
  async request =>
    fetch(`${url}/webhook`, {
      method: 'POST',
      headers: request.headers,
      body: await request.text(),
      signal: AbortSignal.timeout(5000),
    })
const listen = async (listener: RequestListener): Promise<Send> => {
  const { url, close } = await listening(listener)
  closing.push(close)
  return sendingTo(url)
}

const NODE = 'the request and response of node:http or Express; use nodeHandler(receive)'
const FASTIFY = 'the request and reply of Fastify; use fastifyHandler(receive)'
const REQUEST = 'a Request; use fetchHandler(receive)'
const HONO = 'the context of Hono; use c => fetchHandler(receive)(c.req.raw)'
const LAMBDA = 'an event of AWS Lambda; call receive(event.headers, body)'

/** How each framework calls a handler, and what an error says about it. */
const FRAMEWORKS: Record<string, [serve: (handler: Handler) => Promise<Send>, error: string]> = {
  'node:http': [listen, NODE],
  Express: [async handler => listen(express().post('/webhook', handler)), NODE],
  'Express behind express.json()': [
    async handler => listen(express().use(express.json()).post('/webhook', handler)),
    NODE,
  ],
  Fastify: [
    async handler => {
      const app = fastify()
      app.post('/webhook', handler)
      closing.push(() => app.close())
      return sendingTo(await app.listen({ host: '127.0.0.1', port: 0 }))
    },
    FASTIFY,
  ],
  'a route handler of Next.js': [async handler => async request => handler(request, { params: {} }), REQUEST],
  Hono: [
    async handler => {
      const app = new Hono().post('/webhook', handler).onError(error => {
        throw error
      })
      return async request => app.fetch(request)
    },
    HONO,
  ],
  'AWS Lambda': [
    async handler => async request => {
      const headers = Object.fromEntries(request.headers)
      return handler({ headers, body: await request.text(), requestContext: {} }, { awsRequestId: '1' })
    },
    LAMBDA,
  ],
}

/** The handlers that a framework must not call. */
const CORRECT: Record<string, string> = {
  [NODE]: 'nodeHandler',
  [FASTIFY]: 'fastifyHandler',
  [REQUEST]: 'fetchHandler',
}
const MISTAKES = Object.entries(FRAMEWORKS).flatMap(([framework, [serve, error]]) =>
  Object.entries(HANDLERS)
    // The receiver has a separate error for a Request.
    .filter(([name]) => name !== CORRECT[error] && !(name === 'receive' && error === REQUEST))
    .map(([name, handlerOf]) => ({ framework, name, serve, handlerOf, error })),
)

const receiving = () => {
  const errors: unknown[] = []
  const handle = () => expect('handled').toBe('not handled')
  const receive = createReceiver({ secrets: 'secret', handle, onError: error => errors.push(error) })
  return { errors, receive }
}
const signed = () => signedRequest('http://store.test/webhook', orderUpdated({ external_id: '1' }), 'secret')

test.each(MISTAKES)(
  '$framework: $name ends the request with an error that names the right handler',
  async mistake => {
    const { name, serve, handlerOf, error } = mistake
    const { errors, receive } = receiving()
    const send = await serve(handlerOf(receive))
    const expected = `Cannot receive the message: ${name} was called with ${error}`
    const answer = await send(await signed()).then(
      async response => ({
        status: response.status,
        body: await response.json(),
        errors: errors.map(String),
      }),
      String,
    )
    const named = expect.stringContaining(expected)
    // A framework that passes no response answers 500 to a rejected promise.
    const isAnswered = error === NODE || error === FASTIFY
    expect(answer).toEqual(isAnswered ? { status: 500, body: { error: named }, errors: [named] } : named)
  },
)

test.each(['fetchHandler', 'nodeHandler', 'fastifyHandler'])(
  '%s says how to call the receiver from an unknown framework',
  async name => {
    const called = async () => HANDLERS[name]?.(receiving().receive)({ headers: {} }, {})
    await expect(called()).rejects.toThrow(/ was called without .*; .* call receive\(headers, body\) /)
  },
)

const consumed = express().post(
  '/webhook',
  (request, _response, next) => void buffer(request).then(() => next(), next),
)
const UNREADABLE: [string, (receive: Receive) => Promise<Send>, string][] = [
  [
    'Express behind a middleware that consumes the body',
    async receive => listen(consumed.post('/webhook', nodeHandler(receive))),
    'already read: receive the raw bytes with nodeHandler: in Express, register its route before express.json()',
  ],
  [
    'Express behind express.json()',
    async receive => listen(express().use(express.json()).post('/webhook', nodeHandler(receive))),
    'parsed: receive the raw bytes with nodeHandler: in Express, register its route before express.json()',
  ],
  [
    'Fastify without a parser for raw bodies',
    async receive => {
      const app = fastify()
      app.post('/webhook', fastifyHandler(receive))
      closing.push(() => app.close())
      return sendingTo(await app.listen({ host: '127.0.0.1', port: 0 }))
    },
    'parsed: for fastifyHandler, add a content type parser with parseAs "buffer"',
  ],
  [
    'a Request whose body was read',
    async receive => async request => {
      await request.text()
      return fetchHandler(receive)(request)
    },
    'already read: pass the Request to fetchHandler before anything reads its body',
  ],
]

test.each(UNREADABLE)('%s: the response and the error name the remedy', async (_name, serve, error) => {
  const { errors, receive } = receiving()
  const send = await serve(receive)
  const answer = await send(await signed())
  const expected = `Cannot verify a body that was ${error}`
  expect(answer.status).toBe(500)
  expect(await answer.json()).toEqual({ error: expect.stringContaining(expected) })
  expect(errors.map(String)).toEqual([expect.stringContaining(expected)])
})
