import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { local } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'
import { goTo, letter, type Open, visiting } from './hands.ts'

const HOSTILE = '<img src=/x onerror=alert(1)>'

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

export const allPageTests = (open: Open) => {
  const visit = visiting(open)

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

  test('on a phone, every page is at most two taps away, and the badges of hidden pages are visible', async () => {
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
          // The heading of the previous page can contain the name, as in "Messages to stores".
          await page.getByRole('heading', { level: 1, name: new RegExp(`^${name}`) }).waitFor()
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
        }
        await isAccessible()
      },
    )
    await local.empty('orders-dead.fifo')
  })
}
