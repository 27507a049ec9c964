import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { relayHeaders } from '@order-relay/lib/feeds/deliver.ts'
import {
  exactText,
  feedMessages,
  type FeedMessage as Published,
  queuedForm,
} from '@order-relay/lib/orders/feed.ts'
import { newOrder } from '@order-relay/lib/orders/order.ts'
import { codeBlocks, undocumentedMessage } from '@order-relay/test-support/documents.ts'
import type { OrderUpdated, RequestChanged } from 'order-relay-store'
import { orderUpdated, requestChanged } from 'order-relay-store/testing'
import type { InferOutput } from 'valibot'
import { asyncApi } from '../asyncapi.ts'
import { SCHEMAS } from '../schemas.ts'

type UpdatedInRelay = Omit<Extract<Published, { event: 'order.updated' }>, 'exact'>
type ChangedInRelay = Omit<Exclude<Published, { event: 'order.updated' }>, 'exact'>
type UpdatedInDocument = InferOutput<typeof SCHEMAS.OrderUpdated>
type ChangedInDocument = InferOutput<typeof SCHEMAS.RequestChanged>
type ChangedInPackage = Pick<RequestChanged, keyof RequestChanged>

/** The named fields of a type at any depth, and which of them are optional. */
type Fields<T> = T extends readonly (infer Element)[]
  ? Fields<Element>[]
  : T extends string
    ? T
    : T extends object
      ? {
          [Name in keyof T as string extends Name ? never : Name]-?: object extends Pick<T, Name>
            ? { optional: Fields<Exclude<T[Name], undefined>> }
            : Fields<T[Name]>
        }
      : T

/** Two functions that return their argument; `npm run types` names a field that only one of the types has. */
type Same<A, B> = readonly [(a: Fields<A>) => Fields<B>, (b: Fields<B>) => Fields<A>]

// The relay passes the service's order result through, so only the document and the package name its fields.
void ([a => a, b => b] satisfies Same<Omit<UpdatedInRelay, 'data'>, Omit<OrderUpdated, 'data'>>)
void ([a => a, b => b] satisfies Same<UpdatedInDocument, OrderUpdated>)
void ([a => a, b => b] satisfies Same<ChangedInRelay, ChangedInPackage>)
void ([a => a, b => b] satisfies Same<ChangedInDocument, ChangedInPackage>)

const key = { source: 'api', external_id: '1' }
const reason = { status: 404, code: 'not_found', message: 'none', field: 'items' }

/** The path of every field at any depth. */
const fieldsOf = (value: unknown, path = ''): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => [path + name, ...fieldsOf(inner, `${path}${name}.`)])
    : []

test('the testing module of the package produces every field of the messages that the relay publishes', () => {
  const result = {
    ...key,
    ...Object.fromEntries(Object.keys(SCHEMAS.OrderResult.entries).map(name => [name, ''])),
  }
  const ended = [{ ids: ['id'], kind: 'payment', state: 'rejected', reason }] as const
  const order = { ...newOrder(key), result: { ...result, status: 'invoiced' }, ended }
  const notices = [{ event: 'order.updated' }, { event: 'order.rejected', request: 'id' }] as const
  const published = feedMessages(order, { cause: { event: 'order.payment', delivery: 'id' }, notices })
  const produced = [orderUpdated(key), requestChanged('rejected', { ...key, error: reason })]
  expect(produced.map(message => fieldsOf(message).toSorted())).toEqual(
    published.map(message => fieldsOf(message).toSorted()),
  )
  expect(produced.map(undocumentedMessage)).toEqual([undefined, undefined])
})

const DESCRIPTION = asyncApi().info.description
const INTEGRATE = readFileSync('docs/integrate.md', 'utf8')

test('the examples in docs/integrate.md have every field of a message', () => {
  const examples = codeBlocks('docs/integrate.md', 'json')
    .map(block => JSON.parse(block))
    .filter(body => 'event' in body)
  expect(examples.map(message => Object.keys(message).toSorted())).toEqual(
    [SCHEMAS.OrderUpdated, SCHEMAS.RequestChanged].map(({ entries }) => Object.keys(entries).toSorted()),
  )
})

test.each([
  ['README.md', /have the webhook's shape, .*?\.\n/s.exec(readFileSync('README.md', 'utf8'))?.[0]],
  ['docs/integrate.md', /has the shape of the service's own webhook, .*?:\n/s.exec(INTEGRATE)?.[0]],
  ['the description of the feeds', /without `version`.*? in the body/s.exec(DESCRIPTION)?.[0]],
])('%s lists the fields that the relay adds to a webhook', (_, sentence = '') => {
  const webhook = Object.keys(JSON.parse(exactText({ event: '', data: key, delivery: '' })))
  const added = Object.keys(SCHEMAS.OrderUpdated.entries).filter(name => !webhook.includes(name))
  expect(added.filter(name => !new RegExp(`\\b${name}\\b`).test(sentence))).toEqual([])
})

test.each([
  ['docs/integrate.md', INTEGRATE],
  ['the description of the feeds', DESCRIPTION],
])(
  '%s names the headers of messages to exact stores, which are the message attributes with a prefix',
  (_, text) => {
    const { attributes = {} } = queuedForm({ version: 1, cause: { event: '', delivery: '' }, exact: '{}' })
    const headers = Object.keys(relayHeaders({ ...attributes }))
    expect(headers).not.toEqual([])
    expect(headers.filter(name => !text.toLowerCase().includes(`\`${name}\``))).toEqual([])
  },
)
