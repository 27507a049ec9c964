import { createHmac } from 'node:crypto'
import { appendFile, writeFile } from 'node:fs/promises'
import { afterEach, expect, test } from '@jest/globals'
import { keyUseItem } from '@order-relay/lib/api/keys.ts'
import { newOrder } from '@order-relay/lib/orders/order.ts'
import { orderRepository } from '@order-relay/lib/orders/repository.ts'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import type { Opened } from '@order-relay/test-support/browser.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { local } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'
import { onceInMemory } from 'order-relay-store'
import { consumeFeed } from 'order-relay-store/sqs'
import type { BrowserContextOptions, Page } from 'playwright-core'

type Open = (options?: BrowserContextOptions) => Promise<Opened>

type Address = BrowserContextOptions & {
  hash: string
  /** Requests that the console refuses. */
  isRefused?: boolean
}

const HOSTILE = '<img src=/x onerror=alert(1)>'

/** The relay reads new secrets once a minute. */
const LOOKUP = { timeout: 75_000 }

const FEED = 'feed-demo-shop.fifo'

/** Actions on a page, by visible labels. */
const handsOn = (page: Page) => {
  const dialog = page.getByRole('dialog')
  return {
    page,
    click: (role: 'link' | 'button', name: string) =>
      page.getByRole(role, { name, exact: true }).first().click(),
    /** Fills a field of the dialog. */
    fill: (label: string, text: string) => dialog.getByLabel(label).fill(text),
    submit: (name: string) => dialog.getByRole('button', { name, exact: true }).click(),
    isAccessible: async () => expect(await violationsOf(page)).toEqual([]),
  }
}

/** Every page, with text that only this page shows. */
const VIEWS = [
  ['#/overview', 'Last hour, per minute'],
  ['#/runbook/queue-age', 'Diagnosis'],
  ['#/orders', 'Last change'],
  ['#/deliveries?outcome=queued', '<img src=/x oner…>\\u202e'],
  ['#/audit', 'Accounts for every'],
  ['#/setup', 'Webhook URL'],
  ['#/setup/send', 'Signs a webhook'],
  ['#/setup/signature', 'Names the cause'],
  ['#/log', 'Following the log'],
  ['#/dead', 'Read again'],
  ['#/quarantine', 'Read again'],
  ['#/stores', 'All stores in'],
  ['#/stores/api', 'Code of the store: store.mjs'],
] as const

const never = () => {
  throw new Error('The order is not stored')
}

