import { inspect } from 'node:util'

/**
 * A request to the order API, with a path below `/api/v1/orders/`, or to the panel, which only the service has;
 * `ID` stands for the order's number. `through` is the state with which the relay answers 202 where the
 * service refuses what is only early, see docs/integrate.md.
 */
export type Step = {
  ask: string
  body?: unknown
  key?: 'none' | 'wrong' | 'read' | 'write'
  source?: string
  through?: 'held' | 'waiting'
}

const ITEM = { sku: 'SKU-1', quantity: 1, unit_price: 1_500_000 }
const order = (changes: object = {}) => ({ external_id: 'ID', items: [ITEM], ...changes })
const create = (changes: object = {}, step: Partial<Step> = {}): Step => ({
  ask: 'POST ',
  body: order(changes),
  ...step,
})
const item = (changes: object) => create({ items: [{ ...ITEM, ...changes }] })
const pay = (body: unknown = { method: 'card', reference: '1' }, step: Partial<Step> = {}): Step => ({
  ask: 'POST ID/payment/',
  body,
  ...step,
})
const refund = (body: unknown = {}, step: Partial<Step> = {}): Step => ({
  ask: 'POST ID/refund/',
  body,
  ...step,
})
const read: Step = { ask: 'GET ID/' }
const settings = (body: object): Step => ({ ask: 'PUT /panel/settings', body })
const retry: Step = { ask: 'POST /panel/orders/ID/retry' }
const inReview = settings({ automaticFinalization: false })
const finalizing = settings({ automaticFinalization: true })
const other = { source: 'demo-shop' }

/** A change for each value of each field. */
const variants = (fields: Readonly<Record<string, readonly unknown[]>>): object[] =>
  Object.entries(fields).flatMap(([name, values]) => values.map(value => ({ [name]: value })))

