import { type IncomingHttpHeaders, request } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { withBrowser } from '@order-relay/test-support/browser.ts'
import { local, useLocalStack } from '@order-relay/test-support/relay.ts'
import { startServer } from '@order-relay/test-support/server.ts'
import { until } from '@order-relay/test-support/until.ts'
import { createLive } from '../../console/live.ts'
import { startConsole } from '../../console/server.ts'
import type { Open } from './hands.ts'
import { allPageTests } from './pages-all.suite.ts'
import { orderPageTests } from './pages-orders.suite.ts'
import { queuePageTests } from './pages-queues.suite.ts'
import { setupPageTests } from './pages-setup.suite.ts'
import { useConsole } from './serve.ts'
import { tourTests } from './tour.suite.ts'
import { windowTests } from './windows.suite.ts'

type Headers = Record<string, string>

useLocalStack({})

const { context, nextUrl, url: urlOf, authorization: authorizationOf, call, post, exchange } = useConsole()

let url: string
let authorization: string
beforeAll(() => {
  url = urlOf()
  authorization = authorizationOf()
})

const storeOf = async (source: string) => {
  const { text } = await call('/api/stores', { headers: { authorization } })
  return JSON.parse(text).stores.find((each: { source: string }) => each.source === source)
}

test('the token of an address opens one session, which requests pass in a header', async () => {
  const address = nextUrl()
  const page = await call('/')
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /)
  expect(page.text).not.toMatch(/<script>|style=/)
  const opened = await exchange(address)
  expect([opened.status, opened.headers.get('set-cookie')]).toEqual([200, null])
  expect(await exchange(address)).toMatchObject({ status: 401, text: expect.stringContaining('works once') })
  expect((await exchange(`${url}/?token=another`)).status).toBe(401)
  expect((await exchange(url)).status).toBe(401)
  expect((await post('session', {}, { authorization: '' })).status).toBe(401)
  expect(nextUrl()).not.toBe(address)

  const { session } = JSON.parse(opened.text)
  const own = { authorization: `Bearer ${session}` }
  expect((await call('/api/overview', { headers: own })).status).toBe(200)
  const others = [`Bearer ${session}x`, `Basic ${session}`, session, `Bearer ${address.split('=')[1]}`]
  for (const headers of [
    {},
    { cookie: `session=${session}` },
    ...others.map(authorization => ({ authorization })),
  ]) {
    for (const path of ['/api/overview', '/api/events'])
      expect((await call(path, { headers })).status).toBe(401)
  }
})

