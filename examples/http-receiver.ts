// Receives the messages of an HTTP feed:
//
//   FEED_SECRET=... PORT=8080 DATABASE=store.sqlite node packages/run.js examples/http-receiver.ts
//
// In stores.yml, with the secret that `npx relay stores secret demo-shop` creates:
//
//   - source: demo-shop
//     feed: { http: http://127.0.0.1:8080/webhook }

import { createServer } from 'node:http'
import { createReceiver, nodeHandler } from 'order-relay-store'
import { onceIn } from './once.ts'

const { FEED_SECRET = '', PORT = '8080', DATABASE = 'store.sqlite' } = process.env
if (FEED_SECRET === '') {
  console.error('Cannot start: FEED_SECRET is not set; set it to the secret of your feed')
  process.exit(1)
}

const receive = createReceiver({
  secrets: FEED_SECRET.split(',').filter(Boolean), // Two while the secret is being rotated.
  once: onceIn(DATABASE),
  // The store's own handling of a message, which must be synchronous with this `once`.
  // Its writes belong in the transaction that records the message.
  handle: ({ event, data, version, delivery }) => {
    const status = 'status' in data ? data.status : ''
    console.log('applied:', data.external_id, `v${version}`, event, status, delivery)
  },
})
const server = createServer(nodeHandler(receive))
server.listen({ host: '127.0.0.1', port: Number(PORT) }, () => console.log(`http://127.0.0.1:${PORT}/`))
server.on('error', error => {
  console.error(`Cannot listen on port ${PORT}: ${error.message}; set PORT to a free port`)
  process.exitCode = 1
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close())
