import { expect, test } from '@jest/globals'
import { type OpenAt, tabsOf } from '@order-relay/test-support/browser.ts'
import type { Page } from 'playwright-core'
import { startSandbox } from '../src/start.ts'
import { type Client, clientOf, order, row } from './world.ts'

export const shellTests = (openAt: OpenAt, client: () => Client) => {
  const open = (hash: string) => openAt(`${client().url}/${hash}`)

  test('shows data of stores as text, never as markup', async () => {
    const hostile = '<img src=x onerror=document.title=1>'
    const changes = { source: '</td>"', customer: { mobile: '09120000001', name: hostile } }
    await client().create(order('a/b?c#d', changes))
    const { page, errors } = await open('#/orders')

    await page.getByText(hostile).waitFor()
    await page.getByRole('link', { name: 'a/b?c#d' }).click()
    await page.getByRole('heading', { name: 'Order a/b?c#d' }).waitFor()
    await page.getByText(hostile).waitFor()
    expect(await page.locator('main img').count()).toBe(0)

    await client().create(order('r\u202e1'))
    await page.evaluate('location.hash = "#/orders/r%E2%80%AE1?source=api"')
    await page.getByText('Buyer').first().waitFor()
    expect(await page.title()).toBe('Order r1 · Accounting sandbox')

    const sku = 'S'.repeat(3000)
    await client().product(sku, { stock: 0 })
    const items = [{ ...row(sku, 1), name: 'W'.repeat(100_000) }]
    const customer = { mobile: '09120000002', name: 'ن\u202e'.repeat(50_000) }
    await client().create(order('long', { items, customer }))
    const long = page.getByText(/S{100}|(ن\u202e){100}/).first()
    for (const [hash, heading] of [
      ['#/orders?q=long', 'Orders'],
      ['#/orders/long?source=api', 'Order long'],
      ['#/products', 'Products'],
      ['#/customers', 'Customers'],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
      await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor()
      await long.waitFor()
      expect([hash, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([hash, 1280])
    }
    expect(errors).toEqual([])
  })

  test('says that an unknown address has no page, and links to the first page', async () => {
    const { page, errors } = await open('#/nowhere/else')
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    expect(await page.locator('.nav [aria-current=page]').count()).toBe(0)
    await page.locator('main').getByRole('link', { name: 'Orders' }).click()
    await page.locator('.nav [aria-current=page]', { hasText: 'Orders' }).waitFor()
    await page.getByText('No orders yet').waitFor()
    expect(new URL(page.url()).hash).toBe('#/orders')
    expect(errors).toEqual([])
  })

  test('opens the page of an address that is typed without "#"', async () => {
    await client().create(order('typed/1'))
    const { page } = await openAt(`${client().url}/orders/typed%2F1?source=api`)
    await page.getByRole('heading', { name: 'Order typed/1' }).waitFor()
  })

  test('seven tabs of a browser load, and each shows the current products when it is in front', async () => {
    const { page } = await open('#/orders')
    const tabs = tabsOf(page.context())
    await page.close()
    const opened: Page[] = []
    for (let tab = 1; tab <= 7; tab++) {
      const fresh = await tabs.open(`${client().url}/#/products`)
      await fresh.getByRole('heading', { name: 'Products', level: 1 }).waitFor()
      await client().product(`SKU-OPENED-${tab}`, { stock: 1 })
      await tabs.bringToFront(fresh)
      await fresh.getByText(`SKU-OPENED-${tab}`).first().waitFor()
      opened.push(fresh)
    }
    await client().product('SKU-MISSED', { stock: 1 })
    for (const tab of opened) {
      await tabs.bringToFront(tab)
      await tab.getByText('SKU-MISSED').first().waitFor()
    }
    await client().product('SKU-FOLLOWED', { stock: 1 })
    await opened.at(-1)?.getByText('SKU-FOLLOWED').first().waitFor()
  })

  test('shows a change that is made after the page has read its data, and before it receives changes', async () => {
    const { page: first } = await openAt(`${client().url}/#/products`)
    const page = await first.context().newPage()
    await first.close()
    const connecting = Promise.withResolvers<void>()
    await page.route('**/panel/events', route => connecting.promise.then(() => route.continue()))
    await page.goto(`${client().url}/#/products`)
    await page.getByRole('rowheader', { name: 'SKU-1', exact: true }).waitFor()
    await client().product('SKU-BETWEEN', { stock: 1 })
    connecting.resolve()
    await page.getByRole('rowheader', { name: 'SKU-BETWEEN' }).waitFor({ timeout: 10_000 })
  })

  test('shows a lost connection, and missed changes after it is restored', async () => {
    const first = await startSandbox({ port: 0 })
    const { page } = await openAt(`${first.url}/#/products`)
    await page.getByText('Live').waitFor()

    await first.close()
    await page.getByText('Disconnected').waitFor()
    const second = await startSandbox({ port: Number(new URL(first.url).port) })
    await clientOf(second.url).product('NEW-1', { stock: 5 })
    await page.getByRole('rowheader', { name: 'NEW-1' }).waitFor({ timeout: 10_000 })
    // The row may come with the last reading before the page has reconnected.
    await page.getByText('Live', { exact: true }).waitFor({ timeout: 10_000 })
    await page.close()
    await second.close()
  })
}
