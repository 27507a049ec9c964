import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { HOST, urlOf } from '../../local/settings.ts'
import type { Fault, Link, Weather } from './faults.ts'
import type { Name } from './names.ts'

type Answer = { status: number; headers: IncomingMessage['headers']; body: Buffer }

export type Journal = {
  faults: Fault[]
  requests: Map<Link, number>
  /** Webhooks that were answered in the relay's name and that it never got. */
  swallowed: Set<string>
  /** Webhooks that came on the order line. */
  queued: Set<string>
}

export const newJournal = (): Journal => ({
  faults: [],
  requests: new Map(),
  swallowed: new Set(),
  queued: new Set(),
})

const DELIVERY = /\\*"delivery\\*":\\*"([0-9a-f-]{36})/

const deliveryIn = (body: Buffer): string => DELIVERY.exec(body.toString('utf8'))?.[1] ?? ''

export type ProxyOptions = {
  link: Link
  /** Port on the loopback address to which requests go on. */
  to: number
  weather: Weather
  name: Name
  journal: Journal
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
export const startProxy = async ({ link, to, weather, name, journal }: ProxyOptions) => {
  const agent = new Agent({ keepAlive: true })
  const counts = new Map<string, number>()
  const closing = new AbortController()

  const pass = async ({ method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> => {
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
    const answer = await promise
    const isSend = String(headers['x-amz-target']).endsWith('.SendMessage')
    if (link === 'webhook to AWS' && isSend && answer.status === 200) journal.queued.add(deliveryIn(body))
    return answer
  }

  const late = async (incoming: IncomingMessage, body: Buffer, ms: number) => {
    await sleep(ms, undefined, { signal: closing.signal })
    await pass(incoming, body)
  }

  const strike = async (
    { kind, ms }: Fault,
    incoming: IncomingMessage,
    body: Buffer,
  ): Promise<Answer | undefined> => {
    switch (kind) {
      case 'delay':
        await sleep(ms, undefined, { signal: closing.signal })
        return pass(incoming, body)
      case 'reset before':
        return undefined
      case 'reset after':
        await pass(incoming, body)
        return undefined
      case 'late':
        late(incoming, body, ms).catch(() => undefined)
        return undefined
      case 'error before':
        return failed(link)
      case 'error after':
        await pass(incoming, body)
        return failed(link)
      case 'throttle':
        return throttled(link)
      case 'duplicate': {
        const first = pass(incoming, body)
        pass(incoming, body).catch(() => undefined)
        return first
      }
      case 'nonsense':
        await pass(incoming, body)
        return NONSENSE
      case 'swallow':
        return OK
    }
  }

  const handle = async (incoming: IncomingMessage): Promise<Answer | undefined> => {
    const body = await buffer(incoming)
    const named = name(incoming, body.toString('utf8'))
    const count = (counts.get(named) ?? 0) + 1
    counts.set(named, count)
    journal.requests.set(link, (journal.requests.get(link) ?? 0) + 1)
    const fault = weather({ link, name: named, count })
    if (fault === undefined) return pass(incoming, body)
    journal.faults.push(fault)
    if (fault.kind === 'swallow') journal.swallowed.add(deliveryIn(body))
    return strike(fault, incoming, body)
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
      () => response.destroy(),
    )
  }).listen({ host: HOST, port: 0 })
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
