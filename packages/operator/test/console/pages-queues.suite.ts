import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { newOrder } from '@order-relay/lib/orders/order.ts'
import { orderRepository } from '@order-relay/lib/orders/repository.ts'
import { local } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'
import { goTo, letter, type Open, shownOrder, visiting } from './hands.ts'

export const queuePageTests = (open: Open) => {
  const visit = visiting(open)

  test('an audit shows differences, lists the items behind each count, and re-reads orders that differ', () =>
    visit({ hash: '#/audit' }, async ({ page, click, isAccessible }) => {
      await local.create('audited', {}, 'relay')
      // The service has not been paid.
      await local.relay(['send', '--external-id', 'audited', '--yes', 'audited', '--wait', '20s'])
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

  test('an audit during an outage says how long events have waited, until none waits any more', async () => {
    await local.sandbox('POST', '/panel/faults', { kind: 'error', status: 503 })
    const items = [{ sku: 'SKU-1', quantity: 1, unit_price: 1000 }]
    await local.store('POST', '', { external_id: 'not-compared', items }, 'respond-async')
    await until(async () => (await local.json(['orders', 'list', '--failing'])).data.orders.length > 0)
    await visit({ hash: '#/audit' }, async ({ page, click }) => {
      await page.getByLabel('Period').selectOption('1h')
      await click('button', 'Audit')
      await page.getByText(/^Events have been waiting for the service since /).waitFor()
      await local.sandbox('DELETE', '/panel/faults')
      await local.relay(['orders', 'retry', '--all'])
      await page.getByText('No event waits for the service any more.').waitFor()
      expect(await page.getByText('Events have been waiting').count()).toBe(0)
      await click('button', 'Audit again')
      await page.getByText('No event waits for the service any more.').waitFor({ state: 'detached' })
      await page.getByRole('heading', { name: 'Summary' }).waitFor()
    })
  })

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
      await click('button', 'Audit')
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

  test('an order shows its message in the last reading of the quarantine', async () => {
    await local.empty('quarantine')
    await local.create('with-quarantined', {}, 'relay')
    const data = { source: 'api', external_id: 'with-quarantined' }
    const message = { event: 'order.updated', delivery: randomUUID(), data }
    await local.quarantine('webhook', JSON.stringify(message))
    await visit({ hash: '#/quarantine' }, async ({ page }) => {
      // The reading of the previous test has as many messages.
      await page.getByRole('button', { name: 'Read again' }).click()
      await page.getByText('with-quarantined').first().waitFor()
      await page.evaluate(`location.hash = '#/orders/api/with-quarantined'`)
      const found = page.locator('p', {
        hasText: /^As of .*, the quarantine contained an unprocessed message/,
      })
      await found.getByRole('link').click()
      await page.waitForURL(/#\/quarantine\/message\//)
      await page.getByText('"with-quarantined"').waitFor()
      await local.empty('quarantine')
      await page.evaluate(`location.hash = '#/orders/api/with-quarantined'`)
      await page.getByRole('heading', { name: 'Order with-quarantined' }).waitFor()
      await found.waitFor({ state: 'detached' })
    })
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
      await page.getByRole('columnheader', { name: 'Cause' }).waitFor()
      expect(await first.innerText()).toContain('not recorded')
      await isAccessible()
      await letter('later')

      await click('button', 'Replay')
      await page.getByText(/^Replay \d\d messages now\?$/).waitFor()
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

  test('a plan that another tab carries out is not offered again, and lists no messages that are gone', async () => {
    await local.empty('orders-dead.fifo')
    const ids = ['both-1', 'both-2']
    await Promise.all(ids.map(id => local.create(id)))
    await Promise.all(ids.map(letter))
    await visit({ hash: '#/dead' }, async ({ page, click, submit, isAccessible }) => {
      await page.getByText('both-2').first().waitFor()
      await click('button', 'Plan a replay')
      await page.getByRole('heading', { name: 'Replay of 2 messages' }).waitFor()
      const tab = await page.context().newPage()
      await tab.goto(page.url())
      await tab.getByRole('button', { name: 'Replay', exact: true }).click()
      await tab.getByText('Replay 2 messages now?').waitFor()

      await click('button', 'Replay')
      await submit('Replay')
      await page.getByRole('row', { name: /replayed 2/ }).waitFor()
      await page.goBack()
      for (const each of [page, tab]) {
        await each.getByText('All messages of this plan have been replayed or deleted.').waitFor()
        expect(await each.getByRole('dialog').count()).toBe(0)
        expect(await each.getByRole('button', { name: 'Replay', exact: true }).count()).toBe(0)
        expect(await each.getByRole('link', { name: 'both-1' }).count()).toBe(0)
      }
      await isAccessible()
    })
  })

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
      await local.relay([
        'send',
        '--external-id',
        'logged-2',
        '--yes',
        'logged-2',
        '--delivery',
        data.delivery,
      ])
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
}
