import { setTimeout as sleep } from 'node:timers/promises'
import { DeleteMessageBatchCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { parseJson } from '../../lib/protocol/json.ts'
import { verify } from '../../lib/protocol/signature.ts'
import { HEADERS } from '../../lib/protocol/webhook.ts'
import { startServer } from './fronts.ts'
import { FEED_SECRET, keyOfStore, type Parts, type Source } from './parts.ts'

const feedMessage = v.looseObject({
  event: v.picklist(['order.updated', 'order.rejected']),
  delivery: v.string(),
  version: v.number(),
  data: v.looseObject({ source: v.string(), external_id: v.string() }),
})

const AGAIN_MS = 40

export type Heard = v.InferOutput<typeof feedMessage>

/** What the stores heard, each order's in the order in which it came. */
export const newEars = () => {
  const heard = new Map<string, Heard[]>()
  return {
    of: (id: string): readonly Heard[] => heard.get(id) ?? [],
    hear(text: string) {
      const message = v.parse(feedMessage, parseJson(text))
      const { external_id } = message.data
      heard.set(external_id, [...(heard.get(external_id) ?? []), message])
    },
  }
}

export type Ears = ReturnType<typeof newEars>

/** The store "shop" reads its queue, message by message; what it could not delete comes again. */
export const startShop = ({ sqs, queueUrl }: Pick<Parts, 'sqs' | 'queueUrl'>, { hear }: Ears) => {
  const QueueUrl = queueUrl('feed-shop.fifo')
  const stopping = new AbortController()
  const abortSignal = stopping.signal
  const read = async () => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 5 }),
      { abortSignal },
    )
    for (const { Body = '' } of Messages) hear(Body)
    const Entries = Messages.map(({ ReceiptHandle = '' }, index) => ({ Id: String(index), ReceiptHandle }))
    if (Entries.length > 0)
      await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }), { abortSignal })
  }
  const readOn = async () => {
    while (!abortSignal.aborted) await read().catch(() => sleep(AGAIN_MS))
  }
  const reading = readOn()
  return {
    close: async () => {
      stopping.abort()
      await reading
    },
  }
}

/** The store "web" takes signed POSTs. */
export const startWeb = ({ hear }: Ears) =>
  startServer(async ({ headers }, body) => {
    const now = Math.floor(Date.now() / 1000)
    const header = String(headers[HEADERS.signature])
    if (!verify({ header, body, secrets: [FEED_SECRET], now }).valid) return { status: 401, body: {} }
    hear(body.toString('utf8'))
    return { status: 200, body: {} }
  })

const PATIENCE_MS = 3000
/** What a store has not got accepted by then it will not. */
const GIVES_UP_MS = 300_000

/** A store's requests to the relay: each is made again until it is accepted, or the storm is over. */
export const requester = (url: string, over: AbortSignal) => {
  const post = async (source: Source, path: string, body: object): Promise<boolean> => {
    try {
      const response = await fetch(`${url}/api/v1/orders/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${keyOfStore(source)}` },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      await response.body?.cancel()
      return response.status === 202
    } catch {
      return false
    }
  }
  return async (source: Source, path: string, body: object): Promise<void> => {
    for (const end = Date.now() + GIVES_UP_MS; !(await post(source, path, body)); await sleep(AGAIN_MS))
      if (over.aborted || Date.now() > end) throw new Error(`the relay never accepts /orders/${path}`)
  }
}

export type Requester = ReturnType<typeof requester>
