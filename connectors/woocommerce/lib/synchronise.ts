import { type Client, type FeedMessage, RequestError } from 'order-relay-store'
import type { Connection, Connections } from './connections.ts'
import { afterRequest, decide, type Request } from './decide.ts'
import type { Shop } from './shop.ts'
import type { ShopOrder } from './shop-order.ts'
import { attentionKey, type OrderState, withMessage } from './state.ts'
import type { States } from './states.ts'
import { META_KEY, metaOf, notesOf } from './words.ts'

/** A hint that an order may have changed; with the relay's message, if it came from there. */
export type SyncEvent = { source: string; order: string; message?: FeedMessage }

export type SyncDependencies = {
  connections: Pick<Connections, 'get'>
  states: Pick<States, 'get' | 'save'>
  openShop: (connection: Connection) => Pick<Shop, 'order' | 'setMeta' | 'notes' | 'addNote'>
  openRelay: (connection: Connection) => Pick<Client, 'create' | 'pay' | 'refund'>
  /** Unix time in milliseconds. */
  now: () => number
}

/** A create, a payment and a refund; more indicates a loop. */
const MAX_REQUESTS = 4

/** Sends a request; every one is safe to repeat. @throws RequestError if it must be sent again later */
const send = async (relay: ReturnType<SyncDependencies['openRelay']>, order: string, request: Request) => {
  // The relay carries out what it accepts, and its feed tells the outcome.
  const options = { wait: 0 }
  try {
    if (request.kind === 'create') await relay.create(request.body, options)
    else if (request.kind === 'payment') await relay.pay(order, request.body, options)
    else await relay.refund(order, request.reason, options)
    return { outcome: 'accepted' } as const
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    const { status = 500, state, message } = error
    if (state === 'waiting' || state === 'held') return { outcome: 'accepted' } as const
    // The key may be wrong or revoked; the order is not at fault.
    const isFinal = status >= 400 && status < 500 && ![401, 403, 408, 425, 429].includes(status)
    if (!isFinal) throw error
    return { outcome: 'refused', reason: message } as const
  }
}

/** Writes what differs: the metadata, and each note once. Returns the meanings of all notes. */
const tell = async (
  shop: ReturnType<SyncDependencies['openShop']>,
  order: ShopOrder,
  state: OrderState,
  { language }: Connection,
): Promise<readonly string[]> => {
  const meta = metaOf(state)
  if (meta !== undefined && order.meta_data.find(({ key }) => key === META_KEY)?.value !== meta)
    await shop.setMeta(order.id, META_KEY, meta)
  const missing = notesOf(state, language).filter(({ meaning }) => !state.notes.includes(meaning))
  if (missing.length === 0) return state.notes
  // A note that was written just before a crash is not remembered; WooCommerce would keep both.
  const written = await shop.notes(order.id)
  for (const { text } of missing) if (!written.includes(text)) await shop.addNote(order.id, text)
  return [...state.notes, ...missing.map(({ meaning }) => meaning)]
}

/**
 * Synchronises one order: reads it, sends what follows to the relay, and tells the shop what the accounting did. The
 * events of an order must not overlap: the queue's message group is the order.
 *
 * Requests are sent before the state is saved, and the shop is written before it remembers the notes: a crash repeats
 * what is safe to repeat.
 */
export const synchroniser =
  ({ connections, states, openShop, openRelay, now }: SyncDependencies) =>
  async ({ source, order, message }: SyncEvent): Promise<void> => {
    const connection = await connections.get(source)
    // Disconnected meanwhile.
    if (connection === undefined) return
    const shop = openShop(connection)
    const relay = openRelay(connection)
    const { state: before, revision, since } = await states.get(source, order)
    const inShop = await shop.order(Number(order))
    let state = message === undefined ? before : withMessage(before, message)
    let decision = decide(state, inShop, connection.settings)
    for (let sent = 0; decision.request !== undefined; sent++) {
      if (sent === MAX_REQUESTS)
        throw new Error(`Cannot synchronise the order: ${MAX_REQUESTS} requests were not enough`)
      state = afterRequest(state, decision.request, await send(relay, order, decision.request))
      decision = decide(state, inShop, connection.settings)
    }
    const { attention: _, ...others } = state
    state = { ...others, ...(decision.attention !== undefined && { attention: decision.attention }) }
    if (inShop !== undefined) state = { ...state, notes: await tell(shop, inShop, state, connection) }
    if (JSON.stringify(state) === JSON.stringify(before)) return
    const isSame =
      before.attention !== undefined &&
      state.attention !== undefined &&
      attentionKey(before.attention) === attentionKey(state.attention)
    const at = isSame && since !== undefined ? since : new Date(now()).toISOString()
    await states.save(source, order, state, revision, at)
  }
