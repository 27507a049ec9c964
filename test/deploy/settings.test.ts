import { describe, expect, test } from '@jest/globals'
import { assertDeployable } from '../../deploy/settings.ts'
import type { Store } from '../../lib/platform/stores.ts'
import { serverless } from './project.ts'

const GOOD = 'https://accounting.example/base'
const LOOPBACK: Store = {
  source: 'shop',
  feed: { http: 'http://localhost:8080/hook', disable_after: 60 },
}

const settings = {
  stage: 'production',
  accountingUrl: GOOD,
  feedAddresses: 'public',
  accountingTimeZone: 'Asia/Tehran',
  waitSeconds: '3',
  shift: 'none',
  ordersTable: 'orders',
  domain: '',
  certificateArn: '',
  stores: [],
}

describe('the URL of the accounting service', () => {
  const check = (accountingUrl: string, stage = 'production') =>
    assertDeployable({ ...settings, stage, accountingUrl })

  test.each([
    ['', 'is not set;'],
    ['http://accounting.example', 'is "http://accounting.example", which does not begin with https://;'],
    ['accounting.example', 'is "accounting.example", which is not a URL;'],
    ['accounting.example:8443', 'is "accounting.example:8443", which does not begin with https://;'],
    ['https://', 'is "https://", which is not a URL;'],
    ['https://me:pass@a.example', 'is "https://***@a.example", which contains a user or password;'],
    ['https://me:pa/ss@a.example', 'is "https://***@a.example", which is not a URL;'],
    ['https://a.example/?key=1', 'is "https://a.example/?key=1", which has a query or fragment;'],
    ['https://169.254.169.254/', 'is "https://169.254.169.254/", which AWS cannot reach;'],
    ['https://localhost:4000', 'is "https://localhost:4000", which AWS cannot reach;'],
  ])('%j is refused', (url, problem) => {
    const start = `Cannot deploy: the base URL of the accounting service ${problem} set it, such as ACCOUNTING_URL=https://`
    expect(() => check(url)).toThrow(start)
  })

  test.each([GOOD, 'HTTPS://accounting.example:8443'])('%j is accepted', url => {
    expect(() => check(url)).not.toThrow()
  })

  test('may be http in the stage "local"', () => {
    expect(() => check('http://127.0.0.1:4000', 'local')).not.toThrow()
  })
})

test.each<[object, string]>([
  [{ stores: [LOOPBACK] }, 'the HTTP feed of the store "shop" is http://localhost:8080/hook'],
  [{ feedAddresses: 'loopback' }, 'feedAddresses is "loopback", which only the local stack may use'],
  [{ accountingTimeZone: 'Tehran' }, 'accountingTimeZone is "Tehran"; set a name'],
  [{ waitSeconds: '11' }, 'waitSeconds is "11"; set a number from 0 to 10'],
  [{ shift: 'Canary20Percent' }, 'shift is "Canary20Percent"; set one of none, AllAtOnce, '],
  [{ ordersTable: 'other-orders' }, 'ordersTable is "other-orders"; set "orders", or'],
  [{ domain: 'relay.example' }, 'domain is "relay.example" without a certificate; set certificateArn'],
])('%j is refused, except in the stage "local": %s', (wrong, problem) => {
  expect(() => assertDeployable({ ...settings, ...wrong })).toThrow(problem)
  expect(() => assertDeployable({ ...settings, ...wrong, stage: 'local' })).not.toThrow()
})

test('a stage whose queues the functions of another stage could reach is refused', () => {
  expect(() => assertDeployable({ ...settings, stage: 'trial-feed-2' })).toThrow(
    'Cannot deploy: the stage "trial-feed-2" contains "-feed-", so the functions of the stage "trial" could',
  )
})

test('a deployment stops before anything is packaged, with the message alone', async () => {
  const env = { ...process.env, ACCOUNTING_URL: 'http://accounting.example' }
  const { code, output } = await serverless(process.cwd(), env, 'package')
  expect(output).toContain(
    'Cannot deploy: the base URL of the accounting service is "http://accounting.example"',
  )
  expect(output).not.toMatch(/ at .*settings\.ts|Service packaged/)
  expect(code).toBe(1)
})
