import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { afterAll, beforeAll } from '@jest/globals'
import { readStores } from '@order-relay/deploy/stores.ts'
import { local } from '@order-relay/test-support/relay.ts'
import { startConsole } from '../../console/server.ts'
import { type Context, createContext } from '../../core/context.ts'

type Headers = Record<string, string>

/**
 * Serves the console of the local stack on a free port, with a session, for the tests of a file.
 *
 * @param project the folder of the stack's project. @default this one
 */
export const useConsole = (project?: () => string) => {
  let started: Awaited<ReturnType<typeof startConsole>>
  let context: Context
  let authorization: string

  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(console.url() + path, init)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const post = (path: string, body: object, headers: Headers = {}) =>
    call(`/api/${path}`, {
      method: 'POST',
      headers: { authorization, origin: console.url(), 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const console = {
    context: () => context,
    nextUrl: () => started.nextUrl(),
    url: () => new URL(started.nextUrl()).origin,
    authorization: () => authorization,
    call,
    post,
    get: (path: string) => call(`/api/${path}`, { headers: { authorization } }),
    /** Exchanges the token of an address for a session. */
    exchange: (address: string) =>
      post('session', { token: new URL(address).searchParams.get('token') }, { authorization: '' }),
  }

  beforeAll(async () => {
    const nothing = new Writable({ write: (_chunk, _encoding, done) => done() })
    const { environment } = local.stack()
    const terminal = { stdin: Readable.from([]), stdout: nothing, stderr: nothing, environment }
    context = createContext({ local: true }, terminal)
    if (project) context = { ...context, stores: () => readStores(join(project(), 'stores.yml')) }
    started = await startConsole(context, { port: 0 })
    authorization = `Bearer ${JSON.parse((await console.exchange(started.nextUrl())).text).session}`
  })
  afterAll(async () => {
    await started.close()
    context.close()
  })
  return console
}
