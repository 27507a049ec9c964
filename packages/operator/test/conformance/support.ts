import type { IncomingMessage, RequestListener } from 'node:http'
import { PassThrough } from 'node:stream'
import { afterEach } from '@jest/globals'
import type { FeedError } from '@order-relay/lib/feeds/deliver.ts'
import { verify } from '@order-relay/lib/protocol/signature.ts'
import { listening } from '@order-relay/test-support/server.ts'
import { httpFeed, type Target } from '../../conformance/http-feed.ts'
import { type Playing, play } from '../../conformance/play.ts'
import type { Patience } from '../../core/async.ts'
import { createContext } from '../../core/context.ts'
import type { Terminal } from '../../core/terminal.ts'
import { endpointRemedy, type TestMessage } from '../../model/remedies.ts'

export const SECRET = 'secret of the store'

const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
export const terminal: Terminal = { stdin, stdout, stderr, environment: {} }

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Closes something when the test ends. */
export const atEnd = (close: () => unknown) => void closing.push(close)

/** The URL of an HTTP store, which runs until the test ends. */
export const serve = async (listener: RequestListener): Promise<string> => {
  const { url, close } = await listening(listener)
  atEnd(close)
  return url
}

/** Whether a request has a valid signature. */
export const isSigned = ({ headers }: IncomingMessage, body: Buffer, secret = SECRET): boolean => {
  const now = Math.floor(Date.now() / 1000)
  return verify({ secrets: [secret], header: String(headers['x-service-signature']), body, now }).valid
}

/** Tests a store at a URL, or at a target that changes. */
export const findingsAt = (
  at: string | (() => Target | undefined),
  options: Patience & Partial<Omit<Playing, 'feed' | 'http'>> & { registers?: boolean },
) => {
  const { registers = false, ...playing } = options
  const { wait, assertUseful } = playing
  const target = async () => (typeof at === 'string' ? { url: at, secret: SECRET } : at())
  const remedyOf = (error: FeedError, sent: TestMessage) =>
    endpointRemedy({ flags: ' --local' }, { source: 'old-shop', feed: { disable_after: 60 } }, error, sent)
  const feed = httpFeed({ target, registers, remedyOf, wait, assertUseful })
  return play({ source: 'shop', terminal, ...playing, ...feed })
}

/** The context of a command for a store at a URL. */
export const contextOf = (url: string, shown = terminal) => {
  const { parameters, ...context } = createContext({ local: true }, shown)
  return {
    ...context,
    stores: () => [{ source: 'shop', feed: { http: url, disable_after: 60 } }],
    parameters: { ...parameters, below: async () => [{ name: 'shop', value: SECRET, modified: new Date() }] },
  }
}
