import { expect, test } from '@jest/globals'
import { orderRepository } from '@order-relay/lib/orders/repository.ts'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { fetchJson } from '@order-relay/test-support/fetch-json.ts'
import { local } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'
import type { Page } from 'playwright-core'
import { goTo, type Open, shownOrder, visiting } from './hands.ts'

const never = () => {
  throw new Error('The order is not stored')
}

/** The confirmation of an action ends once the page shows the outcome, earlier than after its time. */
const isConfirmationOver = (page: Page) =>
  page.locator('.toast:empty').waitFor({ state: 'attached', timeout: 2000 })

export const orderPageTests = (open: Open) => {
  const visit = visiting(open)

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
      // One step back leaves the search. The address below has the id of a request instead of a delivery.
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
      // The shortcut focuses the field, whether or not printing has already left it.
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
      await local.sandbox('POST', '/panel/faults', { kind: 'slow', delay: 2000 })
      await click('button', 'Check now')
      await page.getByText('The check is in the order queue').waitFor()
      await local.sandbox('DELETE', '/panel/faults')
      // Nothing changes, so the history does not show the check.
      await page
        .getByRole('status')
        .getByText(/^Checked (now|\d+ sec)/)
        .waitFor()
      await isConfirmationOver(page)
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
      await isConfirmationOver(page)
    })
  })

  test('the search keeps text that is typed before the address changes, and spaces between words', () =>
    visit({ hash: '#/stores' }, async ({ page }) => {
      await page.getByText('All stores in').waitFor()
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

  test('retries waiting orders after an outage, in both languages and on a phone', async () => {
    const items = [{ sku: 'SKU-1', quantity: 1, unit_price: 1000 }]
    await local.sandbox('POST', '/panel/faults', { kind: 'reset' })
    expect((await local.store('POST', '', { external_id: 'retried', items }, 'respond-async')).status).toBe(
      202,
    )
    await until(async () => (await local.json(['orders', 'list', '--failing'])).data.orders.length > 0)
    const phone = { locale: 'fa-IR', viewport: { width: 320, height: 640 } }
    await visit({ hash: '#/overview', ...phone }, async ({ page, isAccessible }) => {
      // Alarms of earlier tests may still be active.
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
      // Only now: once the service answers, the relay soon retries the order automatically.
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

  test('the payment of a refunded order is not shown as done, in both languages', async () => {
    await local.create('refunded-unpaid', {}, 'relay')
    for (const [action, body] of [
      ['refund', {}],
      ['payment', { method: 'card', reference: 'r' }],
    ] as const) {
      const url = `${local.stack().urls.relay}/api/v1/orders/refunded-unpaid/${action}/`
      expect((await fetchJson(url, { method: 'POST', body, key: 'local-api' })).status).toBe(200)
    }
    for (const [locale, text] of [
      ['en-US', 'Payment: nothing was left to do'],
      ['fa-IR', 'پرداخت: کاری باقی نمانده بود'],
    ] as const)
      await visit({ hash: '#/orders/api/refunded-unpaid', locale }, ({ page }) =>
        page.getByText(text).first().waitFor(),
      )
  })

  test('an order in the bulk queue: a check is said to wait there', async () => {
    await local.create('checked-in-bulk', {}, 'relay')
    const orders = orderRepository(local.stack().dynamodb, 'orders', { random: Math.random })
    const key = { source: 'api', external_id: 'checked-in-bulk' }
    const { revision, order, outbox } = (await orders.get(key)) ?? never()
    await orders.save({ order, outbox, bulk: 'an event that never arrives' }, revision, Date.now() + 60_000)
    await visit({ hash: '#/orders/api/checked-in-bulk' }, async ({ page, click }) => {
      await page.getByText('The check follows the other events of the order to the bulk queue.').waitFor()
      await local.sandbox('POST', '/panel/faults', { kind: 'slow', delay: 3000 })
      await click('button', 'Check now')
      await page.getByText(/^A check was requested .* waits in the bulk queue\.$/).waitFor()
      await local.sandbox('DELETE', '/panel/faults')
      await page.getByText(/^Checked /).waitFor()
    })
  })

  test('while webhooks are refused for their signature, an order may be out of date until a check reads it', async () => {
    await local.create('webhook-refused', {}, 'relay')
    await visit({ hash: '#/orders/api/webhook-refused' }, async ({ page, isAccessible }) => {
      // Shortly after the start of the stack, the relay may not know the secret yet.
      const cause = /may have changed .*: .*webhooks (are|may still be) refused for their signature/
      const hint = page.locator('.verdict', { hasText: cause })
      await page.getByText('Last result of the service').waitFor()
      expect(await hint.count()).toBe(0)
      const args = ['send', '--external-id', 'webhook-refused', '--yes', 'webhook-refused']
      await local.relay([...args, '--secret-stdin'], { input: 'another' })
      await hint.waitFor()
      await isAccessible()
      await hint.getByRole('button', { name: 'Check now' }).click()
      await hint.waitFor({ state: 'detached' })
      // Webhooks are accepted again.
      await local.relay([...args, '--status', 'invoiced', '--wait', '20s'])
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

  test("a day chosen in the list of orders is the reader's, even if it is another one in UTC", async () => {
    await local.create('changed-today', {}, 'relay')
    // 12 hours behind UTC, or 14 hours ahead.
    const [timezoneId, hours] = new Date().getUTCHours() < 10 ? ['Etc/GMT+12', -12] : ['Etc/GMT-14', 14]
    const today = new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 10)
    await visit({ hash: `#/orders?since=${today}&until=${today}`, timezoneId }, async ({ page }) => {
      await page.getByText('changed-today').first().waitFor({ timeout: 10_000 })
    })
  })
}
