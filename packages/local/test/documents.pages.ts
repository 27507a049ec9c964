import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { withBrowser } from '@order-relay/test-support/browser.ts'
import { startServer } from '@order-relay/test-support/server.ts'
import { startSandbox } from 'order-relay-sandbox'
import { serveDocuments } from '../documents.ts'
import type { Gateway } from '../gateway.ts'
import { urlOf } from '../settings.ts'

const openAt = withBrowser()

type OnRequest = Parameters<Gateway['ext']>[1]
type Served = { body: string; headers: Record<string, string> }

/** The documents of the relay without its functions. */
const startRelay = async () => {
  const handlers: OnRequest[] = []
  serveDocuments({ ext: (_, method) => handlers.push(method) })
  return startServer(async ({ url = '' }) => {
    const toolkit = {
      continue: Symbol(),
      response: (body: string) => {
        const headers: Record<string, string> = {}
        const set = (name: string, value: string) => {
          headers[name] = value
          return response
        }
        const response = {
          type: (type: string) => set('content-type', type),
          header: set,
          takeover: () => ({ body, headers }),
        }
        return response
      },
    }
    const request = { method: 'get', url: new URL(url, 'http://127.0.0.1') }
    const served = handlers.map(handle => handle(request as never, toolkit as never))
    return { status: 200, ...((await served[0]) as Served) }
  })
}

let relay: Awaited<ReturnType<typeof startRelay>>
let sandbox: Awaited<ReturnType<typeof startSandbox>>
beforeAll(async () => {
  relay = await startRelay()
  sandbox = await startSandbox({ port: 0 })
})
afterAll(() => Promise.all([relay.close(), sandbox.close()]))

test.each([
  [
    'the relay',
    () => urlOf(relay.port),
    '/docs',
    ['Create an order', 'Withdraw the refund that still waits'],
  ],
  ['the feeds', () => urlOf(relay.port), '/docs/feeds', ['http', 'OrderUpdated']],
  ['the sandbox', () => sandbox.url, '/docs', ['Create an order', 'An order changed inside']],
])(
  'the document of %s renders in light and dark mode, and loads nothing from other origins',
  async (_, origin, path, texts) => {
    const backgrounds = new Set<string>()
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, errors } = await openAt(origin() + path, { colorScheme })
      const requests: string[] = []
      page.on('request', request => requests.push(request.url()))
      const headers = await (await page.reload())?.allHeaders()
      expect(headers?.['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/)
      for (const text of texts) await page.getByText(text).first().waitFor()
      expect(requests.filter(each => !each.startsWith(origin()) && !each.startsWith('data:'))).toEqual([])
      expect(errors).toEqual([])
      // Excludes Swagger UI's own violations.
      if (path === '/docs/feeds') expect(await violationsOf(page)).toEqual([])
      backgrounds.add(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor'))
    }
    expect(backgrounds.size).toBe(2)
  },
)

test('an endpoint can be called from the page with a valid key', async () => {
  const { page } = await openAt(`${sandbox.url}/docs`)
  await page.getByText('/api/v1/orders/{external_id}/', { exact: true }).first().click()
  await page.getByRole('button', { name: 'Try it out' }).click()
  await page.getByPlaceholder('external_id').fill('none')
  await page.getByPlaceholder('source').fill('demo-shop')
  await page.getByRole('button', { name: 'Execute' }).click()
  await page.getByText('404', { exact: true }).first().waitFor()
  await page.getByText('"not_found"').first().waitFor()
})
