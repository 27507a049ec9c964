import { Readable, Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createContext } from '../../cli/core/context.ts'
import { startConsole } from '../../console/server.ts'
import { local } from '../cli/relay.ts'
import { violationsOf } from '../sandbox/panel-axe.ts'
import { withBrowser } from '../sandbox/panel-browser.ts'
import { until } from '../support/until.ts'
import { messagePageTests } from './messages.ts'
import { setupPageTests } from './setup.ts'
import { watchingTests } from './watching.ts'

type Headers = Record<string, string>

const TOKEN = 'the token of this test'

const HOSTILE = '<img src=/x onerror=alert(1)>'

/** Every page, with text that only this page shows. */
const VIEWS = [
  ['#/overview', 'The last hour'],
  ['#/runbook/queue-age', 'Diagnosis'],
  ['#/orders', 'Last change'],
  ['#/deliveries?outcome=queued', `${HOSTILE}\\u202e`],
  ['#/audit', 'Accounts for every'],
  ['#/setup', 'Webhook URL'],
  ['#/setup/send', 'Signs a webhook'],
  ['#/setup/signature', 'Names the cause'],
  ['#/log', 'Following the log'],
  ['#/dead', 'Read again'],
  ['#/quarantine', 'Read again'],
  ['#/stores', 'Every store of'],
  ['#/stores/api', 'For its developer'],
] as const

