import { expect, test } from '@jest/globals'
import { asyncApi } from '../asyncapi.ts'
import { MESSAGES } from '../examples.ts'
import { feedsPage } from '../feeds-page.ts'

test('the page of the feeds breaks lines between paragraphs only', async () => {
  const page = await feedsPage(asyncApi() as never)
  const [header = ''] = page.split('<main>')
  expect(page).not.toContain('pre-line')
  expect(header.match(/<p>/g)).toHaveLength(3)
  expect(header).toMatch(/<p>Messages are delivered[^<]*at least once/)
  expect(header).toMatch(/<p>Stores with <code>exact: true<\/code>/)
})

test('the page of the feeds shows an example of every message', async () => {
  const text = String(await feedsPage(asyncApi())).replaceAll('&quot;', '"')
  for (const message of Object.values(MESSAGES)) expect(text).toContain(JSON.stringify(message, null, 2))
})
