import type { SQSClient } from '@aws-sdk/client-sqs'
import { startEventSource } from '@order-relay/local/event-source.ts'
import type { SQSEvent } from 'aws-lambda'
import { verify } from '../../lib/protocol/signature.ts'
import { HEADERS } from '../../lib/protocol/webhook.ts'
import { type ReceivedMessage, readFeedMessage } from '../../test/support/oracle.ts'
import { startServer } from '../../test/support/server.ts'
import { FEED_SECRET, keyOfStore, type Source } from './backends.ts'

/** The messages received by the stores, by order, in sequence of arrival. */
export const newInbox = () => {
  const received = new Map<string, ReceivedMessage[]>()
  return {
    of: (id: string): readonly ReceivedMessage[] => received.get(id) ?? [],
    receive(body: string) {
      const message = readFeedMessage(body)
      const { external_id } = message.data
      received.set(external_id, [...(received.get(external_id) ?? []), message])
    },
  }
}

export type Inbox = ReturnType<typeof newInbox>

/** The store "demo-shop" accepts signed POST requests. */
export const startWebStore = ({ receive }: Inbox) =>
  startServer(async ({ headers }, body) => {
    const now = Math.floor(Date.now() / 1000)
    const header = String(headers[HEADERS.signature])
    if (!verify({ header, body, secrets: [FEED_SECRET], now }).valid) return { status: 401 }
    receive(body.toString())
    return { status: 200 }
  })

/** A store with an SQS feed polls its queue; messages that it could not delete are redelivered. */
export const startQueueStore = (sqs: SQSClient, queueUrl: string, { receive }: Inbox) =>
  startEventSource({
    sqs,
    queueUrl,
    maximumConcurrency: 1,
    onError: () => undefined,
    async invoke(event) {
      for (const { body } of (event as SQSEvent).Records) receive(body)
    },
  })

const TIMEOUT_MS = 10_000

/** Sends one request of a store to the relay; the status is 0 when there was no response. */
export const storeRequester =
  (apiUrl: string) => async (method: 'GET' | 'POST', source: Source, path: string, body?: object) => {
    const query = method === 'GET' ? `?source=${source}` : ''
    const response = await fetch(`${apiUrl}/api/v1/orders/${path}${query}`, {
      method,
      headers: { authorization: `Bearer ${keyOfStore(source)}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch(() => undefined)
    await response?.body?.cancel().catch(() => undefined)
    // An accepted request has an id, even if the service has since refused it.
    const isAccepted = response?.ok === true || response?.headers.has('relay-request-id') === true
    return { status: response?.status ?? 0, isAccepted }
  }

export type StoreRequest = ReturnType<typeof storeRequester>
