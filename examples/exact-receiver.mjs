// Receives the messages of an HTTP feed of an exact store (docs/integrate.md, "Exact stores"):
//
//   FEED_SECRET=... PORT=8080 DATABASE=handled node packages/run.js examples/exact-receiver.mjs

import { createServer } from 'node:http'
import { nodeHandler, SignatureError, verifySignature } from 'order-relay-store'
import { onceIn } from './exact-once.mjs'

const { FEED_SECRET = '', PORT = '8080', DATABASE = 'handled' } = process.env
if (FEED_SECRET === '') {
  console.error('Cannot start: FEED_SECRET is not set; set it to the secret of your feed')
  process.exit(1)
}

const once = onceIn(DATABASE)

// The store's own handling of a message, which must be synchronous with this `once`.
const handle = ({ event, data, delivery }) =>
  console.log('applied:', data.external_id, event, data.status ?? '', delivery)

const receive = async (headers, body) => {
  try {
    // Two secrets while the secret is being rotated.
    await verifySignature({ headers, body, secrets: FEED_SECRET.split(',').filter(Boolean) })
    once(JSON.parse(Buffer.from(body).toString()), handle)
    return { status: 200 }
  } catch (error) {
    if (error instanceof SignatureError) return { status: 401, error: 'The signature is not valid' }
    console.error(error)
    return { status: 500, error: 'The message could not be handled; send it again' }
  }
}
const server = createServer(nodeHandler(receive))
server.listen({ host: '127.0.0.1', port: Number(PORT) }, () => console.log(`http://127.0.0.1:${PORT}/`))
server.on('error', error => {
  console.error(`Cannot listen on port ${PORT}: ${error.message}; set PORT to a free port`)
  process.exitCode = 1
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close())
