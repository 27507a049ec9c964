import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { signedQuery } from './oauth.ts'
import { ORDER_FIELDS, type ShopOrder, shopOrder } from './shop-order.ts'

/** Orders or products per response, WooCommerce's maximum. */
export const PAGE = 100

const TIMEOUT_MS = 30_000

/** The key of the metadata with the state of an order in the accounting service. */
export const META_KEY = '_order_relay'

/** The shop responded with an error, or did not respond. */
export class ShopError extends Error {
  override readonly name = 'ShopError'
  /** Undefined if there was no response. */
  readonly status: number | undefined
  /** WooCommerce's code, such as `woocommerce_rest_cannot_view`. */
  readonly code: string | undefined
  /** Seconds until the next attempt may succeed, for example after maintenance. */
  readonly retryAfter: number | undefined

  constructor(
    message: string,
    {
      status,
      code,
      retryAfter,
      cause,
    }: ErrorOptions & Partial<Pick<ShopError, 'status' | 'code' | 'retryAfter'>>,
  ) {
    super(message, { cause })
    this.status = status
    this.code = code
    this.retryAfter = retryAfter
  }
}

export type ShopOptions = {
  /** The shop's address, such as `https://shop.example`. */
  url: string
  /** The consumer key and secret of its REST API. */
  key: string
  secret: string
}

type Query = Readonly<Record<string, string | number>>

const errorOf = v.object({ code: v.string(), message: v.string() })

const product = v.looseObject({
  id: v.number(),
  name: v.nullish(v.string(), ''),
  sku: v.nullish(v.string(), ''),
  type: v.nullish(v.string(), ''),
})
export type Product = v.InferOutput<typeof product>

const setting = v.looseObject({ value: v.unknown() })

/** The parsed JSON; undefined for any other text. */
export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const webhook = v.looseObject({
  id: v.number(),
  status: v.string(),
  topic: v.string(),
  delivery_url: v.string(),
})
export type Webhook = v.InferOutput<typeof webhook>

/** The changes to write to the shop's order: the value of the metadata {@link META_KEY}, and the status. */
export type OrderChange = { meta?: string; status?: string }

/** Undefined if the shop does not have the resource. */
const orUndefined = async <Found>(found: Promise<Found>): Promise<Found | undefined> =>
  found.catch(error => {
    if (error instanceof ShopError && error.status === 404 && error.code !== 'rest_no_route') return undefined
    throw error
  })

/**
 * A client of a shop's REST API, wc/v3. Every method rejects with a {@link ShopError}.
 *
 * Lists are read in order of id: a list by date of change misses orders that change while its pages are read.
 */
