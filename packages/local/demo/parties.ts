import { setTimeout as sleep } from 'node:timers/promises'
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { feedQueueName, storeName, WEBHOOK_PATH } from '@order-relay/lib/platform/names.ts'
import { ORDERS_PATH } from '@order-relay/lib/protocol/order.ts'
import * as v from 'valibot'
import type { credentialsIn } from '../credentials.ts'
import { ACCOUNT_ID, REGION, SANDBOX_KEY } from '../settings.ts'

const TIMEOUT_MS = 20_000

/** Polls until a value is found. @throws after 20 seconds */
const until = async <Found>(what: string, look: () => Promise<Found | undefined>): Promise<Found> => {
  for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; await sleep(50)) {
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error(`Expected ${what} within ${TIMEOUT_MS / 1000} s`)
}

const json = v.pipe(v.string(), v.parseJson())
const fields = v.record(v.string(), v.unknown())
const feedMessage = v.looseObject({
  event: v.string(),
  version: v.number(),
  data: v.looseObject({ external_id: v.string() }),
})
const savedOrder = v.looseObject({
  status: v.string(),
  relay: v.optional(v.looseObject({ version: v.number() })),
})
const deliveries = v.object({
  deliveries: v.array(
    v.looseObject({
      delivery: v.string(),
      external_id: v.string(),
      attempts: v.array(v.looseObject({ status: v.nullish(v.number()), response: v.nullish(v.string()) })),
    }),
  ),
})

export type Addresses = { relay: string; sandbox: string; sqs: string }

const send = async (method: string, url: string, body?: object, headers: Record<string, string> = {}) => {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { answer: response.status, body: text === '' ? {} : v.parse(fields, JSON.parse(text)) }
}

/** The people and programs of the story, acting over real HTTP. */
export const partiesOf = (
  { relay, sandbox, sqs }: Addresses,
  source: string,
  credentials: ReturnType<typeof credentialsIn>,
) => {
  const path = (id: string, verb = '', of = source) =>
    `${ORDERS_PATH}${encodeURIComponent(id)}/${verb}?source=${encodeURIComponent(of)}`
  const asStore = { authorization: `Bearer local-${storeName(source)}` }
  const asCaller = { authorization: `Bearer ${SANDBOX_KEY}` }
  const queue = new SQSClient({ region: REGION, endpoint: sqs, credentials })
  const QueueUrl = `${sqs}/${ACCOUNT_ID}/${feedQueueName(source)}`
  /** The versions of the last messages. */
  const notified = new Map<string, number>()
  const receive = async () => {
    const { Messages = [] } = await queue.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }))
    return Messages[0]
  }

  const deliveryOf = async (id: string) => {
    const { body } = await send('GET', `${sandbox}/panel/deliveries`)
    return v.parse(deliveries, body).deliveries.find(({ external_id }) => external_id === id)
  }

  return {
    /** Calls the accounting service directly. */
    caller: {
      create: (body: object) => send('POST', sandbox + ORDERS_PATH, body, asCaller),
      read: (id: string) => send('GET', `${sandbox}${path(id)}`, undefined, asCaller),
    },
    /** Calls the relay only. */
    store: {
      create: (body: object) => send('POST', relay + ORDERS_PATH, { source, ...body }, asStore),
      payment: (id: string, body: object) => send('POST', `${relay}${path(id, 'payment/')}`, body, asStore),
      refund: (id: string, body: object) => send('POST', `${relay}${path(id, 'refund/')}`, body, asStore),
      /** The status in the table. An order is saved after its message is sent; until then, `relay` is missing or old. */
      saved: (id: string) =>
        until(`the table to have order ${id}`, async () => {
          const { body } = await send('GET', `${relay}${path(id)}`, undefined, asStore)
          const found = v.parse(savedOrder, body)
          return found.relay?.version === notified.get(id) ? found.status : undefined
        }),
      /** Receives the next message of the store's feed. */
      receive: () =>
        until('a message', async () => {
          const message = await receive()
          if (message === undefined) return undefined
          await queue.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }))
          const received = v.parse(v.pipe(json, feedMessage), message.Body)
          notified.set(received.data.external_id, received.version)
          return received
        }),
      isFeedEmpty: async () => (await receive()) === undefined,
    },
    /** Uses the panel. */
    accountant: {
      stock: (sku: string, name: string, stock: number) =>
        send('PUT', `${sandbox}/panel/products/${sku}`, { name, stock }),
      /** Makes the order API answer 503 for the given time. */
      breakService: (outage: { seconds: number; retryAfter: number }) =>
        send('POST', `${sandbox}/panel/faults`, { kind: 'error', status: 503, ...outage }),
      /** The status after the retry. */
      retry: async (id: string, of = source) =>
        (await send('POST', `${sandbox}/panel/orders/${id}/retry?source=${encodeURIComponent(of)}`)).body
          .status,
      /** The response to an order's webhook, once there is one. */
      delivered: (id: string) =>
        until(`an answered webhook about ${id}`, async () => {
          const attempt = (await deliveryOf(id))?.attempts.at(-1)
          return attempt?.status == null ? undefined : [attempt.status, attempt.response]
        }),
      resend: async (id: string) =>
        send('POST', `${sandbox}/panel/deliveries/${(await deliveryOf(id))?.delivery}/resend`),
    },
    /** Does not know the secret. */
    forger: {
      post: (body: object) =>
        send('POST', relay + WEBHOOK_PATH, body, {
          'x-service-signature': `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}`,
        }),
    },
    close: () => queue.destroy(),
  }
}

export type Parties = ReturnType<typeof partiesOf>
