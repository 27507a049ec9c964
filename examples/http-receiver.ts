// Receives the messages of an HTTP feed, with nothing but Node:
//
//   FEED_SECRET=... PORT=8080 node examples/http-receiver.ts
//
// In stores.yml, with the secret that `npx relay stores secret demo-shop` creates:
//
//   - source: demo-shop
//     feed: { http: http://127.0.0.1:8080/webhook }

import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { type FeedMessage, printingShop } from './shop.ts'

const TOLERANCE_SECONDS = 300

/** Whether the relay signed exactly these bytes with this secret within the last five minutes. */
const isAuthentic = (header: string, body: Buffer, secret: string) => {
  // While the secret is exchanged, there is a signature for each of the two.
  const [, t = '', signatures = ''] = /^t=(\d{1,15})((?:,v1=[0-9a-f]{64})+)$/.exec(header) ?? []
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest()
  const age = Math.abs(Date.now() / 1000 - Number(t))
  return signatures.split(',v1=').some(signature => {
    const given = Buffer.from(signature, 'hex')
    return given.length === expected.length && timingSafeEqual(given, expected) && age <= TOLERANCE_SECONDS
  })
}

/** Answers 200 once a message is applied; after any other answer the relay sends it again. */
export const receiver = (secret: string, apply: (message: FeedMessage) => unknown) =>
  createServer(async (request, response) => {
    try {
      const body = await buffer(request)
      const header = String(request.headers['x-service-signature'] ?? '')
      const authentic = isAuthentic(header, body, secret)
      if (authentic) await apply(JSON.parse(body.toString()))
      response.writeHead(authentic ? 200 : 401).end()
    } catch (error) {
      console.error('not applied, the relay will send it again:', error)
      response.writeHead(500).end()
    }
  })

if (import.meta.main) {
  const { FEED_SECRET = '', PORT = '8080' } = process.env
  if (FEED_SECRET === '')
    throw new Error('Cannot start: FEED_SECRET is not set; set it to the secret of your feed')
  const server = receiver(FEED_SECRET, printingShop())
  server.listen({ host: '127.0.0.1', port: Number(PORT) }, () => console.log(`http://127.0.0.1:${PORT}/`))
  process.once('SIGINT', () => server.close())
}
