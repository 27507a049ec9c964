import { setTimeout as sleep } from 'node:timers/promises'
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { feedQueueName, storeName } from '../../lib/platform/names.ts'
import { ACCOUNT_ID, CREDENTIALS, REGION, SANDBOX_KEY } from '../settings.ts'

const TIMEOUT_MS = 20_000

/** Polls until something is found. @throws after 20 seconds */
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
export const partiesOf = ({ relay, sandbox, sqs }: Addresses, source: string) => {
  const path = (id: string, verb = '', of = source) =>
    `/api/v1/orders/${encodeURIComponent(id)}/${verb}?source=${encodeURIComponent(of)}`
  const asStore = { authorization: `Bearer local-${storeName(source)}` }
  const asCaller = { authorization: `Bearer ${SANDBOX_KEY}` }
  const queue = new SQSClient({ region: REGION, endpoint: sqs, credentials: CREDENTIALS })
  const QueueUrl = `${sqs}/${ACCOUNT_ID}/${feedQueueName(source)}`
  const receive = async () => {
    const { Messages = [] } = await queue.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }))
    return Messages[0]
  }

  return {
    /** Calls the accounting service directly. */
    caller: {
      create: (body: object) => send('POST', `${sandbox}/api/v1/orders/`, body, asCaller),
      read: (id: string) => send('GET', `${sandbox}${path(id)}`, undefined, asCaller),
    },
    /** Calls the relay only. */
    store: {
      create: (body: object) => send('POST', `${relay}/api/v1/orders/`, { source, ...body }, asStore),
      payment: (id: string, body: object) => send('POST', `${relay}${path(id, 'payment/')}`, body, asStore),
      refund: (id: string, body: object) => send('POST', `${relay}${path(id, 'refund/')}`, body, asStore),
      read: (id: string) => send('GET', `${relay}${path(id)}`, undefined, asStore),
      /** Receives the next message of the store's feed. */
      receive: () =>
        until('a message', async () => {
          const message = await receive()
          if (message === undefined) return undefined
          await queue.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }))
          return v.parse(v.pipe(json, feedMessage), message.Body)
        }),
      isFeedEmpty: async () => (await receive()) === undefined,
    },
    /** Uses the panel. */
    accountant: {
      stock: (sku: string, name: string, stock: number) =>
        send('PUT', `${sandbox}/panel/products/${sku}`, { name, stock }),
      retry: (id: string, of = source) =>
        send('POST', `${sandbox}/panel/orders/${id}/retry?source=${encodeURIComponent(of)}`),
      /** The last attempt to deliver an order's webhook, once it was answered. */
      delivered: (id: string) =>
        until(`an answered webhook about ${id}`, async () => {
          const { body } = await send('GET', `${sandbox}/panel/deliveries`)
          const found = v.parse(deliveries, body).deliveries.find(({ external_id }) => external_id === id)
          const attempt = found?.attempts.at(-1)
          if (found === undefined || attempt?.status == null) return undefined
          return { delivery: found.delivery, answer: attempt.status, response: attempt.response }
        }),
      resend: (delivery: string) => send('POST', `${sandbox}/panel/deliveries/${delivery}/resend`),
    },
    /** Does not know the secret. */
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
