import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { HOST, urlOf } from '../../local/settings.ts'
import { portOf } from '../support/address.ts'
import { type Fault, type Faults, type Link, notifiesStore } from './faults.ts'
import { deliveryIn, type Journal } from './journal.ts'

type Response = { status: number; headers: IncomingMessage['headers']; body: Buffer }
type Forward = () => Promise<Response>

export type ProxyOptions = {
  link: Link
  /** Port on the loopback address that requests are forwarded to. */
  to: number
  faults: Faults
  journal: Journal
  /** How long the client waits for a response, in milliseconds. */
  patience: number
}

const respondWith = (status: number, text: string, headers = {}): Response => ({
  status,
  headers,
  body: Buffer.from(text),
})

const isToAws = (link: Link) => /to (AWS|SQS)$/.test(link)
const serverError = (link: Link) =>
  respondWith(500, isToAws(link) ? '{"__type":"InternalFailure","message":"chaos"}' : '{}')
const throttled = (link: Link) =>
  isToAws(link)
    ? respondWith(400, '{"__type":"ThrottlingException","message":"chaos"}')
    : respondWith(429, '{}', { 'retry-after': '1' })

/** Headers that concern a single connection. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])
const endToEnd = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)))

/** Starts a proxy on a free port that injects faults. */
export const startProxy = async ({ link, to, faults, journal, patience }: ProxyOptions) => {
  const agent = new Agent({ keepAlive: true })
  const closing = new AbortController()

  const send = ({ method, url, headers }: IncomingMessage, body: Buffer): Promise<Response> => {
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    const options = { host: HOST, port: to, method, path: url, agent }
    const sent = request(
      { ...options, headers: { ...endToEnd(headers), 'content-length': body.length } },
      response => {
        buffer(response).then(
          content =>
            resolve({ status: response.statusCode ?? 502, headers: response.headers, body: content }),
          reject,
        )
      },
    )
    sent.on('error', reject)
    sent.end(body)
    return promise
  }

  const later = async (forward: Forward, ms: number) => {
    await sleep(ms, undefined, { signal: closing.signal })
    return forward()
  }

  /** Forwards a request whose response nobody waits for. */
  const detach = (forward: Forward) => {
    journal.underWay++
    forward()
      .catch(() => undefined)
      .finally(() => journal.underWay--)
  }

  const inject = async ({ kind, ms }: Fault, forward: Forward): Promise<Response | undefined> => {
    switch (kind) {
      case 'delay':
        return later(forward, ms)
      case 'reset before':
        return undefined
      case 'reset after':
        await forward()
        return undefined
      case 'late':
        detach(() => later(forward, ms))
        return undefined
      case 'error before':
        return serverError(link)
      case 'error after':
        await forward()
        return serverError(link)
      case 'throttle':
        return throttled(link)
      case 'duplicate': {
        const first = forward()
        detach(forward)
        return first
      }
      case 'nonsense':
        await forward()
        return respondWith(200, '<html>Welcome to the hotel</html>')
      case 'swallow':
        return respondWith(200, '{"status":"queued"}')
    }
  }

  const handle = async (incoming: IncomingMessage): Promise<Response | undefined> => {
    const body = await buffer(incoming)
    const passing = journal.passing(link, incoming, body.toString())
    journal.sent(passing)
    const fault = journal.meet(faults, link, passing.name)
    const forward = async () => {
      const began = performance.now()
      const response = await send(incoming, body)
      const took = Math.round(performance.now() - began)
      if (notifiesStore(link, passing.action) && took > patience)
        journal.tooSlow.set(
          passing.order,
          `a store was notified after ${took} ms, its sender waits ${patience}`,
        )
      if (response.status < 300) journal.answered(passing)
      return response
    }
    if (fault === undefined) return forward()
    if (fault.kind === 'swallow') journal.swallowed.add(deliveryIn(passing.body))
    return inject(fault, forward)
  }

  const respond = (response: ServerResponse, content: Response | undefined) => {
    if (content === undefined) {
      response.destroy()
      return
    }
    const { status, headers, body } = content
    response.writeHead(status, { ...endToEnd(headers), 'content-length': body.length }).end(body)
  }

  const server = createServer((incoming, response) => {
    handle(incoming).then(
      content => respond(response, content),
      error => {
        journal.note(`${link}: ${incoming.url} failed by itself: ${error}`)
        response.destroy()
      },
    )
  }).listen({ host: HOST, port: 0 })
  // By default a server closes a connection after five idle seconds, perhaps while a request is on its way.
  server.keepAliveTimeout = 0
  await once(server, 'listening')
  return {
    url: urlOf(portOf(server)),
    close: async () => {
      closing.abort()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      agent.destroy()
      await closed
    },
  }
}
