import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { ROOT } from './project.ts'

const run = promisify(execFile)
const UNPACKED = join(ROOT, 'node_modules', '.cache', 'order-relay', 'chromium')

const UNPACK = `
  const { default: chromium } = await import('@sparticuz/chromium')
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
    cwd: join(ROOT, 'test/chromium'),
    env: { ...process.env, TMPDIR: fresh },
  })
  await rename(fresh, UNPACKED).catch(async error => {
    // Another test has unpacked it in the meantime.
    await rm(fresh, { recursive: true })
    if (!existsSync(path)) throw error
  })
  return path
}

/**
 * Starts Chromium without its sandbox and without network access of its own; on systems other than Linux, starts the
 * installed Chrome.
 */
export const startBrowser = async (): Promise<Browser> =>
  chromium.launch({
    // The package has Chromium for Linux only.
    ...(process.platform === 'linux' ? { executablePath: await executable() } : { channel: 'chrome' }),
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
