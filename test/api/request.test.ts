import { describe, expect, test } from '@jest/globals'
import { bearerKey } from '../../lib/api/keys.ts'
import { route } from '../../lib/api/request.ts'

const IDS = [
  ...'1001 a+b a/b /a a//b 50% %41 %2F #7 😀 x/payment refund .. .'.split(' '),
  'a b',
  'سفارش ۱۲',
  'a\nb',
]

test.each(IDS)('the id %j is found in every path, with and without a trailing slash', external_id => {
  const order = `/api/v1/orders/${external_id}`
  for (const end of ['', '/']) {
    expect(route('GET', order + end)).toEqual({ action: { to: 'read', external_id } })
    for (const to of ['payment', 'refund']) {
      expect(route('POST', `${order}/${to}${end}`)).toEqual({ action: { to, external_id } })
      expect(route('DELETE', `${order}/${to}${end}`)).toEqual({
        action: { to: 'withdraw', of: to, external_id },
      })
    }
  }
})

test.each(['a/', '//'])('the id %j, which ends with a slash, is read with a trailing slash', external_id => {
  const order = `/api/v1/orders/${external_id}/`
  expect(route('GET', order)).toEqual({ action: { to: 'read', external_id } })
  expect(route('POST', `${order}refund`)).toEqual({ action: { to: 'refund', external_id } })
})

test('DELETE of an order withdraws its create', () => {
  expect(route('DELETE', '/api/v1/orders/1001/')).toEqual({
    action: { to: 'withdraw', of: 'create', external_id: '1001' },
  })
})

test.each(['/api/v1/orders/', '/api/v1/orders'])('POST %s creates an order', path => {
  expect(route('POST', path)).toEqual({ action: { to: 'create' } })
})

describe('no action', () => {
  test.each([
    ['GET', '/api/v1/orders/', 'POST'],
    ['DELETE', '/api/v1/orders/', 'POST'],
    // API Gateway cuts a path at a question mark in an id; nothing is then registered for another order.
    ['POST', '/api/v1/orders/1001/', 'GET, DELETE'],
    ['PUT', '/api/v1/orders/1001/', 'GET, DELETE'],
    ['PUT', '/api/v1/orders/1001/payment/', 'GET, POST, DELETE'],
    ['GET', '/webhook', 'POST'],
    ['PUT', '/webhook/', 'POST'],
  ])('%s %s is 405 with the allowed methods', (method, path, allow) => {
    expect(route(method, path)).toMatchObject({ refused: { status: 405, headers: { allow } } })
  })

  test.each(['/', '/api/v1/', '/api/v1/ordersx', '/webhooks', '/favicon.ico'])('%s is 404', path => {
    expect(route('POST', path)).toMatchObject({ refused: { status: 404 } })
  })
})

test.each([
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['Bearer  abc ', 'abc'],
  ['Bearer', undefined],
  ['Bearer a b', undefined],
  ['Basic abc', undefined],
  ['', undefined],
  [undefined, undefined],
])('the Authorization header %j has the key %j', (header, key) => {
  expect(bearerKey(header)).toBe(key)
})
