import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll } from '@jest/globals'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..', '..')
const UNPACKED = join(ROOT, 'node_modules', '.cache', 'order-relay', 'chromium')

const UNPACK = `
  const { default: chromium } = await import('${import.meta.resolve('@sparticuz/chromium')}')
  await chromium.executablePath()
`

/**
 * The path of Chromium, which its package unpacks into the temporary folder. A separate process unpacks it into
 * a new folder, which is then renamed, so that a killed run leaves no partial file.
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
    // Another test has unpacked it in the meantime.
    await rm(fresh, { recursive: true })
    if (!existsSync(path)) throw error
  })
  return path
}

/** Starts Chromium without its sandbox and without network access of its own. */
const startBrowser = async (args: readonly string[]): Promise<Browser> =>
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
      ...args,
    ],
  })

export type Opened = {
  page: Page
  /** Errors and warnings of the console, including refused resources and policy violations. */
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

/** One browser for a test file, started with further arguments; pages are closed after each test. */
export const withBrowser = (...args: string[]) => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser(args)
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  afterAll(() => browser.close())
  return (url: string, options: BrowserContextOptions = {}) => openPage(browser, url, options)
}

export type OpenAt = ReturnType<typeof withBrowser>

/** The id, or the name, of the focused element. */
export const focused = (page: Page) =>
  page.evaluate<string>(
    'document.activeElement.id || document.activeElement.ariaLabel || document.activeElement.textContent.trim()',
  )
