import { afterAll, afterEach, beforeAll } from '@jest/globals'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { startBrowser } from './chromium.ts'

export type Opened = {
  page: Page
  /** Errors and warnings of the console, including refused resources and policy violations. */
  errors: string[]
}

/** How long a page may take to show something on a busy machine, in milliseconds. */
const PATIENCE_MS = 30_000

const openPage = async (browser: Browser, url: string, options: BrowserContextOptions): Promise<Opened> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const errors: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text())
  })
  page.on('pageerror', error => errors.push(String(error)))
  await page.goto(url)
  return { page, errors }
}

/** One browser for a test file; pages are closed after each test. */
export const withBrowser = () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  afterAll(() => browser.close())
  return (url: string, options: BrowserContextOptions = {}) => openPage(browser, url, options)
}

export type OpenAt = ReturnType<typeof withBrowser>

const visibility = (isHidden: boolean) => `
  Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
  document.dispatchEvent(new Event('visibilitychange'))
`

/** Tabs of one browser, with at most one in front. The test sets their visibility, since headless Chromium hides no page. */
export const tabsOf = (context: BrowserContext) => {
  const tabs: Page[] = []
  const bringToFront = async (tab: Page) => {
    for (const each of tabs) await each.evaluate(visibility(each !== tab))
  }
  return {
    /** Opens a tab in the background. */
    open: async (url: string): Promise<Page> => {
      const tab = await context.newPage()
      tabs.push(tab)
      await tab.addInitScript(visibility(true))
      await tab.goto(url)
      return tab
    },
    bringToFront,
  }
}

/** The id, or the name, of the focused element. */
export const focused = (page: Page) =>
  page.evaluate<string>(
    'document.activeElement.id || document.activeElement.ariaLabel || document.activeElement.textContent.trim()',
  )

/** Fills in fields by their labels, and presses the button with this name once the page shows what it will do. */
export const fill = async (place: Page | Locator, fields: Record<string, string>, button: string) => {
  for (const [label, text] of Object.entries(fields)) await place.getByLabel(label).fill(text)
  // A form ignores its button while an earlier submission is carried out.
  await place
    .locator('form[aria-busy="true"], .outcome[aria-busy="true"]')
    .first()
    .waitFor({ state: 'detached' })
  await place.getByRole('button', { name: button, exact: true }).click()
}