/** The console of the local stack of this file, for programs and for a browser. */
export const consoleTests = () => {
  let url: string
  let close: () => Promise<void>
  let cookie: string
  beforeAll(async () => {
    const nothing = new Writable({ write: (_chunk, _encoding, done) => done() })
    const { environment } = local.stack()
    const terminal = { stdin: Readable.from([]), stdout: nothing, stderr: nothing, environment }
    const context = createContext({ local: true }, terminal)
    const started = await startConsole(context, { port: 0, token: TOKEN })
    url = new URL(started.url).origin
    close = async () => {
      await started.close()
      context.close()
    }
    const opened = await fetch(started.url, { redirect: 'manual' })
    cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  })
  afterAll(() => close())

  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, { redirect: 'manual', ...init })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const post = (path: string, body: object, headers: Headers = {}) =>
    call(`/api/${path}`, {
      method: 'POST',
      headers: { cookie, origin: url, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })

  test('the token in the address opens a session, and nothing else does', async () => {
    const opened = await call(`/?token=${encodeURIComponent(TOKEN)}`)
    expect(opened.status).toBe(303)
    expect(opened.headers.get('location')).toBe('/')
    expect(opened.headers.get('set-cookie')).toMatch(
      /^console-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    expect((await call('/api/overview', { headers: { cookie } })).status).toBe(200)
    for (const given of ['', `${cookie}x`, cookie.replace(/-\d+=/, '-1='), `console=${TOKEN}`]) {
      expect((await call('/api/overview', { headers: { cookie: given } })).status).toBe(401)
      expect((await call('/api/events', { headers: { cookie: given } })).status).toBe(401)
    }
    const wrong = await call('/?token=another')
    expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null])
    const page = await call('/')
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /)
    expect(page.text).not.toMatch(/<script>|style=/)
  })

  test.each<[string, Headers]>([
    ['Host', { host: 'relay.example' }],
    ['Origin', { origin: 'http://relay.example' }],
    ['Origin', { origin: 'null' }],
    ['Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
  ])('a request of another page is refused by its %s', async (name, headers) => {
    // fetch sets these itself.
    const { request } = await import('node:http')
    const answer = await new Promise<string>(resolve => {
      request(`${url}/api/overview`, { headers: { cookie, ...headers } }, response => {
        response.setEncoding('utf8').once('data', text => resolve(`${response.statusCode} ${text}`))
      }).end()
    })
    expect(answer).toMatch(new RegExp(`^403 .*${name} is `))
  })

  const keysOf = async () => {
    const { text } = await call('/api/stores', { headers: { cookie } })
    const { stores } = JSON.parse(text)
    return stores.find(({ source }: { source: string }) => source === 'demo-shop').keys.length
  }

  test('a change needs a session, the Origin of the console and JSON', async () => {
    const before = await keysOf()
    const key = { source: 'demo-shop', readOnly: false }
    const withoutOrigin = {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      body: '{}',
    }
    expect((await call('/api/stores/key', withoutOrigin)).text).toContain('Origin is missing')
    expect((await post('stores/key', key, { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await post('stores/key', key, { cookie: '' })).status).toBe(401)
    expect((await post('stores/key', { ...key, source: 7 })).status).toBe(400)
    expect((await post('stores/key', { ...key, source: 'x'.repeat(17e6) })).text).toContain('too large')
    expect(await post('stores/key', { ...key, source: 'nobody' })).toMatchObject({
      status: 409,
      text: expect.stringContaining('Cannot find the store'),
    })
    expect(await keysOf()).toBe(before)

    const made = await post('stores/key', key)
    expect(await keysOf()).toBe(before + 1)
    const { id } = JSON.parse(made.text)
    expect((await post('stores/revoke', { source: 'demo-shop', id })).status).toBe(200)
    expect(await keysOf()).toBe(before)
  })

  const other = 'http://127.0.0.1/webhook'
  const webhook = { url: other, source: 'api', status: 'paid', total: 1, invoiceNumber: 1, age: 0, wait: 0 }
  test.each([
    ['key', { key: 'sandbox-read-key', check: true }, '403 The key lacks the scope orders.write'],
    ['key', { key: 'two words', check: false }, 'it contains whitespace or line breaks'],
    ['webhook/unregister', { url: other, name: `${other}/` }, 'it was not confirmed by the name'],
    ['send', webhook, 'no order is given'],
    ['send', { ...webhook, url: 'nowhere' }, 'it is not an http or https address'],
    ['send', { ...webhook, secret: 'two words' }, 'it contains whitespace or line breaks'],
    ['signature', { signature: '', body: '', secret: 'two words' }, 'it contains whitespace or line breaks'],
  ])('%s of %j is refused, and says why', async (path, body, why) => {
    const { status, text } = await post(path, body)
    expect([status, text]).toEqual([409, expect.stringContaining(why)])
    expect(text).not.toContain('two words')
  })

  test('a store is shown with what its developer needs, and the index is written', async () => {
    const { text } = await call('/api/store?source=api', { headers: { cookie } })
    const { queue, snippets } = JSON.parse(text)
    expect((await local.json(['stores', 'show', 'api'])).data).toMatchObject({ queue, snippets })
    expect((await post('stores/index', {})).status).toBe(200)
  })

  test('the orders of a store are resent at its request', async () => {
    await local.create('resent-in-console', {}, 'relay')
    const today = new Date().toISOString().slice(0, 10)
    expect((await post('stores/resend', { source: 'api', since: today })).status).toBe(200)
    const state = async () => {
      const { stores } = JSON.parse((await call('/api/stores', { headers: { cookie } })).text)
      return stores.find(({ source }: { source: string }) => source === 'api').resend
    }
    await until(async () => (await state()).progress?.reached > 0)
    expect((await post('stores/resend-stop', { source: 'api' })).status).toBe(200)
    await until(async () => (await state()).end !== undefined)
    expect((await state()).end).not.toHaveProperty('failure')
  })

  describe('in a browser', () => {
    const openAt = withBrowser()
    const open = (options?: Parameters<typeof openAt>[1]) =>
      openAt(`${url}/?token=${encodeURIComponent(TOKEN)}`, { reducedMotion: 'reduce', ...options })

    test('an order is found by its request, says why it waits, and is checked or resent', async () => {
      const { page, errors } = await open()
      const external_id = '<b>in\u202E-console</b>'
      const item = { sku: 'sold by nobody', quantity: 1, unit_price: 1 }
      const { status } = await local.store('POST', '', { external_id, items: [item] })
      expect(status).toBe(400)
      const { body } = await local.store('GET', encodeURIComponent(external_id))
      const [request] = body.relay.requests

      await page.keyboard.press('/')
      await page.evaluate('location.hash = "#/orders"')
      await page.getByText('Last change').first().waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type(request.id)
      const found = page.getByRole('table', { name: 'Orders found' })
      await found.waitFor()
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
      expect(await page.locator('.nav, .top, .button, .filters').filter({ visible: true }).count()).toBe(0)
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
        'rgb(255, 255, 255)',
      )
      await page.emulateMedia({ media: 'screen', colorScheme: 'light' })
      await found.getByRole('link', { name: '<b>in\\u202e-console</b>', exact: true }).click()
      await page.getByText('Create waits for the accountant').waitFor()
      // Nothing of the order's number is markup, and what would turn the text around is shown.
      expect(await page.locator('h1').innerText()).toBe('Order <b>in\\u202e-console</b>')
      expect(await violationsOf(page)).toEqual([])

      await page.getByRole('button', { name: 'Resend to the store' }).click()
      await page.getByText(', version 2').waitFor()
      await page.getByRole('button', { name: 'Check now' }).click()
      await page.getByText('The check is in the order queue').waitFor()
      await page.getByRole('button', { name: 'Show the lines of the last day' }).click()
      await page.getByText('event processed').first().waitFor()
      expect(errors).toEqual([])

      const persian = await open({ locale: 'fa-IR' })
      await persian.page.evaluate(`location.hash = "#/orders/api/${encodeURIComponent(external_id)}"`)
      await persian.page
        .getByText(/منتظر .*حسابدار/)
        .first()
        .waitFor()
      expect([await violationsOf(persian.page), persian.errors]).toEqual([[], []])
    })

    test('every page is accessible, in dark mode too, fits a phone, and shows what stores sent as text', async () => {
      await local.relay(['send', '--external-id', `${HOSTILE}\u202e`])
      const words = `\u2067${HOSTILE}\u202e`.repeat(500)
      const result = {
        external_id: 'L'.repeat(100),
        status: 'needs_review',
        error: words,
        invoice_number: words,
      }
      await local.enqueue('orders.fifo', 'order.updated', result)
      await until(
        async () => (await local.json(['orders', 'find', result.external_id])).data.orders.length > 0,
      )
      const { page, errors } = await open()
      for (const [hash, words] of VIEWS) {
        await page.setViewportSize({ width: 1280, height: 800 })
        await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
        await page.getByText(words).first().waitFor()
        const found: string[][] = []
        const wide = await page.evaluate('document.documentElement.scrollWidth')
        expect({ hash, wide, text: await page.locator('body').innerText() }).toMatchObject({
          ...{ hash, wide: 1280, text: expect.not.stringMatching(/[\u202a-\u202e\u2066\u2067]/) },
        })
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          found.push(await violationsOf(page, colorScheme === 'dark' ? ['color-contrast'] : undefined))
        }
        await page.setViewportSize({ width: 390, height: 844 })
        found.push(await violationsOf(page))
        const width = await page.evaluate('document.documentElement.scrollWidth')
        expect({ hash, found, width }).toEqual({ hash, found: [[], [], []], width: 390 })
      }
      await page.evaluate('location.hash = "#/deliveries?outcome=queued"')
      await page.locator('td a code, td a .code').first().click()
      await page.getByRole('link', { name: 'Show the order' }).waitFor()
      expect(await violationsOf(page)).toEqual([])
      expect(errors).toEqual([])
    })

    test('an audit names differences, counts what it lists, and has differing orders read again', async () => {
      const { page, errors } = await open()
      await local.create('audited', {}, 'relay')
      // The service has not been paid.
      await local.relay(['send', '--external-id', 'audited', '--status', 'paid', '--wait', '20s'])
      await page.evaluate('location.hash = "#/audit"')
      await page.getByLabel('Period').selectOption('1h')
      await page.getByRole('button', { name: 'Audit' }).click()
      const differing = page.getByRole('row', { name: 'api audited order is "paid" here and "invoiced"' })
      await differing.waitFor({ timeout: 30_000 })
      const listed = page.locator('details', { hasText: 'compared with the service' })
      await listed.locator('summary').click()
      await listed.getByRole('link', { name: 'api audited' }).waitFor()
      expect(await violationsOf(page)).toEqual([])
      await page.getByRole('button', { name: 'Repair' }).click()
      await page.getByRole('button', { name: 'Have them read' }).click()
      const statusOf = async () => (await local.json(['orders', 'show', 'api', 'audited'])).data.result.status
      await until(async () => (await statusOf()) === 'invoiced')
      expect(errors).toEqual([])
    })

    messagePageTests(open)
    setupPageTests(open)

    watchingTests(open)

    test('the overview follows what happens, and setup says what it finds, in Persian too', async () => {
      const { page, errors } = await open({ locale: 'fa-IR' })
      await page.evaluate('location.hash = "#/setup"')
      await page.getByRole('status').filter({ hasText: /مشکل/ }).waitFor()
      const found = await page.locator('.finding p').allInnerTexts()
      // Commands and addresses remain as they are.
      expect(found.filter(text => !/[\u0600-\u06ff]|^relay |^http:/.test(text))).toEqual([])
      await page.evaluate('location.hash = "#/overview"')
      await page.getByRole('heading', { name: 'نمای کلی' }).waitFor()
      await local.enqueue('orders-dead.fifo', 'order.check', { external_id: 'dead-for-the-console' })
      await page.locator('.verdict', { hasText: 'dead-letters' }).waitFor()
      await page.getByRole('link', { name: 'چه باید کرد' }).click()
      await page.getByText('دستورالعمل‌ها به انگلیسی نوشته شده‌اند').waitFor()
      await local.empty('orders-dead.fifo')
      expect(errors).toEqual([])
    })
  })
}
