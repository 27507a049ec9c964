import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { until } from './observe.ts'

const order = v.looseObject({ external_id: v.string(), status: v.nullable(v.string()) })
const feedMessage = v.looseObject({
  event: v.string(),
  version: v.number(),
  delivery: v.string(),
  data: v.looseObject({ external_id: v.string() }),
})
const deliveries = v.object({
  deliveries: v.array(
    v.looseObject({
      delivery: v.string(),
      external_id: v.string(),
      status: v.string(),
      attempts: v.array(v.looseObject({ status: v.nullish(v.number()), response: v.nullish(v.string()) })),
    }),
  ),
})

export type FeedMessage = v.InferOutput<typeof feedMessage>
export type Addresses = { relay: string; sandbox: string; sqs: string }

type Answer = { status: number; body: unknown }

const send = async (
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

/** The people and programs of the story, each with what it does in life; all of it real HTTP. */
export const partiesOf = ({ relay, sandbox, sqs }: Addresses, source: string) => {
  const orderPath = (id: string, verb = '') =>
    `/api/v1/orders/${encodeURIComponent(id)}/${verb}?source=${source}`
  const asStore = { authorization: `Bearer local-${source}` }
  const asCaller = { authorization: 'Bearer sandbox-key' }
  const queue = new SQSClient({
    region: 'eu-central-1',
    endpoint: sqs,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  const QueueUrl = `${sqs}/000000000000/feed-${source}.fifo`

  return {
    /** Speaks to the accounting service directly. */
    caller: {
      create: (body: object) => send('POST', `${sandbox}/api/v1/orders/`, body, asCaller),
      async read(id: string) {
        return v.parse(order, (await send('GET', `${sandbox}${orderPath(id)}`, undefined, asCaller)).body)
      },
    },
    /** Hands everything to the relay. */
    store: {
      create: (body: object) => send('POST', `${relay}/api/v1/orders/`, { source, ...body }, asStore),
      payment: (id: string, body: object) =>
        send('POST', `${relay}${orderPath(id, 'payment/')}`, body, asStore),
      refund: (id: string, body: object) =>
        send('POST', `${relay}${orderPath(id, 'refund/')}`, body, asStore),
      read: (id: string) => send('GET', `${relay}${orderPath(id)}`, undefined, asStore),
      /** Takes the next message from the store's own queue, as its own program would. */
      hear: (what: string): Promise<FeedMessage> =>
        until(what, async () => {
          const { Messages = [] } = await queue.send(
            new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }),
          )
          const [message] = Messages
          if (message === undefined) return undefined
          await queue.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }))
          return v.parse(feedMessage, JSON.parse(message.Body ?? ''))
        }),
      /** Whether anything else waits in the queue. */
      async hearsNothing() {
        const { Messages = [] } = await queue.send(
          new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }),
        )
        return Messages.length === 0
      },
    },
    /** Works in the panel. */
    accountant: {
      stock: (sku: string, name: string, stock: number) =>
        send('PUT', `${sandbox}/panel/products/${sku}`, { name, stock }),
      retry: (id: string, of = source) => send('POST', `${sandbox}/panel/orders/${id}/retry?source=${of}`),
      /** The last attempt at delivering an order's webhook, once it has been answered. */
      delivered: (id: string) =>
        until(`a webhook about ${id} that was answered`, async () => {
          const { body } = await send('GET', `${sandbox}/panel/deliveries`)
          const found = v.parse(deliveries, body).deliveries.find(({ external_id }) => external_id === id)
          const attempt = found?.attempts.at(-1)
          return found !== undefined && attempt?.status != null
            ? { delivery: found.delivery, ...attempt }
            : undefined
        }),
      resend: (delivery: string) => send('POST', `${sandbox}/panel/deliveries/${delivery}/resend`),
    },
    /** Has no secret. */
    forger: {
      post: (body: object) =>
        send('POST', `${relay}/webhook`, body, {
          'x-service-signature': `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}`,
        }),
    },
    close: () => queue.destroy(),
  }
}

export type Parties = ReturnType<typeof partiesOf>
