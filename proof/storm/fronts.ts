import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { STORE_KEYS, storeKeys } from '../../lib/api/keys.ts'
import { unavailable as requestUnavailable } from '../../lib/api/refusals.ts'
import { serve } from '../../lib/api/serve.ts'
import type { Answer } from '../../lib/http.ts'
import { lineProducer } from '../../lib/line/producer.ts'
import { ordersTable } from '../../lib/orders/table.ts'
import { quarantineQueue } from '../../lib/quarantine.ts'
import { parametersBelow, webhookSecrets } from '../../lib/secrets.ts'
import { answer, unavailable } from '../../lib/webhook/answer.ts'
import { deliveriesTable } from '../../lib/webhook/deliveries.ts'
import { receive } from '../../lib/webhook/receive.ts'
import { HOST } from '../../local/settings.ts'
import type { Tampering } from '../crash/doors.ts'
import { SECRETS_PATH } from '../flood/provision.ts'
import type { Clients } from './clients.ts'
import { type Parts, SOURCES } from './parts.ts'

type Respond = (request: IncomingMessage, body: Buffer) => Promise<Answer>

/** A server on a free port of the loopback address. */
export const startServer = async (respond: Respond) => {
  const server = createServer((request, response) => {
    buffer(request)
      .then(body => respond(request, body))
      .then(
        ({ status, body }) => response.writeHead(status).end(JSON.stringify(body)),
        () => response.writeHead(500).end(),
      )
  }).listen({ host: HOST, port: 0 })
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const single = (headers: IncomingHttpHeaders) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

const isOurs = (source: string) => (SOURCES as readonly string[]).includes(source)

/** The webhook function behind HTTP, wired as functions/webhook.ts does it. */
export const startWebhookFront = (
  { dynamodb, sqs, ssm }: Clients,
  { line, queueUrl }: Parts,
  tampering: Tampering,
) => {
  const ports = {
    secrets: webhookSecrets(parametersBelow(ssm, `${SECRETS_PATH}/webhook-secrets`), []),
    isOurs,
    deliveries: deliveriesTable(dynamodb, 'deliveries'),
    enqueue: lineProducer(sqs, line),
    quarantine: quarantineQueue(sqs, queueUrl('quarantine')),
    now: () => Math.floor(Date.now() / 1000),
  }
  return startServer(async ({ headers }, body) => {
    const delivery = { headers: single(headers), body }
    return receive(delivery, tampering(ports, delivery)).then(answer, () => unavailable)
  })
}

/** The function of the stores' API behind HTTP, wired as functions/orders.ts does it. */
export const startApiFront = ({ dynamodb, sqs, ssm }: Clients, { line }: Parts) => {
  const ports = {
    sourceOf: storeKeys(parametersBelow(ssm, `${SECRETS_PATH}/${STORE_KEYS}`)),
    isOurs,
    orders: ordersTable(dynamodb, 'orders'),
    enqueue: lineProducer(sqs, line),
    newId: randomUUID,
  }
  return startServer(async ({ method = '', url = '', headers }, body) => {
    const { pathname, searchParams } = new URL(url, 'http://relay')
    const served = await serve(
      {
        method,
        location: { rawPath: pathname, pathParameters: { proxy: pathname.replace('/api/v1/orders/', '') } },
        headers: single(headers),
        query: Object.fromEntries(searchParams),
        body,
      },
      ports,
    ).catch(() => ({ answer: requestUnavailable }))
    return served.answer
  })
}
