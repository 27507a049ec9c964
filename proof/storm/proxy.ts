import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { HOST, urlOf } from '../../local/settings.ts'
import { type Fault, type Link, tellsStore, type Weather } from './faults.ts'
import type { Journal } from './journal.ts'
import { actionOf, type Name, orderIn } from './names.ts'
import { deliveryIn, hearAnswer, hearArrival, hearRequest, type Passing } from './overheard.ts'

type Answer = { status: number; headers: IncomingMessage['headers']; body: Buffer }

type Pass = () => Promise<Answer>

export type ProxyOptions = {
  link: Link
  /** Port on the loopback address to which requests go on. */
  to: number
  weather: Weather
  name: Name
  journal: Journal
  /** How long those who ask wait for an answer, in milliseconds. */
  patience?: number
}

const isToAws = (link: Link) => /to (AWS|SQS)$/.test(link)

const failed = (link: Link): Answer => ({
  status: 500,
  headers: {},
  body: Buffer.from(isToAws(link) ? '{"__type":"InternalFailure","message":"storm"}' : '{}'),
})

const throttled = (link: Link): Answer =>
  isToAws(link)
    ? { status: 400, headers: {}, body: Buffer.from('{"__type":"ThrottlingException","message":"storm"}') }
    : { status: 429, headers: { 'retry-after': '1' }, body: Buffer.from('{}') }

const NONSENSE: Answer = { status: 200, headers: {}, body: Buffer.from('<html>Welcome to the hotel</html>') }
const OK: Answer = { status: 200, headers: {}, body: Buffer.from('{"status":"queued"}') }

/** Headers that speak of one connection only. */
const ofConnection = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])
const handedOn = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)))

/** Starts a proxy on a free port that strikes requests as the weather says. */
export const startProxy = async ({
  link,
  to,
  weather,
  name,
  journal,
  patience = Number.POSITIVE_INFINITY,
}: ProxyOptions) => {
  const agent = new Agent({ keepAlive: true })
  const closing = new AbortController()

  const send = async ({ method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const sent = request(
      {
        host: HOST,
        port: to,
        method,
        path: url,
        headers: { ...handedOn(headers), 'content-length': body.length },
        agent,
      },
      response => {
        buffer(response).then(
          answer => resolve({ status: response.statusCode ?? 502, headers: response.headers, body: answer }),
          reject,
        )
      },
    )
    sent.on('error', reject)
    sent.end(body)
    return promise
  }

  const late = async (pass: Pass, ms: number) => {
    await sleep(ms, undefined, { signal: closing.signal })
    return pass()
  }

  /** Lets go on what nobody waits for. */
  const alone = (pass: Pass) => {
    journal.underWay++
    pass()
      .catch(() => undefined)
      .finally(() => journal.underWay--)
  }

  const strike = async ({ kind, ms }: Fault, pass: Pass): Promise<Answer | undefined> => {
    switch (kind) {
      case 'delay':
        return late(pass, ms)
      case 'reset before':
        return undefined
      case 'reset after':
        await pass()
        return undefined
      case 'late':
        alone(() => late(pass, ms))
        return undefined
      case 'error before':
        return failed(link)
      case 'error after':
        await pass()
        return failed(link)
      case 'throttle':
        return throttled(link)
      case 'duplicate': {
        const first = pass()
        alone(pass)
        return first
      }
      case 'nonsense':
        await pass()
        return NONSENSE
      case 'swallow':
        return OK
    }
  }

  const handle = async (incoming: IncomingMessage): Promise<Answer | undefined> => {
    const body = await buffer(incoming)
    const named = name(incoming, body.toString('utf8'))
    const passing: Passing = { link, action: actionOf(incoming.headers), about: orderIn(named), body }
    hearRequest(journal, passing)
    const arrive = journal.setOut(link, passing.about)
    const fault = journal.meet(weather, link, named)
    const pass = async () => {
      if (passing.about !== '') arrive()
      hearArrival(journal, passing)
      const began = performance.now()
      const answer = await send(incoming, body)
      const took = Math.round(performance.now() - began)
      if (tellsStore(link, passing.action) && took > patience)
        journal.tooSlow.set(
          passing.about,
          `a store heard of it after ${took} ms, and who told it waits for ${patience}`,
        )
      hearAnswer(journal, passing, answer)
      return answer
    }
    if (fault === undefined) return pass()
    if (fault.kind === 'swallow') journal.swallowed.add(deliveryIn(body))
    return strike(fault, pass)
  }

  const respond = (response: ServerResponse, answer: Answer | undefined) => {
    if (answer === undefined) {
      response.destroy()
      return
    }
    response.writeHead(answer.status, { ...handedOn(answer.headers), 'content-length': answer.body.length })
    response.end(answer.body)
  }

  const server = createServer((incoming, response) => {
    handle(incoming).then(
      answer => respond(response, answer),
      error => {
        journal.note(`${link}: ${incoming.url} broke by itself: ${error}`)
        response.destroy()
      },
    )
  }).listen({ host: HOST, port: 0 })
  // By itself a server ends what was idle for five seconds, perhaps while a request is on its way over it.
  server.keepAliveTimeout = 0
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: urlOf(port),
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
