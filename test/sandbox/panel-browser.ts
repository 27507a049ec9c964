import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, jest } from '@jest/globals'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..', '..')
const UNPACKED = join(ROOT, 'node_modules', '.cache', 'order-relay', 'chromium')

const UNPACK = `
  const { default: chromium } = await import('${import.meta.resolve('@sparticuz/chromium')}')
  await chromium.executablePath()
`

/**
 * The path of Chromium, which its package unpacks into the folder for temporary files. A process of its own
 * does that in a new folder, which then takes its place whole: a run that was killed leaves no half file.
 */
const executable = async () => {
  const path = join(UNPACKED, 'chromium')
  if (existsSync(path)) return path
  await mkdir(join(UNPACKED, '..'), { recursive: true })
  const fresh = await mkdtemp(`${UNPACKED}-`)
  await run(process.execPath, ['--input-type=module', '--eval', UNPACK], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: fresh },
  })
  await rename(fresh, UNPACKED).catch(async error => {
    // Another test was faster.
    await rm(fresh, { recursive: true })
    if (!existsSync(path)) throw error
  })
  return path
}

/** Starts Chromium without a sandbox of its own and without looking for anything on the network. */
const startBrowser = async (): Promise<Browser> =>
  chromium.launch({
    executablePath: await executable(),
    args: [
      '--no-sandbox',
      '--no-zygote',
      '--no-first-run',
      '--disable-gpu',
      '--disable-quic',
      '--disable-sync',
      '--disable-component-update',
      '--disable-background-networking',
    ],
  })

export type Opened = {
  page: Page
  /** Every error and warning of its console, refused resources and broken policies included. */
  errors: string[]
}

const openPage = async (browser: Browser, url: string, options: BrowserContextOptions): Promise<Opened> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(5000)
  const page = await context.newPage()
  const errors: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text())
  })
  page.on('pageerror', error => errors.push(String(error)))
  await page.goto(url)
  return { page, errors }
}

/** One browser for a file of tests; its pages are closed after each test. */
export const withBrowser = () => {
  // Longer than a wait in the page, so that a failure tells what was waited for.
  jest.setTimeout(30_000)
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

/** The id, or else the name, of the element that has focus. */
export const focused = (page: Page) =>
  page.evaluate<string>(
    'document.activeElement.id || document.activeElement.ariaLabel || document.activeElement.textContent.trim()',
  )
