import { expect, test } from '@jest/globals'
import { type OpenAt, tabsOf } from '@order-relay/test-support/browser.ts'
import { local } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'
import type { Page } from 'playwright-core'
import { goTo, letter } from './hands.ts'

/** Tests of several windows and tabs of a browser, which share six connections to the console. */
export const windowTests = (openAt: OpenAt, { nextUrl, url }: Record<'nextUrl' | 'url', () => string>) => {
  const openEight = async (name: string) => {
    const { page } = await openAt(`${nextUrl()}#/${name}`)
    const windows = [page]
    for (let count = 1; count < 8; count++) {
      const opened = await page.context().newPage()
      await opened.goto(`${url()}/#/${name}`)
      windows.push(opened)
    }
    return windows
  }

  test('seven tabs of a browser load, and each shows the current state when it is in front', async () => {
    const { page } = await openAt(`${nextUrl()}#/orders`)
    await page.getByText('Live', { exact: true }).waitFor()
    const tabs = tabsOf(page.context())
    const opened: Page[] = []
    for (const name of ['orders', 'log', 'orders', 'log', 'orders', 'log', 'orders']) {
      const tab = await tabs.open(`${url()}/#/${name}`)
      await tabs.bringToFront(tab)
      await tab.getByText('Live', { exact: true }).waitFor()
      opened.push(tab)
    }
    await page.close()
    await local.create('seen-in-every-tab', {}, 'relay')
    for (const tab of opened) {
      await tabs.bringToFront(tab)
      await tab.getByText('seen-in-every-tab').first().waitFor()
    }
  })

  test('eight visible windows of a browser share one stream of changes, which another one takes over', async () => {
    const windows = await openEight('orders')
    for (const each of windows) await each.getByText('Live', { exact: true }).waitFor()
    await local.create('seen-in-every-window', {}, 'relay')
    for (const each of windows) await each.getByText('seen-in-every-window').first().waitFor()
    // The first window reads the stream.
    await windows[0]?.close()
    await local.create('seen-by-those-left', {}, 'relay')
    for (const each of windows.slice(1)) await each.getByText('seen-by-those-left').first().waitFor()
  })

  test('three of eight visible windows follow the log, and the others say so and show their pages', async () => {
    const windows = await openEight('log')
    for (const each of windows.slice(0, 3)) await each.getByText(/^Following the log/).waitFor()
    for (const each of windows.slice(3)) {
      await each.getByText('Three other windows of this browser follow the log').waitFor()
      await goTo(each, '/orders')
      await each.getByText('Last change').first().waitFor()
    }
    const [first, , , fourth] = windows
    if (first === undefined || fourth === undefined) throw new Error('There are fewer than four windows')
    await goTo(first, '/orders')
    await goTo(fourth, '/log')
    await fourth.getByText(/^Following the log/).waitFor()
  })

  test('the title of a tab in the background has the number of active alarms', async () => {
    const { page } = await openAt(`${nextUrl()}#/orders`)
    const tabs = tabsOf(page.context())
    const tab = await tabs.open(`${url()}/#/orders`)
    await tab.getByText('Last change').first().waitFor()
    expect(await tab.title()).toBe('Orders · order-relay')
    await letter('alarm-in-the-background')
    await until(async () => (await tab.title()) === '(1) Orders · order-relay')
    await local.empty('orders-dead.fifo')
  })
}
