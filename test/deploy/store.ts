import { once } from 'node:events'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import * as v from 'valibot'
import { verify } from '../../lib/protocol/signature.ts'
import { HEADERS } from '../../lib/protocol/webhook.ts'
import { HOST } from './emulator.ts'
import { feedMessage } from './feed-message.ts'

/** A store with an HTTP feed: takes what is signed with its secret, as it would from the accounting service. */
export const openStore = async (secret: string) => {
  const heard: v.InferOutput<typeof feedMessage>[] = []
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const header = request.headers[HEADERS.signature]
    const { valid } = verify({
      header: typeof header === 'string' ? header : undefined,
      body,
      secrets: [secret],
      now: Math.floor(Date.now() / 1000),
    })
    if (valid) heard.push(v.parse(feedMessage, body.toString()))
    response.writeHead(valid ? 200 : 401).end()
  }).listen(0, HOST)
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('Cannot open a store: no address')

  return {
    url: `http://${HOST}:${address.port}/webhook`,
    secret,
    heard: () => heard[0],
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

export type Store = Awaited<ReturnType<typeof openStore>>
