import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { credentialsIn } from '@order-relay/local/credentials.ts'
import { SOURCE } from '@order-relay/local/demo/acts.ts'
import { type Parties, partiesOf } from '@order-relay/local/demo/parties.ts'
import { story } from '@order-relay/local/demo/story.ts'
import { freePorts } from '@order-relay/local/ports.ts'
import { startStack } from '@order-relay/local/stack.ts'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { startBrowser } from './support/chromium.ts'
import { fetchJson } from './support/fetch-json.ts'

// Takes the screenshots of docs/images from the running system, after the demo and some orders of a small shop.

const NAMES = ['سارا محمدی', 'علی رضایی', 'Mina Karimi', 'حسین کاظمی', 'زهرا احمدی', 'Reza Moradi']

/** Orders through the relay: paid, in review for lack of stock, and refused for an unknown product. */
const trade = async ({ store }: Parties, sandbox: string) => {
  for (let number = 2; number < 26; number++) {
    const sku = number % 8 === 5 ? 'TEAPOT' : 'KETTLE'
    await store.create({
      external_id: `A-${number}`,
      customer: { mobile: `091234567${String(number).padStart(2, '0')}`, name: NAMES[number % NAMES.length] },
      items: [{ sku, quantity: number % 9 === 7 ? 100 : 1, unit_price: 1_500_000 }],
      ...(number % 3 === 0 && { payment: { method: 'online', reference: `7788${number}` } }),
    })
  }
  const body = { method: 'card', reference: '4711' }
  await fetchJson(`${sandbox}/panel/orders/A-4/pay?source=${SOURCE}`, { method: 'POST', body })
}

/** `wait` is a text that the page shows last, with the data that it has loaded. */
type Shot = { name: string; url: () => string; wait: string } & BrowserContextOptions

const shoot = async (browser: Browser, { name, url, wait, ...options }: Shot) => {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    deviceScaleFactor: 1,
    reducedMotion: 'reduce' as const,
    ...options,
  })
  const page = await context.newPage()
  await page.goto(url())
  await page.getByText(wait).first().waitFor()
  const path = `docs/images/${name}.png`
  await page.screenshot({ path })
  await context.close()
  console.log(path)
}

const dataDir = await mkdtemp(join(tmpdir(), 'order-relay-pictures-'))
const stack = await startStack({ ports: await freePorts(), dataDir, watch: false, withConsole: true })
try {
  const parties = partiesOf(stack.urls, SOURCE, credentialsIn(dataDir))
  for (const [, what, act] of story) {
    console.log(what)
    await act(parties)
  }
  await parties.accountant.stock('KETTLE', 'Kettle', 60)
  await trade(parties, stack.urls.sandbox)
  parties.close()
  const { consoleUrl, urls } = stack
  const inConsole = (hash: string) => () => `${consoleUrl()}${hash}`
  const browser = await startBrowser()
  try {
    for (const shot of [
      { name: 'console-overview', url: inConsole(''), wait: 'No alarm is active.' },
      { name: 'console-order', url: inConsole(`#/orders/${SOURCE}/A-5`), wait: 'Why it waits' },
      { name: 'console-orders-persian', url: inConsole('#/orders'), wait: 'A-25', locale: 'fa-IR' },
      { name: 'panel-orders', url: () => `${urls.sandbox}/#/orders`, wait: 'A-25' },
      { name: 'panel-invoice', url: () => `${urls.sandbox}/#/orders/A-1?source=${SOURCE}`, wait: 'Receipt' },
    ])
      await shoot(browser, shot)
  } finally {
    await browser.close()
  }
} finally {
  await stack.stop()
  await rm(dataDir, { recursive: true, force: true })
}
process.exit()
