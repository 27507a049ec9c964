import { orderChanges } from './changes.ts'
import { authenticator, paged, Refusal } from './http.ts'
import { type FakeOrder, gmt, type NewOrder, newOrder, sumOf } from './orders.ts'
import { shopPage } from './page.ts'
import { type Route, startServer } from './server.ts'
import { fakeWebhooks } from './webhooks.ts'

type Product = { id: number; name: string; sku: string; type: 'simple' | 'variable'; price?: string }
type Note = { id: number; note: string; customer_note: boolean }

export type FakeShopOptions = {
  port?: number
  key?: string
  secret?: string
  /** High-performance order storage: every write to an order updates its modification time and sends a webhook. @default true */
  hpos?: boolean
  currency?: string
  decimals?: number
  /** @default 'included' */
  taxes?: 'included' | 'excluded' | 'off'
  now?: () => Date
}

/**
 * A WooCommerce shop in memory on 127.0.0.1: the parts of wc/v3 that the connector uses, with the quirks of real shops
 * (10.5 and 9.4) that make naive clients lose orders.
 */
export const startFakeShop = async (options: FakeShopOptions = {}) => {
  const { key = 'ck_fake', secret = 'cs_fake', hpos = true, now = () => new Date() } = options
  const { currency = 'IRR', decimals = 0, taxes = 'included' } = options
  const orders = new Map<number, FakeOrder>()
  const notes = new Map<number, Note[]>()
  const products: Product[] = [{ id: 1, name: 'Product SKU-1', sku: 'SKU-1', type: 'simple' }]
  const variations = new Map<number, Omit<Product, 'type'>[]>()
  const webhooks = fakeWebhooks({ now })
  const lostStatuses = new Set<string>()
  let nextId = 1000
  let isClosed = false
  /** Minutes of the shop's zone ahead of GMT. */
  let zone = 210

  const touch = (order: FakeOrder) => {
    order.date_modified_gmt = gmt(now())
    webhooks.queue('order.updated', order.id)
  }

  const found = (id: string) => {
    const order = orders.get(Number(id))
    if (order === undefined) throw new Refusal(404, 'woocommerce_rest_shop_order_invalid_id')
    return order
  }

  const { refund, changeStatus, put } = orderChanges({ hpos, now, newId: () => nextId++, touch })

  /** An order as the API shows it: its local times are in the shop's current time zone. */
  const shown = (order: FakeOrder) => ({
    ...order,
    date_created: gmt(new Date(Date.parse(`${order.date_created_gmt}Z`) + zone * 60_000)),
  })

  const listed = (query: URLSearchParams) => {
    const statuses = (query.get('status') ?? 'any').split(',')
    // `any` excludes trash, even if `trash` is requested as well.
    const isAny = statuses.includes('any')
    const at = (name: string) => {
      const time = query.get(name) ?? undefined
      // A zone together with dates_are_gmt finds nothing.
      const isWrong = time !== undefined && /(Z|[+-]\d\d:?\d\d)$/.test(time)
      return isWrong && query.get('dates_are_gmt') === 'true' ? '9999' : time
    }
    const keyOf = (order: FakeOrder) => (query.get('orderby') === 'modified' ? order.date_modified_gmt : '')
    const direction = query.get('order') === 'asc' ? 1 : -1
    const [after, before, modifiedAfter] = [at('after'), at('before'), at('modified_after')]
    return [...orders.values()]
      .filter(({ status }) => !lostStatuses.has(status))
      .filter(({ status }) => (isAny ? status !== 'trash' : statuses.includes(status)))
      .filter(order => after === undefined || order.date_created_gmt > after)
      .filter(order => before === undefined || order.date_created_gmt < before)
      .filter(order => modifiedAfter === undefined || order.date_modified_gmt > modifiedAfter)
      .sort((a, b) => direction * (keyOf(a).localeCompare(keyOf(b)) || a.id - b.id))
      .map(shown)
  }

  /** An order created through the API, with the products of its items. */
  const givenOrder = ({ line_items = [], billing, ...others }: Record<string, unknown>): NewOrder => ({
    ...others,
    phone: (billing as { phone?: string } | undefined)?.phone ?? '',
    items: (line_items as { product_id: number; quantity: number }[]).map(({ product_id, quantity }) => {
      const product = products.find(({ id }) => id === product_id)
      const total = sumOf(Array.from({ length: quantity }, () => product?.price ?? '0'))
      return { product_id, quantity, sku: product?.sku ?? '', name: product?.name ?? '', total }
    }),
  })

  const routes: Route[] = [
    ['GET', /^orders$/, query => paged(listed(query), query)],
    ['POST', /^orders$/, (_, body) => shown(create(givenOrder(body)))],
    ['GET', /^orders\/(\d+)$/, (_q, _b, [id = '']) => shown(found(id))],
    ['PUT', /^orders\/(\d+)$/, (_, body, [id = '']) => shown(put(found(id), body))],
    ['GET', /^orders\/(\d+)\/notes$/, (_q, _b, [id = '']) => notes.get(found(id).id) ?? []],
    [
      'POST',
      /^orders\/(\d+)\/notes$/,
      (_, { note, customer_note = false }, [id = '']) => {
        const added = { id: nextId++, note: String(note), customer_note: customer_note === true }
        notes.set(found(id).id, [added, ...(notes.get(Number(id)) ?? [])])
        return added
      },
    ],
    [
      'POST',
      /^orders\/(\d+)\/refunds$/,
      (_, { amount, api_refund, reason }, [id = '']) => {
        // The payment gateway refuses the refund, and the order does not change.
        if (api_refund !== false) throw new Refusal(500, 'woocommerce_rest_cannot_create_order_refund')
        return refund(found(id), String(amount), String(reason ?? ''))
      },
    ],
    [
      'POST',
      /^products$/,
      (_, { name, sku, regular_price }) => {
        const product = {
          id: nextId++,
          name: String(name),
          sku: String(sku),
          type: 'simple' as const,
          price: String(regular_price),
        }
        products.push(product)
        return product
      },
    ],
    [
      'DELETE',
      /^(?:orders|products)\/(\d+)$/,
      (_q, _b, [id]) => ({ id: Number(id), deleted: orders.delete(Number(id)) }),
    ],
    ['GET', /^products$/, query => paged(products, query)],
    [
      'GET',
      /^products\/(\d+)\/variations$/,
      (query, _, [id]) => paged(variations.get(Number(id)) ?? [], query),
    ],
    [
      'GET',
      /^reports\/orders\/totals$/,
      () =>
        [...new Set([...orders.values()].map(({ status }) => status))].map(slug => ({
          slug,
          name: slug,
          total: [...orders.values()].filter(order => order.status === slug).length,
        })),
    ],
    [
      'GET',
      /^payment_gateways$/,
      () => ['bacs', 'cod', 'zarinpal'].map(id => ({ id, title: id.toUpperCase(), enabled: id !== 'bacs' })),
    ],
    ['GET', /^settings\/general\/woocommerce_currency$/, () => ({ value: currency })],
    ['GET', /^settings\/general\/woocommerce_price_num_decimals$/, () => ({ value: String(decimals) })],
    ['GET', /^settings\/general\/woocommerce_calc_taxes$/, () => ({ value: taxes === 'off' ? 'no' : 'yes' })],
    [
      'GET',
      /^settings\/tax\/woocommerce_prices_include_tax$/,
      () => ({ value: taxes === 'included' ? 'yes' : 'no' }),
    ],
    ['GET', /^webhooks$/, query => paged(webhooks.list(), query)],
    ['POST', /^webhooks$/, (_, body) => webhooks.create(body as Parameters<typeof webhooks.create>[0])],
    ['GET', /^webhooks\/(\d+)$/, (_q, _b, [id]) => webhooks.get(Number(id))],
    ['PUT', /^webhooks\/(\d+)$/, (_, body, [id]) => webhooks.update(Number(id), body)],
    ['DELETE', /^webhooks\/(\d+)$/, (_q, _b, [id]) => webhooks.remove(Number(id)) || undefined],
  ]

  const server = await startServer(options.port ?? 0, {
    routes,
    authenticate: authenticator({ key, secret }, now),
    isClosed: () => isClosed,
    page: () => shopPage([...orders.values()].toReversed(), id => notes.get(id) ?? []),
    order: () => create(),
  })

  /** The checkout: a new order, which also sends `order.updated`. */
  const create = (given: NewOrder = {}): FakeOrder => {
    const order = newOrder(nextId++, now(), { currency, ...given })
    orders.set(order.id, order)
    webhooks.queue('order.created', order.id)
    webhooks.queue('order.updated', order.id)
    return order
  }

  /** The block checkout: a draft, which already sends a webhook, until the customer places the order. */
  const checkout = (given: NewOrder = {}) => {
    const order = newOrder(nextId++, now(), { currency, ...given, status: 'checkout-draft' })
    orders.set(order.id, order)
    webhooks.queue('order.updated', order.id)
    return {
      id: order.id,
      place: () => {
        // Bank transfers and cheques wait until the shop confirms the payment.
        const waits = ['bacs', 'cheque'].includes(order.payment_method)
        changeStatus(order, waits ? 'on-hold' : 'processing')
        webhooks.queue('order.created', order.id)
        touch(order)
      },
    }
  }

  return {
    url: server.url,
    key,
    secret,
    create,
    checkout,
    webhooks,
    order: (id: number) => found(String(id)),
    notes: (id: number) => notes.get(id) ?? [],
    requests: server.requests,
    /** A change made in the shop's pages. */
    edit: (id: number, change: Partial<FakeOrder>) => put(found(String(id)), change),
    refund: (id: number, amount: string) => refund(found(String(id)), amount),
    /** Changes the database without sending a webhook. */
    sql: (id: number, change: Partial<FakeOrder>) => Object.assign(found(String(id)), change),
    trash: (id: number) => {
      found(String(id)).status = 'trash'
      webhooks.queue('order.deleted', id)
    },
    /** Deletes an order that is not in the trash, which sends no webhook. */
    delete: (id: number) => orders.delete(id),
    /** Deletes the refunds of an order, which sends no webhook and does not change its status. */
    deleteRefunds: (id: number) => {
      found(String(id)).refunds = []
    },
    /** Renames a SKU, or deletes its product (null), which changes old orders. */
    changeSku: (from: string, to: string | null) => {
      for (const { line_items } of orders.values())
        for (const line of line_items) if (line.sku === from) line.sku = to
    },
    setZone: (minutes: number) => {
      zone = minutes
    },
    addProduct: (product: Product, itsVariations: Omit<Product, 'type'>[] = []) => {
      products.push(product)
      variations.set(product.id, itsVariations)
    },
    /** Orders with the status of a plugin that was removed are in no list. */
    losePlugin: (status: string) => lostStatuses.add(status),
    setMaintenance: (closed: boolean) => {
      isClosed = closed
    },
    /** A visit to the shop, which sends the queued webhooks. */
    visit: () =>
      webhooks.visit((topic, id) => {
        if (topic === 'order.deleted') return { id }
        const order = orders.get(id)
        return order && shown(order)
      }),
    close: server.close,
  }
}

export type FakeShop = Awaited<ReturnType<typeof startFakeShop>>