/** What a store relies on, by the spec and by the choices of the sandbox: every answer of every step. */
export const STORIES: readonly [name: string, ...steps: Step[]][] = [
  ['an order is registered once, and the second body is ignored', create(), create({ items: [] }), read],
  ['an order that was paid already', create({ payment: { method: 'card', reference: '' } }), read],
  ['an order is not registered', read, pay(), refund()],
  ['a refused order is registered once it is corrected', item({ sku: 'none' }), read, create(), read],
  [
    'a refused order is registered once the product is there',
    item({ sku: 'NEW-ID' }),
    { ask: 'PUT /panel/products/NEW-ID', body: { name: 'New', stock: 5 } },
    item({ sku: 'NEW-ID' }),
  ],
  [
    'no customer, and no default customer',
    settings({ defaultCustomer: null }),
    create(),
    read,
    create({ customer: { mobile: '09123456789', name: 'سارا' } }),
  ],
  ...['09123456789', '9123456789', '+989123456789', '۰۹۱۲۳۴۵۶۷۸۹', '', '00989123456789', '0912'].map(
    (mobile): [string, Step] => [`the mobile number "${mobile}"`, create({ customer: { mobile } })],
  ),
  [
    'an order in review, whose payment is held and registered after finalization',
    inReview,
    create({ payment: { method: 'online' } }),
    create(),
    read,
    finalizing,
    retry,
    read,
  ],
  [
    'a payment and a refund in review',
    inReview,
    create(),
    pay(undefined, { through: 'held' }),
    pay({ method: 'cash' }, { through: 'held' }),
    read,
    finalizing,
    retry,
    read,
    refund(),
  ],
  ['a refund in review', inReview, create(), refund({}, { through: 'waiting' }), read],
  ['out of stock', item({ sku: 'SKU-3' }), read],
  ['a payment, and again', create(), pay(), pay({ payment: { method: 'cash', date: '2026-11-20' } }), read],
  ['a refund, and again, and a payment after it', create(), pay(), refund({ reason: 'x' }), refund(), pay()],
  ['a refund of an order that is not paid, without a body', create(), refund(undefined), read],
  [
    'a payment without a receiving account',
    create(),
    settings({ orderPaymentReceivingAccount: null }),
    pay(),
    read,
    settings({ orderPaymentReceivingAccount: 'bank-1' }),
    pay(),
  ],
  [
    'payments that are invalid',
    create(),
    pay({}),
    pay({ method: 'crypto' }),
    pay({ payment: { method: 'card', date: 'today' } }),
    pay({ method: 'card', reference: 12 }),
    pay([]),
    refund({ reason: 1 }),
    read,
  ],
  ['a source in the body', create(other, other), { ask: 'GET ID/?source=demo-shop', ...other }, read],
  ['a source in the query', create({}, { ask: 'POST ?source=demo-shop', ...other })],
  [
    'the source of a payment and of a refund',
    create(other, other),
    pay(),
    pay({ method: 'card', ...other }, other),
    refund({}, { ask: 'POST ID/refund/?source=demo-shop', ...other }),
  ],
  [
    'two sources',
    create({ source: 'api' }, { ask: 'POST ?source=demo-shop', ...other }),
    pay({ method: 'card', source: 'api' }, { ask: 'POST ID/payment/?source=demo-shop', ...other }),
  ],
  ['an empty source', create({ source: '' }), pay({ method: 'card', source: '' })],
  ['a source of null, and other fields', create({ source: null, date: null, customer: null, payment: null })],
  ['fractions', create({ items: [{ ...ITEM, quantity: 0.125, unit_price: 0.5 }], shipping: 10.5 })],
  ['discounts and shipping', create({ items: [{ ...ITEM, discount: 1000 }], discount: 333, shipping: 7 })],
  ['digits that a double does not hold', create({ shipping: 'BIG' }), read],
  ['a discount above the items', create({ discount: 9_000_000 })],
  ['a date outside the fiscal years', create({ date: '1990-01-01' })],
  ['a date', create({ date: '2026-11-20' }), read],
  ...variants({
    external_id: [undefined, '', 5, 'x'.repeat(101)],
    source: [7],
    items: [undefined, [], {}, [null]],
    date: ['2026-02-30', '۲۰۲۶-۱۱-۲۱'],
    customer: ['Sara', { mobile: 9123456789 }],
    shipping: ['1', -1],
    discount: [[1]],
    payment: [true, {}, { method: 'crypto' }],
  }).map((changes): [string, Step] => [`an order with ${inspect(changes)}`, create(changes)]),
  ...variants({
    ...{
      sku: [undefined, 1, ''],
      quantity: [0, -1, '2'],
      unit_price: [undefined, -5],
      discount: [-5],
      name: [1],
    },
  }).map((changes): [string, Step] => [`an item with ${inspect(changes)}`, item(changes)]),
  ...['', '{', '[]', '"order"', 'null', '{/**/}'].map((body): [string, Step] => [
    `the body ${JSON.stringify(body.slice(0, 9))}`,
    { ask: 'POST ', body },
  ]),
  ...['a/b ID', 'شماره ID', '100%ID', '#ID', 'x'.repeat(90)].map((external_id): [string, ...Step[]] => {
    const path = encodeURIComponent(external_id)
    return [
      `the number "${external_id}"`,
      create({ external_id }),
      { ask: `GET ${path}/` },
      { ask: `GET ${path}` },
      { ask: `POST ${path}/payment`, body: { method: 'pos' } },
      { ask: `POST ${path}/refund/`, body: {} },
    ]
  }),
  [
    'keys',
    create({}, { key: 'none' }),
    create({}, { key: 'wrong' }),
    create({}, { key: 'read' }),
    { ...read, key: 'none' },
    { ...read, key: 'read' },
    create(),
    { ...read, key: 'read' },
    pay(undefined, { key: 'read' }),
    refund({}, { key: 'read' }),
  ],
  [
    'paths and methods',
    { ask: 'GET ' },
    { ask: 'PATCH ID/' },
    { ask: 'PUT ID/payment/' },
    { ask: 'GET ../x' },
  ],
]
