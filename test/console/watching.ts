import { appendFile, writeFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import { onceInMemory } from '../../kit/src/index.ts'
import { consumeFeed } from '../../kit/src/sqs.ts'
import { newOrder } from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import { local } from '../cli/relay.ts'
import { violationsOf } from '../sandbox/panel-axe.ts'
import type { Opened } from '../sandbox/panel-browser.ts'
import { useFolder } from '../support/folder.ts'

const FEED = 'feed-demo-shop.fifo'

/** What takes longer than a page on a busy machine. */
const SLOW = { timeout: 30_000 }

/** The console's views of what goes on: imports, the log, and the test of a store. */
export const watchingTests = (open: (options?: { locale?: string }) => Promise<Opened>) => {
  const folder = useFolder()

  test('the overview follows how far the import of a store is', async () => {
    const { page, errors } = await open()
    await page.getByText('No order waits in the bulk queue.').waitFor()
    await page.getByText('Queues are read every second, metrics every 2 seconds').waitFor()
    const orders = orderRepository(local.stack().dynamodb, 'orders', { random: Math.random })
    const imported = ['1', '2', '3', '4'].map(id =>
      newOrder({ source: 'demo-shop', external_id: `import-${id}` }),
    )
    const save = (from: number, to: number, revision: number, bulk?: string) =>
      Promise.all(
        imported.slice(from, to).map(each => orders.save({ ...each, bulk }, revision, Date.now() - 5000)),
      )
    await save(0, 4, 0, 'its delivery')
    await page.getByRole('row', { name: /^demo-shop 4 / }).waitFor(SLOW)
    await save(0, 2, 1)
    await page.getByRole('row', { name: /^demo-shop 2 \S+ \d+ \w+$/ }).waitFor(SLOW)
    expect(await violationsOf(page)).toEqual([])
    await save(2, 4, 1)
    await page.getByText('No order waits in the bulk queue.').waitFor()
    expect(errors).toEqual([])
  })

  test('the log is followed live, filtered and paused, and leads to orders and deliveries', async () => {
    const send = (id: string) => local.json(['send', '--external-id', id, '--wait', '20s'])
    await send('logged-1')
    const { data } = await send('logged-2')
    const { page, errors } = await open()
    await page.evaluate('location.hash = "#/log"')
    const lines = page.getByRole('list', { name: 'Log' }).getByRole('listitem')
    const processed = (id: string) => lines.filter({ hasText: `event processed api ${id}` })
    await processed('logged-1').waitFor()
    await page.getByLabel('Order number').fill('logged-2')
    await page.keyboard.press('Enter')
    await processed('logged-1').waitFor({ state: 'detached' })
    // What all lines have in common is not repeated.
    await lines.filter({ hasText: /event processed\s+[0-9a-f-]{36}/ }).waitFor(SLOW)

    await page.getByRole('button', { name: 'Pause' }).click()
    const before = await lines.count()
    await local.relay(['send', '--external-id', 'logged-2', '--delivery', data.delivery])
    await page.getByText('1 new line').waitFor()
    expect(await lines.count()).toBe(before)
    await page.getByRole('button', { name: 'Resume' }).click()
    await lines.filter({ hasText: 'outcome=duplicate' }).waitFor()
    await page.getByLabel('Level').selectOption('Only warnings and errors')
    await page.getByText('no line matches yet').waitFor()
    await page.getByLabel('Level').selectOption('All lines')
    await lines.first().waitFor()
    expect(await violationsOf(page)).toEqual([])
    await lines.getByRole('link', { name: data.delivery }).last().click()
    await page.getByRole('link', { name: 'Show the order' }).click()
    await page.getByRole('heading', { name: 'Order logged-2' }).waitFor()
    expect(errors).toEqual([])
  })

  test('a store is tested: it says what happens, what it finds as it finds it, and can be broken off', async () => {
    await local.empty(FEED)
    const stop = new AbortController()
    const handled = folder('handled.txt')
    await writeFile(handled, '')
    const consuming = consumeFeed({
      ...{ sqs: local.stack().sqs, queueUrl: local.queue(FEED), once: onceInMemory(), signal: stop.signal },
      handle: ({ delivery }) => appendFile(handled, `${delivery}\n`),
    })
    const { page, errors } = await open({ locale: 'fa-IR' })
    await page.evaluate('location.hash = "#/stores/demo-shop"')
    const start = async () => {
      await page.getByRole('button', { name: 'آزمودن فروشگاه' }).click()
      await page.getByRole('dialog').getByText('relay-conformance-').waitFor()
      expect(await violationsOf(page)).toEqual([])
      await page.getByLabel('جایی که').fill(handled)
      await page.getByRole('button', { name: 'آغاز آزمون' }).click()
    }
    await start()
    await page.getByText('مشکلی پیدا نشد').waitFor(SLOW)
    const found = await page.locator('.finding p').allInnerTexts()
    expect(found.filter(text => !/[\u0600-\u06ff]/.test(text))).toEqual([])
    expect(found.join()).toContain('هر تغییر را یک بار و به ترتیب انجام داد')
    expect(await violationsOf(page)).toEqual([])

    stop.abort()
    await consuming
    await start()
    await page.getByRole('button', { name: 'توقف' }).click()
    await page.getByRole('alert').filter({ hasText: 'متوقف شد' }).waitFor()
    await local.empty(FEED)
    expect(errors).toEqual([])
  })
}
