import { type Client, type FeedMessage, RequestError } from 'order-relay-store'
import type { Connection, Connections } from './connections.ts'
import { afterRequest, decide, type Request } from './decide.ts'
import type { Shop } from './shop.ts'
import type { ShopOrder } from './shop-order.ts'
import { attentionKey, type OrderState, withMessage } from './state.ts'
import type { States } from './states.ts'
import { missingOf } from './words.ts'

/**
 * A hint that an order may have changed: from the shop, from the relay with its message, or from an import, which includes
 * orders created before the connection.
 */
export type SyncEvent = { source: string; order: string; message?: FeedMessage; isImport?: true }

export type SyncDependencies = {
  connections: Pick<Connections, 'get'>
  states: Pick<States, 'get' | 'save' | 'moveCursor'>
  openShop: (connection: Connection) => Pick<Shop, 'order' | 'update' | 'notes' | 'addNote'>
  openRelay: (connection: Connection) => Pick<Client, 'create' | 'pay' | 'refund'>
  /** Unix time in milliseconds. */
  now: () => number
}

/** A create, a payment and a refund; more indicates a loop. */
const MAX_REQUESTS = 4

/** Sends a request; every one is safe to repeat. @throws RequestError if it must be sent again later */
const send = async (relay: ReturnType<SyncDependencies['openRelay']>, order: string, request: Request) => {
  // The relay carries out an accepted request and publishes the outcome on the feed.
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
    // The key is wrong or revoked, which is not a problem of this order.
    const isFinal = status >= 400 && status < 500 && ![401, 403, 408, 425, 429].includes(status)
    if (!isFinal) throw error
    return { outcome: 'refused', reason: message } as const
  }
}

/** Writes differences to the shop: metadata, status, and each note once. Returns the state with these changes. */
const writeToShop = async (
  shop: ReturnType<SyncDependencies['openShop']>,
  order: ShopOrder,
  state: OrderState,
  connection: Connection,
): Promise<OrderState> => {
  const { notes, ...change } = missingOf(state, order, connection)
  const isChanged = change.meta !== undefined || (change.status ?? order.status) !== order.status
  if (isChanged) await shop.update(order.id, change)
  const shown =
    change.status === undefined || state.result === undefined
      ? state
      : { ...state, shown: state.result.status }
  if (notes.length === 0) return shown
  // After a crash, a note may exist that the state does not list. WooCommerce does not deduplicate notes.
  const written = await shop.notes(order.id)
  for (const { text } of notes) if (!written.includes(text)) await shop.addNote(order.id, text)
  return { ...shown, notes: [...state.notes, ...notes.map(({ meaning }) => meaning)] }
}

/**
 * Synchronizes one order: reads it, sends the resulting request to the relay, and writes the outcome to the shop. The
 * events of an order must not overlap, so each order is a message group of the queue.
 *
 * A request is sent before the state is saved, and the shop is updated before the state lists its notes, so a crash only
 * repeats steps that are safe to repeat.
 */
export const synchronizer =
  ({ connections, states, openShop, openRelay, now }: SyncDependencies) =>
  async ({ source, order, message, isImport }: SyncEvent): Promise<void> => {
    const connection = await connections.get(source)
    // The shop was disconnected in the meantime.
    if (connection === undefined) return
    const shop = openShop(connection)
    const relay = openRelay(connection)
    const { state: before, revision, since } = await states.get(source, order)
    const inShop = await shop.order(Number(order))
    let state = message === undefined ? before : withMessage(before, message)
    if (isImport) state = { ...state, isImported: true }
    let decision = decide(state, inShop, connection)
    for (let sent = 0; decision.request !== undefined; sent++) {
      if (sent === MAX_REQUESTS)
        throw new Error(`Cannot synchronize the order: ${MAX_REQUESTS} requests were not enough`)
      state = afterRequest(state, decision.request, await send(relay, order, decision.request))
      decision = decide(state, inShop, connection)
    }
    const { attention: _, ...others } = state
    state = { ...others, ...(decision.attention !== undefined && { attention: decision.attention }) }
    if (inShop !== undefined) state = await writeToShop(shop, inShop, state, connection)
    const at = new Date(now()).toISOString()
    if (JSON.stringify(state) !== JSON.stringify(before)) {
      const isSame =
        before.attention !== undefined &&
        state.attention !== undefined &&
        attentionKey(before.attention) === attentionKey(state.attention)
      await states.save(source, order, state, revision, isSame && since !== undefined ? since : at)
    }
    await states.moveCursor(source, 'sync', at)
  }
