import { expect, test } from '@jest/globals'
import { asyncApi } from '../../local/documents/asyncapi.ts'
import { openApi } from '../../local/documents/openapi.ts'
import { urlOf } from '../../local/settings.ts'
import { openApi as sandboxApi } from '../../sandbox/openapi/document.ts'
import { documentPage } from '../../sandbox/openapi/page.ts'
import { violationsOf } from '../sandbox/panel-axe.ts'
import { withBrowser } from '../sandbox/panel-browser.ts'
import { startServer } from '../support/server.ts'

const openAt = withBrowser()

const EXAMPLES = { origin: 'http://127.0.0.1', key: 'key' }

test.each<[string, () => Promise<string>, string[]]>([
  [
    'the relay',
    () => documentPage(openApi(), EXAMPLES, {}, asyncApi()),
    ['createOrder', 'channel-sqs', 'channel-http'],
  ],
  ['the sandbox', () => documentPage(sandboxApi(), EXAMPLES, {}), ['createOrder', 'orderUpdated']],
])('the page of %s is accessible in light and dark, and loads nothing', async (_, render, ids) => {
  const body = await render()
  const headers = { 'content-type': 'text/html' }
  const server = await startServer(async () => ({ status: 200, headers, body }))
  const url = `${urlOf(server.port)}/docs`
  try {
    for (const [colorScheme, rules] of [['light'], ['dark', ['color-contrast']]] as const) {
      const { page, errors } = await openAt(url, { colorScheme })
      const requests: string[] = []
      page.on('request', request => requests.push(request.url()))
      await page.reload()
      expect(await violationsOf(page, rules && [...rules])).toEqual([])
      for (const id of ids) expect(await page.locator(`#${id}`).isVisible()).toBe(true)
      expect(requests).toEqual([url])
      expect(errors).toEqual([])
    }
  } finally {
    await server.close()
  }
})
