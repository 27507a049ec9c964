import { expect, test } from '@jest/globals'
import { eachWithSandbox } from './world.ts'

const sandbox = eachWithSandbox()

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8'

const answerTo = async (path: string, accept: string, method = 'GET') => {
  const { status, headers } = await fetch(sandbox().url + path, {
    method,
    headers: { accept },
    redirect: 'manual',
  })
  return [status, headers.get('location') ?? headers.get('content-type')]
}

test.each([
  ['/orders', '/#/orders'],
  ['/orders/', '/#/orders'],
  ['/orders/a%2Fb?source=web', '/#/orders/a%2Fb?source=web'],
  ['/settings', '/#/settings'],
])('redirects a browser from %s to the page of the panel', async (path, page) => {
  expect(await answerTo(path, HTML)).toEqual([302, page])
})

const NOT_FOUND = [404, 'application/json; charset=utf-8']

test.each([
  ['another program', '/orders', '*/*', 'GET'],
  ['another method', '/orders', HTML, 'DELETE'],
  ['a path that is not a page', '/nonsense', HTML, 'GET'],
  ['a path that only begins like a page', '/ordersx', HTML, 'GET'],
  ['an unknown path of the API', '/api/v1/nonsense/', HTML, 'GET'],
  ['another address in the path', '//orders', HTML, 'GET'],
])('answers %s with 404 and JSON', async (_, path, accept, method) => {
  expect(await answerTo(path, accept, method)).toEqual(NOT_FOUND)
})