const goTo = (page: Page, hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`)

const letter = (external_id: string) =>
  local.enqueue('orders-dead.fifo', 'order.payment', {
    external_id,
    accepted_at: Date.now(),
    body: JSON.stringify({ method: 'card', reference: '<b>\u202er</b>' }),
  })

const shownOrder = async (external_id: string) =>
  (await local.json(['orders', 'show', 'api', external_id])).data.result

/** The pages, with the local stack of this file. */
export const pageTests = (open: Open) => {
  const folder = useFolder()
  // A test that fails during an outage must not fail the next ones.
  afterEach(() => local.sandbox('DELETE', '/panel/faults'))

  /** Visits a page, which must be accessible and cause no errors other than the expected ones. */
  const visit = async (
    { hash, isRefused = false, ...options }: Address,
    act: (hands: ReturnType<typeof handsOn>) => Promise<unknown>,
  ) => {
    const { page, errors } = await open(options)
    const hands = handsOn(page)
    await goTo(page, hash)
    await act(hands)
    await hands.isAccessible()
    expect(errors.filter(error => !(isRefused && error.includes('409')))).toEqual([])
  }

  test('finds an order by its request, shows why it waits, and checks or resends it', async () => {
    const external_id = '<b>in\u202E-console</b>'
    const item = { sku: 'sold by nobody', quantity: 1, unit_price: 1 }
    expect((await local.store('POST', '', { external_id, items: [item] })).status).toBe(400)
    const { body } = await local.store('GET', encodeURIComponent(external_id))
    const request = body.relay.requests[0].id
    const permissions = ['clipboard-read', 'clipboard-write']
    await visit({ hash: '#/stores', permissions }, async ({ page, click, isAccessible }) => {
      await page.getByText('All stores in').waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type(request.slice(0, 8).toUpperCase())
      const found = page.getByRole('table', { name: 'Orders found' })
      await found.getByText(request).waitFor()
      await isAccessible()
      // One step back leaves the search, and the id of a request is not a delivery.
      await page.goBack()
      await page.getByText('All stores in').waitFor()
      await goTo(page, `#/deliveries/${request}`)
      await page.getByText('1. Create: waits for the accountant').waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('<B>IN')
      await found.waitFor()
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
      expect(await page.locator('.nav, .top, .button, .filters').filter({ visible: true }).count()).toBe(0)
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
        'rgb(255, 255, 255)',
      )
      await page.emulateMedia({ media: 'screen', colorScheme: 'light' })
      // The shortcut focuses the field, which print may or may not have left in time.
      await page.getByRole('searchbox').blur()
      await found.getByRole('link', { name: '<b>in\\u202e-console</b>', exact: true }).waitFor()
      await page.keyboard.press('/')
      await page.keyboard.press('Enter')
      await page.getByText('1. Create: waits for the accountant').waitFor()
      await page
        .locator('.id', { hasText: request.slice(0, 8) })
        .first()
        .getByRole('button')
        .click()
      await page.locator('#announcer', { hasText: 'Copied' }).waitFor()
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(request)
      // The order number is not interpreted as markup, and bidirectional overrides are visible.
      expect(await page.locator('h1').innerText()).toBe('Order <b>in\\u202e-console</b>')
      await isAccessible()
      await click('button', 'Resend to the store')
      await page.getByText(', version 2').waitFor()
      await click('button', 'Check now')
      await page.getByText('The check is in the order queue').waitFor()
      await click('button', 'Show the lines of the last day')
      await page.getByText('event processed').first().waitFor()
    })
    const order = { hash: `#/orders/api/${encodeURIComponent(external_id)}`, locale: 'fa-IR' }
    await visit(order, async ({ page, click, submit }) => {
      await page
        .getByText(/منتظر .*حسابدار/)
        .first()
        .waitFor()
      await click('button', 'لغو درخواست… (ثبت سفارش)')
      expect(await violationsOf(page)).toEqual([])
      await submit('لغو درخواست')
      await page.getByText('ثبت سفارش لغو شده').first().waitFor()
    })
  })

  test('the search keeps text that is typed before the address changes, and spaces between words', () =>
    visit({ hash: '#/stores' }, async ({ page }) => {
      // The page sees a change of its address only when the test dispatches the event.
      await page.addInitScript(`
        addEventListener('hashchange', event => event.isTrusted && event.stopImmediatePropagation())
      `)
      await page.reload()
      await page.getByText('All stores in').waitFor()
      const search = page.getByRole('searchbox')
      await search.pressSequentially('in')
      await page.waitForURL('**#/orders?q=in')
      await search.pressSequentially('-con ')
      await page.evaluate(`dispatchEvent(new HashChangeEvent('hashchange'))`)
      await page.waitForURL('**#/orders?q=in-con')
      await search.pressSequentially('sole')
      await page.waitForURL('**#/orders?q=in-con+sole')
      expect(await search.inputValue()).toBe('in-con sole')
    }))

  test("every page is accessible in light and dark mode, fits a phone, and shows stores' data as text", async () => {
    await local.relay(['send', '--external-id', `${HOSTILE}\u202e`])
    const words = `\u2067${HOSTILE}\u202e`.repeat(500)
    const external_id = 'L'.repeat(100)
    await local.enqueue('orders.fifo', 'order.updated', {
      external_id,
      status: 'needs_review',
      error: words,
      invoice_number: words,
    })
    await until(async () => (await local.json(['find', external_id])).data.orders.length > 0)
    await visit({ hash: '' }, async ({ page }) => {
      const width = () => page.evaluate('document.documentElement.scrollWidth')
      for (const [hash, words] of VIEWS) {
        await page.setViewportSize({ width: 1280, height: 800 })
        await goTo(page, hash)
        await page.getByText(words).first().waitFor()
        expect({ hash, width: await width(), text: await page.locator('body').innerText() }).toMatchObject({
          hash,
          width: 1280,
          text: expect.not.stringMatching(/[\u202a-\u202e\u2066\u2067]/),
        })
        await page.emulateMedia({ colorScheme: 'light' })
        const found = [await violationsOf(page)]
        await page.emulateMedia({ colorScheme: 'dark' })
        found.push(await violationsOf(page, ['color-contrast']))
        await page.setViewportSize({ width: 390, height: 844 })
        found.push(await violationsOf(page))
        expect({ hash, found, width: await width() }).toEqual({ hash, found: [[], [], []], width: 390 })
      }
      await goTo(page, '#/deliveries?outcome=queued')
      await page.locator('td:last-child a').first().click()
      await page.getByRole('link', { name: 'Show the order' }).waitFor()
    })
  })

  test('on a phone, every page is at most two taps away, and the badges of hidden pages show', async () => {
    await letter('badge')
    await visit(
      { hash: '#/orders', viewport: { width: 320, height: 640 } },
      async ({ page, isAccessible }) => {
        const pages = page.getByRole('navigation', { name: 'Pages' })
        await pages.getByRole('button', { name: /^More [1-9]/ }).waitFor()
        for (const name of await pages.locator('a > span:not(.badge)').allTextContents()) {
          const link = pages.getByRole('link', { name })
          if (!(await link.isVisible())) await pages.getByRole('button', { name: 'More' }).click()
          await link.click()
          // The heading of the page before can contain the name: "Messages to stores".
          await page.getByRole('heading', { level: 1, name: new RegExp(`^${name}`) }).waitFor()
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
        }
        await isAccessible()
      },
    )
    await local.empty('orders-dead.fifo')
  })

  test.each([
    ['on a phone, an order shows its requests before its history', 360, true],
    ['on a wide screen, an order shows its requests beside its history', 1280, false],
  ])('%s', async (_name, width, isAbove) => {
    await local.create(`arranged-${width}`, {}, 'relay')
    const options = { hash: `#/orders/api/arranged-${width}`, viewport: { width, height: 740 } }
    await visit(options, async ({ page }) => {
      const boxOf = async (name: string) => {
        const heading = page.getByRole('heading', { level: 2, name })
        await heading.waitFor()
        return (await heading.boundingBox()) ?? { x: 0, y: 0, height: 0 }
      }
      const [requests, history] = [await boxOf('Requests'), await boxOf('History')]
      expect(requests.y < history.y - history.height).toBe(isAbove)
      expect(requests.x > history.x).toBe(!isAbove)
    })
  })

  test('an audit shows differences, lists the items behind each count, and re-reads orders that differ', () =>
    visit({ hash: '#/audit' }, async ({ page, click, isAccessible }) => {
      await local.create('audited', {}, 'relay')
      // The service has not been paid.
      await local.relay(['send', '--external-id', 'audited', '--status', 'paid', '--wait', '20s'])
      await page.getByLabel('Period').selectOption('1h')
      await click('button', 'Audit')
      await page.getByRole('row', { name: 'api audited order is "paid" here and "invoiced"' }).waitFor()
      const listed = page.locator('details', { hasText: 'compared with the service' })
      await listed.locator('summary').click()
      await listed.getByRole('link', { name: 'api audited' }).waitFor()
      await isAccessible()
      await click('button', 'Repair…')
      await click('button', 'Re-read orders')
      await until(async () => (await shownOrder('audited')).status === 'invoiced')
      await page.getByText(/\d+ (order was|orders were) repaired/).waitFor()
      expect(await page.getByRole('button', { name: 'Repair…' }).count()).toBe(0)
      expect(await page.getByText('audited order is').count()).toBe(0)
      await click('button', 'Audit again')
      await page.getByText(/\d+ (order was|orders were) repaired/).waitFor({ state: 'detached' })
      // Orders of other tests may differ.
      await page.getByText(/^(Everything from .* to .* is accounted for\.|Differences: \d+)$/).waitFor()
      expect(await page.getByText('audited order is').count()).toBe(0)
    }))

  test('an audit opened from a finding or the runbook is run again, over the period of its command', () =>
    visit({ hash: '#/audit' }, async ({ page, click }) => {
      /** The number of days that the shown audit covers. */
      const days = async () => {
        const [since, ended] = await page
          .locator('section:has(#numbers) .note time')
          .evaluateAll(times => times.map(time => Date.parse(time.getAttribute('datetime') ?? '')))
        return Math.round(((ended ?? 0) - (since ?? 0)) / 86_400_000)
      }
      await page.getByLabel('Period').selectOption('30d')
      await click('button', 'Audit')
      await until(async () => (await days()) === 30)
      await goTo(page, '#/runbook/signature-failures')
      await click('button', 'Audit and repair')
      await until(async () => (await days()) === 1)
      expect(await page.getByLabel('Period').inputValue()).toBe('24h')
    }))

  test('shows a message in the quarantine as soon as it is counted', async () => {
    await local.empty('quarantine')
    await visit({ hash: '#/quarantine' }, async ({ page }) => {
      await page.getByText('Nothing here.').waitFor()
      await local.quarantine('webhook', 'not JSON')
      await page.getByText('an older version could not read it').first().waitFor({ timeout: 10_000 })
    })
    await local.empty('quarantine')
  })

  test('plans, stops and resumes a replay of a group of dead letters, and records it in the history', async () => {
    await local.empty('orders-dead.fifo', 'feeds-dead.fifo')
    const ids = Array.from({ length: 40 }, (_, index) => `page-${index}`)
    await Promise.all(ids.map(id => local.create(id)))
    await Promise.all(ids.map(letter))
    await visit({ hash: '#/dead', isRefused: true }, async ({ page, click, fill, submit, isAccessible }) => {
      await click('link', 'order queue: order.payment of api')
      await isAccessible()
      await click('link', 'Show the message of page-7')
      // The body of the request is JSON in a string of the event; hostile text is displayed without effect.
      await page.getByText('"<b>\\u202er</b>"', { exact: true }).waitFor()
      await page.getByText('"body": {').click()
      await page.getByText('"body": { … }').waitFor()
      await isAccessible()
      await page.goBack()
      await page.getByLabel('Choose page-7', { exact: true }).check()
      await page.getByLabel('Choose page-8', { exact: true }).check()
      await click('button', 'Plan a replay of 2')
      await page.getByRole('heading', { name: 'Replay of 2 messages' }).waitFor()
      await page.goBack()
      await click('button', 'Plan a replay')
      await page.getByText('payment 40').waitFor()
      const first = page.locator('tbody tr').first()
      expect(await first.innerText()).toMatch(
        /Call to the service: Payment: expected status "paid"[\s\S]*No result → Paid[\s\S]*Payment registered[\s\S]*order\.updated Paid/,
      )
      await isAccessible()
      await letter('later')

      await click('button', 'Replay')
      await fill('Reason', 'the service is back')
      await submit('Replay')
      await page.locator('.progress', { hasText: /replayed \d/ }).waitFor()
      await click('button', 'Stop the plan')
      await page.getByText('interrupted').first().waitFor()
      await page.locator('.progress', { hasText: 'Ended' }).waitFor()
      await click('button', 'Resume')
      await submit('Replay')
      await page.getByText(/(was|were) already gone/).waitFor()
      await page.getByRole('row', { name: /replayed \d+ .*the service is back/ }).waitFor()
      await isAccessible()
      const paid = await Promise.all(ids.map(local.order))
      expect(new Set(paid.map(({ status }) => status))).toEqual(new Set(['paid']))

      const openPlan = (plan: object) =>
        page.locator('input[type=file]').setInputFiles({
          name: 'plan.json',
          mimeType: 'application/json',
          buffer: Buffer.from(JSON.stringify(plan)),
        })
      await openPlan({})
      await page.getByText('the file contains none').waitFor()
      // The page may be reading the queue, which hides the message from the command.
      const readAll = (...args: string[]) =>
        until(async () => {
          const { data } = await local.json(['dead', ...args, '--order', 'later'])
          return (data.messages ?? data.letters).length > 0 && data
        })
      await openPlan(await readAll('replay', '--dry-run'))
      await page.getByRole('heading', { name: 'Replay of 1 message' }).waitFor()
      await page.getByText('order=later 1').waitFor()
      await isAccessible()
      await page.goBack()
      await page.getByLabel('Period').selectOption('1h')
      await click('link', 'Show the message of later')
      await click('button', 'Plan a deletion')
      await click('button', 'Delete')
      const explained = await page.getByRole('dialog').innerText()
      expect(explained).toContain('The request is not saved with the order: it is lost')
      expect(explained).not.toMatch(/feed|is saved with/)
      await fill('Number of messages', '2')
      await submit('Delete')
      await page.getByText('their number was not confirmed').waitFor()
      await fill('Number of messages', '۱')
      await submit('Delete')
      await page.getByText('Nothing here.').waitFor()
    })
  })

  test('retries waiting orders after an outage, in both languages and on a phone', async () => {
    const items = [{ sku: 'SKU-1', quantity: 1, unit_price: 1000 }]
    await local.sandbox('POST', '/panel/faults', { kind: 'reset' })
    expect((await local.store('POST', '', { external_id: 'retried', items }, 'respond-async')).status).toBe(
      202,
    )
    await until(async () => (await local.json(['orders', 'list', '--failing'])).data.orders.length > 0)
    const phone = { locale: 'fa-IR', viewport: { width: 320, height: 640 } }
    await visit({ hash: '#/overview', ...phone }, async ({ page, isAccessible }) => {
      // Alarms of earlier tests may still stand beside it.
      const verdict = page.locator('.verdict', { hasText: 'سفارش خطا می‌دهد' })
      await verdict.waitFor()
      await isAccessible()
      expect(await verdict.innerText()).not.toMatch(/[a-z]{2}/)
    })
    await visit({ hash: '#/orders?show=failing', ...phone }, async ({ page, click }) => {
      await click('button', 'تلاش مجدد…')
      await page.getByRole('dialog').getByText('سفارش').first().waitFor()
      expect(await violationsOf(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
    })
    await visit({ hash: '#/overview' }, async ({ page, click, submit, isAccessible }) => {
      await click('button', 'Retry now…')
      await page.getByRole('dialog').getByText('was unavailable when they were last tried').waitFor()
      await isAccessible()
      // Not earlier: once the service answers, the order is soon retried without the operator.
      await local.sandbox('DELETE', '/panel/faults')
      await submit('Retry now')
      await until(async () => (await shownOrder('retried'))?.status === 'invoiced')
      // The outcome is shown where the retry was started, until it is dismissed.
      const outcome = page.locator('.progress', { hasText: 'Ended' })
      await outcome.waitFor()
      await page.reload()
      await outcome.getByRole('button', { name: 'Dismiss' }).click()
      await outcome.waitFor({ state: 'detached' })
      await page.reload()
      await page.getByText('Last hour, per minute').waitFor()
      expect(await outcome.count()).toBe(0)
    })
  })

  test('a visible change of an order is announced, but not on the next page', async () => {
    await local.create('announced', {}, 'relay')
    await visit({ hash: '#/orders/api/announced' }, async ({ page }) => {
      const announcer = page.locator('#announcer')
      const lastChange = page
        .getByText('Last change', { exact: true })
        .locator('xpath=following-sibling::*[1]')
      const before = await lastChange.innerText()
      const orders = orderRepository(local.stack().dynamodb, 'orders', { random: Math.random })
      const { revision, order, outbox } =
        (await orders.get({ source: 'api', external_id: 'announced' })) ?? never()
      // A save of the same order, such as one that removes the note on a failed attempt.
      await orders.save({ order, outbox, bulk: undefined }, revision, Date.now() + 60_000)
      await local.create('announced-by-the-way', {}, 'relay')
      await until(async () => (await lastChange.innerText()) !== before)
      expect(await announcer.textContent()).not.toContain('The order has changed.')
      await local.relay(['stores', 'resend', 'api', '--order', 'announced'])
      await announcer.getByText('The order has changed.').waitFor({ state: 'attached' })
      await goTo(page, '#/stores')
      await page.getByText('All stores in').waitFor()
      expect(await announcer.textContent()).toBe('')
    })
  })

  test('the overview leads to the orders that wait for an accountant', async () => {
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: false })
    await local.create('for-an-accountant', {}, 'relay')
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: true })
    await visit({ hash: '#/overview', viewport: { width: 320, height: 640 } }, async ({ page }) => {
      const finding = page.locator('.finding', { hasText: /\d+ orders? waits? for an accountant/ })
      await finding.getByRole('link', { name: 'Orders' }).click()
      await page.getByText('for-an-accountant').waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
    })
  })

  test('unregisters the webhook, registers it from the finding, and stops a rotation', () =>
    visit({ hash: '#/setup', isRefused: true }, async ({ page, click, fill, submit, isAccessible }) => {
      await click('button', 'Set the API key…')
      await fill('API key', 'nonsense')
      await submit('Store the key')
      await page.getByText('401 The key is not known').waitFor()
      await fill('API key', 'sandbox-key')
      await submit('Store the key')
      await page
        .getByText(
          'Stored; it is used within 15 seconds if the service refuses the current key, otherwise within a minute.',
        )
        .waitFor()

      await click('button', 'Unregister…')
      await fill('Type the URL', 'http://127.0.0.1/another')
      await submit('Unregister')
      await page.getByText('it was not confirmed by the name').waitFor()
      await fill('Type the URL', await page.getByLabel('Webhook URL').inputValue())
      await isAccessible()
      await submit('Unregister')
      await page.getByText('1 secret deleted').waitFor()

      const missing = page.locator('.finding', { hasText: 'the webhook is not registered' })
      await missing.getByRole('button', { name: 'Register…' }).click()
      await submit('Register')
      await page.getByText('The relay accepts webhooks signed with it.').waitFor(LOOKUP)
      const missed = page.locator('.finding', { hasText: 'no webhooks were received from' }).last()
      await missed.getByRole('button', { name: 'Audit and repair' }).waitFor()
      await isAccessible()

      await click('button', 'Rotate the secret…')
      await fill('Announce', '600')
      await submit('Rotate')
      const announcing = { name: /^Announcing the new secret to the relay: \d+ of 600/ }
      await page.getByRole('progressbar', announcing).waitFor()
      await click('button', 'Stop')
      await page
        .getByText('interrupted before the secret was replaced; the next rotation starts again')
        .waitFor()
      // The announcement takes a few seconds, and both secrets are accepted afterwards.
      await click('button', 'Rotate the secret…')
      await fill('Announce', '0')
      await submit('Rotate')
      await page.getByRole('progressbar', { name: /^Accepting both secrets/ }).waitFor(LOOKUP)
      await click('button', 'Stop')
      await page
        .getByText(
          'interrupted while both secrets are accepted; the next rotation resumes this one and retires the old secret',
        )
        .waitFor()
      await local.relay(['rotate', '--overlap', '0s'])
      await local.empty('orders-dead.fifo', 'feeds-dead.fifo')
      expect((await local.relay(['doctor'])).out).toContain('No problems found')
    }))

  test('sends a test delivery', () =>
    visit({ hash: '#/setup/send' }, async ({ page, click }) => {
      await click('button', 'Send')
      await page.getByText('Fill in this field').waitFor()
      await page.getByLabel('Order number').fill('sent-by-the-console')
      await page.getByText('More fields').click()
      await page.getByLabel('Receipt number').fill('7')
      await page.getByLabel('Wait for the order').fill('20')
      await click('button', 'Send')
      await page.getByText('200', { exact: true }).waitFor()
      const result = { status: 'paid', total: '1000', receipt_number: 7 }
      expect(await shownOrder('sent-by-the-console')).toMatchObject(result)
    }))

  test.each([
    ['en-GB', ['Body', 'Secret'], 'a line break at the end of the body was removed'],
    ['fa-IR', ['متن', 'کلید امضا'], 'پایان سطر از انتهای متن حذف شده است'],
  ] as const)('explains a signature in %s', (locale, [bodyLabel, secretLabel], cause) =>
    visit({ hash: '#/setup/signature', locale }, async ({ page, isAccessible }) => {
      const t = Math.round(Date.now() / 1000)
      const body = '{"event":"x"}\n'
      const v1 = createHmac('sha256', 'whsec_secret').update(`${t}.${body}`).digest('hex')
      const explain = page.locator('form button[type=submit]')
      await page.getByLabel('X-Service-Signature').fill(`t=${t},v1=${v1}`)
      await page.getByLabel(bodyLabel, { exact: true }).fill(body.trim())
      await page.getByLabel(secretLabel, { exact: true }).fill('whsec_secret')
      await explain.click()
      await page.getByText(cause).waitFor()
      await isAccessible()
      const file = { name: 'body', mimeType: 'application/json', buffer: Buffer.from(body) }
      await page.locator('input[type=file]').setInputFiles(file)
      await explain.click()
      await page.locator('.chip[data-tone=good]').waitFor()
    }),
  )

  test('the overview shows the progress of an import', () =>
    visit({ hash: '#/overview' }, async ({ page, isAccessible }) => {
      await page.getByText('No order waits in the bulk queue.').waitFor()
      await page.getByText('Queues are read every second, metrics every 2 seconds').waitFor()
      const chart = page.getByRole('slider', { name: 'Events', exact: true }).first()
      await chart.press('ArrowLeft')
      await chart.getByText('processed').waitFor()
      await isAccessible()
      const orders = orderRepository(local.stack().dynamodb, 'orders', { random: Math.random })
      const imported = ['1', '2', '3', '4'].map(id =>
        newOrder({ source: 'demo-shop', external_id: `import-${id}` }),
      )
      const save = (from: number, to: number, revision: number, bulk?: string) =>
        Promise.all(
          imported
            .slice(from, to)
            .map(order => orders.save({ order, outbox: undefined, bulk }, revision, Date.now() - 5000)),
        )
      await save(0, 4, 0, 'its delivery')
      await page.getByRole('row', { name: /^demo-shop 4 / }).waitFor()
      await save(0, 2, 1)
      await page.getByRole('row', { name: /^demo-shop 2 \S+ \d+ \w+$/ }).waitFor()
      await isAccessible()
      await save(2, 4, 1)
      await page.getByText('No order waits in the bulk queue.').waitFor()
    }))

  test('follows the log live, filters and pauses it, and links to orders and deliveries', async () => {
    const send = (id: string) => local.json(['send', '--external-id', id, '--wait', '20s'])
    await send('logged-1')
    const { data } = await send('logged-2')
    await visit({ hash: '#/log' }, async ({ page, click, isAccessible }) => {
      const lines = page.getByRole('list', { name: 'Log' }).getByRole('listitem')
      const processed = (id: string) => lines.filter({ hasText: `event processed api ${id}` })
      await processed('logged-1').waitFor()
      await page.getByLabel('Order number').fill('logged-2')
      await page.keyboard.press('Enter')
      await processed('logged-1').waitFor({ state: 'detached' })
      await page.getByLabel('Text in the line').fill('EVENT Processed')
      await page.keyboard.press('Enter')
      await lines.filter({ hasText: 'delivery received' }).first().waitFor({ state: 'detached' })
      // Fields common to all lines are not repeated.
      await lines.filter({ hasText: /event processed\s+[0-9a-f-]{12}…/ }).waitFor()

      await page.getByLabel('Text in the line').fill('')
      await page.keyboard.press('Enter')
      await lines.filter({ hasText: 'delivery received' }).first().waitFor()
      await click('button', 'Pause')
      const before = await lines.count()
      await local.relay(['send', '--external-id', 'logged-2', '--delivery', data.delivery])
      await page.getByText('1 new line').waitFor()
      expect(await lines.count()).toBe(before)
      await click('button', 'Resume')
      await lines.filter({ hasText: 'outcome=duplicate' }).waitFor()
      // Setup checks the secret with a ping.
      const pings = lines.filter({ hasText: 'why=probe' })
      // Without a secret, the doctor reads the relay's clock with a HEAD request, as in an earlier test.
      const heads = lines.filter({ hasText: 'status=405' })
      await page.getByLabel('Order number').fill('')
      await page.keyboard.press('Enter')
      await processed('logged-1').waitFor()
      const earlier = await heads.count()
      await local.relay(['doctor'])
      await local.relay(['send', '--external-id', 'logged-3', '--wait', '20s'])
      await processed('logged-3').waitFor()
      expect([await pings.count(), await heads.count()]).toEqual([0, earlier])
      await page.getByLabel('Pings').selectOption('With pings')
      await pings.first().waitFor()
      await page.getByLabel('Pings').selectOption('Without pings')
      await page.getByLabel('Order number').fill('logged-2')
      await page.keyboard.press('Enter')
      await page.getByLabel('Level').selectOption('Warnings, errors')
      await page.getByText('no line matches yet').waitFor()
      await page.getByLabel('Level').selectOption('All lines')
      await lines.first().waitFor()
      await isAccessible()
      await lines.locator(`a[title="${data.delivery}"]`).last().click()
      await click('link', 'Show the order')
      await page.getByRole('heading', { name: 'Order logged-2' }).waitFor()
    })
  })

  test('a test of a store says what it does, shows findings as they appear, and can be stopped', async () => {
    await local.empty(FEED)
    const stop = new AbortController()
    const handled = folder('handled.txt')
    await writeFile(handled, '')
    const consuming = consumeFeed({
      sqs: local.stack().sqs,
      queueUrl: local.queue(FEED),
      once: onceInMemory(),
      signal: stop.signal,
      handle: ({ delivery }) => appendFile(handled, `${delivery}\n`),
    })
    await visit({ hash: '#/stores/demo-shop', locale: 'fa-IR' }, async ({ page, isAccessible }) => {
      const start = async () => {
        await page.getByRole('button', { name: 'آزمون فروشگاه' }).click()
        await page.getByRole('dialog').getByText('relay-conformance-').waitFor()
        await isAccessible()
        await page.getByLabel('محل ثبت').fill(handled)
        await page.getByRole('button', { name: 'شروع آزمون' }).click()
      }
      await start()
      await page.getByText('مشکلی پیدا نشد').waitFor()
      const found = await page.locator('.finding p').allInnerTexts()
      expect(found.filter(text => !/[\u0600-\u06ff]/.test(text))).toEqual([])
      expect(found.join()).toContain('هر تغییر را یک بار و به ترتیب پردازش کرد')
      await isAccessible()

      stop.abort()
      await consuming
      await start()
      await page.getByRole('button', { name: 'توقف' }).click()
      await page.getByRole('alert').filter({ hasText: 'متوقف شد' }).waitFor()
      await local.empty(FEED)
    })
  })

  test('the only key that a store uses is revoked by typing its name, and any other with a click', async () => {
    for (const name of ['till', 'spare']) await local.relay(['stores', 'key', 'demo-shop', '--name', name])
    const { data } = await local.json(['stores', 'show', 'demo-shop'])
    // Uses the key "till" only.
    for (const { id, name } of data.keys) {
      const Item = { ...keyUseItem(id), used_at: { S: new Date().toISOString().slice(0, 13) } }
      await local.stack().dynamodb.putItem({
        TableName: 'deliveries',
        Item: name === 'till' ? Item : keyUseItem(id),
      })
    }
    await visit(
      { hash: '#/stores/demo-shop', isRefused: true },
      async ({ page, fill, submit, isAccessible }) => {
        await page.getByRole('button', { name: 'Revoke key spare' }).click()
        await submit('Revoke')
        await page.getByText('Revoked; it stops working within a minute.').waitFor()
        await page.getByRole('button', { name: 'Revoke key till' }).click()
        await page.getByText('it loses its access within a minute').waitFor()
        await isAccessible()
        await fill('Type till', 'another')
        await submit('Revoke')
        await page.getByText('it was not confirmed by the name; type "till"').waitFor()
        await fill('Type till', 'till')
        await submit('Revoke')
        await page.getByRole('button', { name: 'Revoke key till' }).waitFor({ state: 'detached' })
      },
    )
  })

  test('the overview updates with events and setup shows findings, in English and Persian', () =>
    visit({ hash: '#/setup', locale: 'fa-IR' }, async ({ page }) => {
      await page.getByRole('status').filter({ hasText: /مشکل/ }).waitFor()
      const found = await page.locator('.finding p').allInnerTexts()
      // Commands and addresses are not translated.
      expect(found.filter(text => !/[\u0600-\u06ff]|^relay |^http:/.test(text))).toEqual([])
      await goTo(page, '#/overview')
      await page.getByRole('heading', { name: 'نمای کلی' }).waitFor()
      await local.enqueue('orders-dead.fifo', 'order.check', { external_id: 'dead-for-the-console' })
      await page.locator('.verdict', { hasText: 'پیام‌های ناموفق' }).waitFor()
      await page.getByRole('link', { name: 'راهنمای رفع مشکل' }).click()
      await page.getByRole('heading', { name: 'بازگشت به حالت عادی' }).waitFor()
      await page.getByText('npx relay dead replay --all --plan <file> --local').waitFor()
      expect(await violationsOf(page)).toEqual([])
      await page.getByRole('button', { name: 'برنامهٔ پردازش مجدد' }).click()
      await page.getByRole('heading', { name: 'پردازش مجدد' }).waitFor()
      await local.empty('orders-dead.fifo')
    }))
}
