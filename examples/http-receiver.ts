// Hears what the relay tells a store whose feed is `http`, with nothing but Node:
//
//   FEED_SECRET=... PORT=8080 node examples/http-receiver.ts
//
// and in stores.yml, the secret being what `npx relay stores secret demo-shop` makes:
//
//   - source: demo-shop
//     feed: { http: http://127.0.0.1:8080/webhook }

import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { type FeedMessage, shop } from './shop.ts'

const TOLERANCE_SECONDS = 300

/** Whether the relay signed these very bytes, and did so just now. */
const isAuthentic = (header: string, body: Buffer, secret: string) => {
  const [, t = '', signature = ''] = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/.exec(header) ?? []
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest()
  const given = Buffer.from(signature, 'hex')
  const age = Math.abs(Date.now() / 1000 - Number(t))
  return given.length === expected.length && timingSafeEqual(given, expected) && age <= TOLERANCE_SECONDS
}

/** Answers 200 once a message is applied; any other answer makes the relay send it again later. */
export const receiver = (secret: string, apply: (message: FeedMessage) => unknown) =>
  createServer(async (request, response) => {
    try {
      const body = await buffer(request)
      const header = String(request.headers['x-service-signature'] ?? '')
      const authentic = isAuthentic(header, body, secret)
      if (authentic) await apply(JSON.parse(body.toString()))
      response.writeHead(authentic ? 200 : 401).end()
    } catch (error) {
      console.error('not applied, will come again:', error)
      response.writeHead(500).end()
    }
  })

if (import.meta.main) {
  const { FEED_SECRET = '', PORT = '8080' } = process.env
  if (FEED_SECRET === '')
    throw new Error('Cannot start: FEED_SECRET is not set; it is the secret of your feed')
  const { apply } = shop()
  const server = receiver(FEED_SECRET, message => {
    const { event, version, data } = message
    console.log(
      apply(message) ? 'news: ' : 'known:',
      data.external_id,
      `v${version}`,
      event,
      data.status ?? '',
    )
  })
  server.listen({ host: '127.0.0.1', port: Number(PORT) }, () => console.log(`http://127.0.0.1:${PORT}/`))
  process.once('SIGINT', () => server.close())
}