export const createShop = ({ url, key, secret }: ShopOptions) => {
  const base = new URL('wp-json/wc/v3/', url.endsWith('/') ? url : `${url}/`)
  const isSecure = base.protocol === 'https:'
  const basic = `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`

  const request = async (method: string, path: string, query: Query = {}, body?: unknown) => {
    const target = new URL(path, base)
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, String(value))
    if (!isSecure) {
      const once = { key, secret, nonce: randomUUID(), timestamp: Math.floor(Date.now() / 1000) }
      target.search = signedQuery(method, target, once)
    }
    const response = await fetch(target, {
      method,
      headers: {
        ...(isSecure && { authorization: basic }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      // A redirect would receive the key.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch(cause => {
      throw new ShopError(`Cannot reach the shop ${base.origin}`, { cause })
    })
    const text = await response.text()
    const json = jsonOf(text)
    if (response.ok && json !== undefined) return { json, headers: response.headers }
    const { status } = response
    const { code, message } = v.is(errorOf, json) ? json : { code: undefined, message: 'no JSON' }
    const retryAfter = Number(response.headers.get('retry-after')) || undefined
    const failure = `Cannot ${method} ${path}: the shop answered ${status}: ${message}`
    throw new ShopError(failure, { status, code, retryAfter })
  }

  const get = async (path: string, query?: Query) => (await request('GET', path, query)).json

  const list = async function* <Item>(
    path: string,
    schema: v.GenericSchema<unknown, Item>,
    query: Query,
    first = 1,
  ) {
    for (let page = first; ; page++) {
      const { json } = await request('GET', path, { ...query, per_page: PAGE, page })
      const items = v.parse(v.array(schema), json)
      yield* items
      if (items.length < PAGE) return
    }
  }

  // With "Z", WooCommerce silently finds nothing.
  const gmt = (time: Date) => time.toISOString().slice(0, 19)
  const BY_ID = {
    status: 'any',
    orderby: 'id',
    order: 'asc',
    dates_are_gmt: 'true',
    dp: 6,
    _fields: ORDER_FIELDS.join(','),
  }

  return {
    /** Any request of the API, with its JSON. */
    request,
    /** An order; undefined if it was deleted. */
    order: async (id: number): Promise<ShopOrder | undefined> => {
      const found = await orUndefined(get(`orders/${id}`, { dp: 6, _fields: ORDER_FIELDS.join(',') }))
      return found === undefined ? undefined : v.parse(shopOrder, found)
    },
    /** Sets one metadata entry of an order, and its status. */
    update: async (id: number, { meta, status }: OrderChange): Promise<void> => {
      const meta_data = meta && [{ key: META_KEY, value: meta }]
      await request('PUT', `orders/${id}`, {}, { ...(meta && { meta_data }), ...(status && { status }) })
    },
    /** The texts of an order's private notes. */
    notes: async (id: number): Promise<readonly string[]> =>
      v
        .parse(v.array(v.looseObject({ note: v.string() })), await get(`orders/${id}/notes`))
        .map(({ note }) => note),
    /** Adds a private note to an order; the shop shows its text as HTML. */
    addNote: async (id: number, note: string): Promise<void> => {
      await request('POST', `orders/${id}/notes`, {}, { note, customer_note: false })
    },
    /** The orders changed after a time, to the second, in order of id. */
    changedSince: (time: Date): AsyncGenerator<ShopOrder> =>
      list('orders', shopOrder, { ...BY_ID, modified_after: gmt(time) }),
    /** The webhooks to a URL. */
    webhooks: async (url: string): Promise<readonly Webhook[]> => {
      const found: Webhook[] = []
      for await (const each of list('webhooks', webhook, {})) if (each.delivery_url === url) found.push(each)
      return found
    },
    /** Activates a webhook if it is not active; its failure count remains. */
    activate: async (id: number): Promise<void> => {
      await request('PUT', `webhooks/${id}`, {}, { status: 'active' })
    },
    /** Creates a webhook, whose secret cannot be read again. */
    createWebhook: async (topic: string, delivery_url: string, webhookSecret: string) => {
      const given = { name: `order-relay ${topic}`, topic, delivery_url, secret: webhookSecret }
      return v.parse(webhook, (await request('POST', 'webhooks', {}, given)).json)
    },
    removeWebhook: async (id: number): Promise<void> => {
      await orUndefined(request('DELETE', `webhooks/${id}`, { force: 'true' }))
    },
    /**
     * The orders created in a period, in order of id. `any` excludes the trash.
     *
     * @param fields the fields to read
     * @param first the first page to read; a page has {@link PAGE} orders
     */
    orders: (after: Date, before: Date, fields = ORDER_FIELDS, first = 1): AsyncGenerator<ShopOrder> => {
      const query = { after: gmt(after), before: gmt(before), _fields: fields.join(',') }
      return list('orders', shopOrder, { ...BY_ID, ...query }, first)
    },
    /** The number of orders in each status, including custom statuses. */
    statuses: async () =>
      v.parse(
        v.array(v.looseObject({ slug: v.string(), name: v.string(), total: v.number() })),
        await get('reports/orders/totals'),
      ),
    products: (): AsyncGenerator<Product> =>
      list('products', product, { orderby: 'id', order: 'asc', _fields: 'id,name,sku,type' }),
    variations: (id: number): AsyncGenerator<Product> =>
      list(`products/${id}/variations`, product, { orderby: 'id', order: 'asc', _fields: 'id,name,sku' }),
    gateways: async () =>
      v.parse(
        v.array(v.looseObject({ id: v.string(), title: v.nullish(v.string(), ''), enabled: v.boolean() })),
        await get('payment_gateways'),
      ),
    /** The value of a setting, such as `general`, `woocommerce_currency`. */
    setting: async (group: string, id: string): Promise<unknown> =>
      v.parse(setting, await get(`settings/${group}/${id}`)).value,
  }
}

export type Shop = ReturnType<typeof createShop>
