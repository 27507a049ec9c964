import { setTimeout as sleep } from 'node:timers/promises'
import { urlOf } from '@order-relay/local/settings.ts'
import { type PlainResponse, startServer } from '../../test/support/server.ts'
import { type Fault, type Faults, type Link, notifiesStore } from './faults.ts'
import { deliveryIn, type Journal } from './journal.ts'

type Forward = () => Promise<PlainResponse>

export type ProxyOptions = {
  link: Link
  /** Port on the loopback address that requests are forwarded to. */
  to: number
  faults: Faults
  journal: Journal
  /** How long the client waits for a response, in milliseconds. */
  patience: number
}

const isToAws = (link: Link) => /to (AWS|SQS)$/.test(link)
const serverError = (link: Link): PlainResponse => ({
  status: 500,
  body: isToAws(link) ? '{"__type":"InternalFailure","message":"chaos"}' : '{}',
})
const throttled = (link: Link): PlainResponse =>
  isToAws(link)
    ? { status: 400, body: '{"__type":"ThrottlingException","message":"chaos"}' }
    : { status: 429, headers: { 'retry-after': '1' } }

/** Headers that concern a single connection. */
const HOP_BY_HOP = new Set(['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'])
const endToEnd = (headers: Iterable<readonly [string, unknown]>) =>
  Object.fromEntries(
    [...headers].flatMap(([name, value]) => (HOP_BY_HOP.has(name) ? [] : [[name, String(value)]])),
  )

/** Starts a proxy on a free port that injects faults; a missing response breaks the connection. */
export const startProxy = async ({ link, to, faults, journal, patience }: ProxyOptions) => {
  const closing = new AbortController()

  const later = async (forward: Forward, ms: number) => {
    await sleep(ms, undefined, { signal: closing.signal })
    return forward()
  }

  /** Forwards a request without awaiting the response. */
  const detach = (forward: Forward) => {
    journal.underWay++
    forward()
      .catch(() => undefined)
      .finally(() => journal.underWay--)
  }

  const inject = async ({ kind, ms }: Fault, forward: Forward): Promise<PlainResponse | undefined> => {
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
        return { status: 200, body: '<html>Welcome to the hotel</html>' }
      case 'swallow':
        return { status: 200, body: '{"status":"queued"}' }
    }
  }

  const { port, close } = await startServer(async ({ method = '', url = '', headers }, body) => {
    const passing = journal.passing(link, { method, url, headers }, body.toString())
    const fault = journal.meet(faults, link, passing.name)
    const forward = async () => {
      const began = performance.now()
      const response = await fetch(urlOf(to) + url, {
        method,
        headers: endToEnd(Object.entries(headers)),
        body: body.length > 0 ? body : null,
        signal: closing.signal,
      })
      const answer = {
        status: response.status,
        headers: endToEnd(response.headers),
        body: await response.text(),
      }
      const took = Math.round(performance.now() - began)
      if (notifiesStore(link, passing.action) && took > patience)
        journal.tooSlow.set(
          passing.order,
          `a store was notified after ${took} ms, its sender waits ${patience}`,
        )
      if (response.ok) journal.answered(passing)
      return answer
    }
    try {
      if (fault?.kind === 'swallow') journal.swallowed.add(deliveryIn(passing.body))
      return await (fault === undefined ? forward() : inject(fault, forward))
    } catch (error) {
      journal.note(`${link}: ${url} failed without an injected fault: ${error}`)
      return undefined
    }
  })
  return {
    url: urlOf(port),
    close() {
      closing.abort()
      return close()
    },
  }
}
