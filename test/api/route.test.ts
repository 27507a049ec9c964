import { describe, expect, test } from '@jest/globals'
import { type Location, route } from '../../lib/api/route.ts'

const encoded = (id: string) => encodeURIComponent(id)

/** As API Gateway hands a path over: all of it decoded; the parameter without its last slash. */
const inAws = (path: string): Location => {
  const rawPath = decodeURIComponent(path)
  const proxy = rawPath.slice('/api/v1/orders/'.length).replace(/\/$/, '')
  return { rawPath, ...(proxy !== '' && { pathParameters: { proxy } }) }
}

/** As serverless-offline does: the path as it was sent without its last slash, the parameter decoded. */
const offline = (path: string): Location => {
  const rawPath = path.replace(/\/$/, '')
  const proxy = decodeURIComponent(rawPath.slice('/api/v1/orders/'.length))
  return { rawPath, pathParameters: proxy === '' ? null : { proxy } }
}

const IDS = [
  '1001',
  'a b',
  'a+b',
  'a/b',
  '/a',
  'a/',
  'a//b',
  '//',
  '50%',
  '%41',
  '%2F',
  '#7',
  'سفارش ۱۲',
  '😀',
  'x/payment',
  'refund',
  'a\nb',
]

describe.each([
  ['API Gateway', inAws],
  ['serverless-offline', offline],
])('behind %s', (_name, located) => {
  test.each(IDS)('the id %j is found in every path', id => {
    const order = `/api/v1/orders/${encoded(id)}/`
    expect(route('GET', located(order))).toEqual({ action: { to: 'read', external_id: id } })
    for (const to of ['payment', 'refund']) {
      const action = { to, external_id: id }
      expect(route('POST', located(`${order}${to}/`))).toEqual({ action })
      expect(route('POST', located(`${order}${to}`))).toEqual({ action })
    }
  })

  test('create is at the root, with and without a slash', () => {
    for (const path of ['/api/v1/orders/', '/api/v1/orders']) {
      expect(route('POST', located(path))).toEqual({ action: { to: 'create' } })
    }
  })

  test.each([
    ['GET', '/api/v1/orders/', 'POST'],
    ['DELETE', '/api/v1/orders/', 'POST'],
    ['POST', '/api/v1/orders/1001/', 'GET'],
    ['PUT', '/api/v1/orders/1001/', 'GET'],
    ['PUT', '/api/v1/orders/1001/payment/', 'GET, POST'],
  ])('%s %s is 405 and says what is possible', (method, path, allow) => {
    expect(route(method, located(path))).toMatchObject({ refused: { status: 405, headers: { allow } } })
  })
})

test('an id of dots that a server took for a way up is taken from the parameter', () => {
  const location = { rawPath: '/api/v1/payment', pathParameters: { proxy: '../payment' } }
  expect(route('POST', location)).toEqual({ action: { to: 'payment', external_id: '..' } })
})

test('a question mark in an id cuts the path in API Gateway, and then nothing is registered for another order', () => {
  const cut = { rawPath: '/api/v1/orders/a', pathParameters: { proxy: 'a' } }
  expect(route('POST', cut)).toMatchObject({ refused: { status: 405 } })
})

test('what is not below the orders is nothing, whatever the catch-all route lets through', () => {
  for (const rawPath of ['/', '/api/v1/', '/api/v1/ordersx', '/webhook', '/favicon.ico']) {
    expect(route('POST', { rawPath })).toMatchObject({ refused: { status: 404 } })
  }
  expect(route('POST', { rawPath: '/api/v1/orders/' })).toEqual({ action: { to: 'create' } })
})