test.each<[string, Headers]>([
  ['Host', { host: 'relay.example' }],
  ['Origin', { origin: 'http://relay.example' }],
  ['Origin', { origin: 'null' }],
  ['Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
])('refuses a request from another page by its %s', async (name, headers) => {
  // fetch sets these itself.
  const answer = await new Promise<string>(resolve => {
    const sent = request(`${url}/api/overview`, { headers: { authorization, ...headers } }, async response =>
      resolve(`${response.statusCode} ${await textOf(response)}`),
    )
    sent.end()
  })
  expect(answer).toMatch(new RegExp(`^403 .*${name} is `))
})

test("a change requires a session, the console's Origin and JSON", async () => {
  const keys = async () => (await storeOf('demo-shop')).keys.length
  const before = await keys()
  const key = { source: 'demo-shop', kind: 'full' }
  const withoutOrigin = {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{}',
  }
  expect((await call('/api/stores/key', withoutOrigin)).text).toContain('Origin is missing')
  expect((await post('stores/key', key, { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await post('stores/key', key, { authorization: '' })).status).toBe(401)
  expect((await post('stores/key', { ...key, source: 7 })).status).toBe(400)
  expect((await post('stores/key', { ...key, source: 'x'.repeat(17e6) })).text).toContain('too large')
  expect(await post('stores/key', { ...key, source: 'nobody' })).toMatchObject({
    status: 409,
    text: expect.stringContaining('Cannot find the store'),
  })
  expect(await keys()).toBe(before)

  const made = await post('stores/key', key)
  expect(await keys()).toBe(before + 1)
  await post('stores/revoke', { source: 'demo-shop', id: JSON.parse(made.text).id })
  expect(await keys()).toBe(before)
  expect((await post('stores/index', {})).status).toBe(200)
})

const webhook = {
  url: 'http://127.0.0.1/webhook',
  source: 'api',
  status: 'paid',
  total: 1,
  invoiceNumber: 1,
  age: 0,
  wait: 0,
}
test.each([
  ['key', { key: 'two words', check: false }, 'it contains whitespace or line breaks'],
  ['send', webhook, 'no order is given'],
  ['send', { ...webhook, url: 'nowhere' }, 'it is not an http or https address'],
  ['send', { ...webhook, secret: 'two words' }, 'it contains whitespace or line breaks'],
  ['signature', { signature: '', body: '', secret: 'two words' }, 'it contains whitespace or line breaks'],
])('refuses %s of %j with a reason', async (path, body, why) => {
  const { status, text } = await post(path, body)
  expect([status, text]).toEqual([409, expect.stringContaining(why)])
  expect(text).not.toContain('two words')
})

test('resends the orders of a store', async () => {
  const since = new Date().toISOString()
  await local.create('resent-in-console', {}, 'relay')
  await post('stores/resend', { source: 'api', since })
  await until(async () => (await storeOf('api')).resend.progress?.reached > 0)
  expect((await post('stores/resend-stop', { source: 'api' })).status).toBe(200)
  await until(async () => (await storeOf('api')).resend.end !== undefined)
  expect((await storeOf('api')).resend.end).not.toHaveProperty('failure')
})

test('reports a change as soon as the first page has connected', async () => {
  const live = createLive(context(), new AbortController().signal)
  let value = 1
  live.poll('value', 50, async () => value)
  const kinds: string[] = []
  const leave = live.listen(({ kind }) => kinds.push(kind))
  value = 2
  await until(async () => kinds.includes('value')).finally(leave)
})

describe('in a browser', () => {
  const openAt = withBrowser()
  const open: Open = options => openAt(nextUrl(), { reducedMotion: 'reduce', ...options })
  // A test that fails during an outage must not make the next ones fail.
  afterEach(() => local.sandbox('DELETE', '/panel/faults'))

  orderPageTests(open)
  allPageTests(open)
  queuePageTests(open)
  setupPageTests(open)
  tourTests(open)
  windowTests(openAt, { nextUrl, url: urlOf })

  test('all tabs of a browser share the session, which another port does not receive', async () => {
    const address = nextUrl()
    const { page, errors } = await openAt(`${address}#/stores`)
    await page.getByText('All stores in').waitFor()
    expect(page.url()).toBe(`${url}/#/stores`)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.reload()
    await page.getByText('All stores in').waitFor()
    const tab = await page.context().newPage()
    await tab.goto(`${url}/#/orders`)
    await tab.getByText('Last change').first().waitFor()
    // The used address leads to the session of this browser.
    await tab.goto(`${address}#/setup`)
    await tab.getByText('Webhook URL').first().waitFor()

    const received: IncomingHttpHeaders[] = []
    const other = await startServer(async ({ headers }) => {
      received.push(headers)
      return { status: 200 }
    })
    try {
      await tab.goto(other.url)
      expect(await tab.evaluate('localStorage.length')).toBe(0)
      expect(received).not.toEqual([])
      for (const headers of received) {
        expect(headers).not.toHaveProperty('cookie')
        expect(headers).not.toHaveProperty('authorization')
      }
    } finally {
      await other.close()
    }
    expect(errors).toEqual([])
  })

  test('after a restart, says that the console does not answer, then that the session has ended', async () => {
    const start = (port: number) => startConsole(context(), { port })
    const first = await start(0)
    const { port } = new URL(first.nextUrl())
    const { page } = await openAt(`${first.nextUrl()}#/stores`)
    await page.getByText('All stores in').waitFor()
    await first.close()
    await page.getByText('Disconnected, trying again…').waitFor()
    await page.evaluate('location.hash = "#/orders"')
    await page.getByText('Start it again with npm start').waitFor()
    const second = await start(Number(port))
    try {
      await page.getByText('Signed out', { exact: true }).waitFor()
      await page
        .getByText('Signed out: open the last address that npm start or relay console printed')
        .waitFor()
      await (await page.context().newPage()).goto(second.nextUrl())
      await page.getByText('Live', { exact: true }).waitFor()
    } finally {
      await second.close()
    }
  })

  test('after a restart, a browser of the same user continues without a token', async () => {
    const start = (port: number) => startConsole(context(), { port, needsNoToken: () => true })
    const first = await start(0)
    const { port, origin } = new URL(first.nextUrl())
    const { page, errors } = await openAt(`${origin}/#/stores`)
    await page.getByText('All stores in').waitFor()
    const address = first.nextUrl()
    await first.close()
    await page.getByText('Disconnected, trying again…').waitFor()
    const second = await start(Number(port))
    try {
      await page.getByText('Live', { exact: true }).waitFor()
      await page.evaluate('location.hash = "#/orders"')
      await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
      await page.goto(address)
      await page.getByText('Live', { exact: true }).waitFor()
    } finally {
      await second.close()
    }
    expect(errors.filter(error => !/Failed to load|ERR_/.test(error))).toEqual([])
  })

  test('while stores.yml has errors, Stores shows them, and says that its stores are those of the last valid file', async () => {
    const kept = context().stores()
    const error = 'Cannot read stores.yml:\nline 9: "stores[1].fed" is not a known key'
    const broken = { ...context(), storesProblem: () => ({ error, kept }) }
    const other = await startConsole(broken, { port: 0 })
    try {
      const { page } = await openAt(`${other.nextUrl()}#/stores`)
      await page.getByText('All stores in the last valid stores.yml, with').waitFor()
      await page.locator('.finding', { hasText: 'line 9: "stores[1].fed" is not a known key' }).waitFor()
    } finally {
      await other.close()
    }
  })

  test('an address without # opens the page that it names, with its filters and the token', async () => {
    const { page } = await openAt(url)
    await page.goto(nextUrl().replace('/?', '/orders?source=api&'))
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    expect(page.url()).toBe(`${url}/#/orders?source=api`)
    await page.goto(`${url}/nowhere`)
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    for (const path of ['/favicon.ico', '/api/nowhere']) {
      const headers = { authorization, ...(path.startsWith('/api') && { accept: 'text/html' }) }
      expect((await call(path, { headers, redirect: 'manual' })).status).toBe(404)
    }
  })

  test('says why a sign-in from another page is refused', async () => {
    const { page } = await openAt(url)
    const forbidden = {
      error: {
        message: 'Origin is "null": the console accepts no requests from other web pages or through a tunnel',
      },
    }
    await page.route('**/api/session', route => route.fulfill({ status: 403, json: forbidden }))
    await page.goto(nextUrl())
    await page.getByText('Cannot sign in: Origin is "null"').waitFor()
  })

  test('says what to do without a session, and continues once another tab has opened one', async () => {
    const used = nextUrl()
    await exchange(used)
    const { page } = await openAt(`${used}#/stores`)
    await page
      .getByText('Signed out: open the last address that npm start or relay console printed')
      .waitFor()
    await (await page.context().newPage()).goto(nextUrl())
    await page.getByText('All stores in').waitFor()
  })
})
