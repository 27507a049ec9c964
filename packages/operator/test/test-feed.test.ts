import { buffer } from 'node:stream/consumers'
import { afterEach, expect, test } from '@jest/globals'
import { feedSecretParameters } from '@order-relay/lib/feeds/secrets.ts'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import { verify } from '@order-relay/lib/protocol/signature.ts'
import { listening } from '@order-relay/test-support/server.ts'
import type { Context } from '../core/context.ts'
import { nowSeconds } from '../core/webhook.ts'
import { testFeed } from '../stores/stores.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const contextFor = (url: string, stored: readonly (readonly [string, string])[]) => {
  const folder = `${PARAMETERS.feedSecrets}/`
  return {
    local: true,
    flags: '',
    stores: () => [{ source: 'shop', feed: { http: url } }],
    parameters: {
      below: async () => stored.map(([name, value]) => ({ name: name.slice(folder.length), value })),
      get: async (name: string) => Object.fromEntries(stored)[name],
    },
  } as unknown as Context
}

test('relay stores test signs with both secrets during a rotation, as the relay does', async () => {
  const secrets = ['new secret', 'replaced secret'] as const
  const stored = Object.entries(feedSecretParameters('shop', ...secrets, nowSeconds()))
  const verified: string[][] = []
  const { url, close } = await listening(async (request, response) => {
    const body = await buffer(request)
    const header = String(request.headers['x-service-signature'])
    const isValid = (secret: string) => verify({ secrets: [secret], header, body, now: nowSeconds() }).valid
    verified.push(secrets.filter(isValid))
    response.end()
  })
  closing.push(close)
  const context = contextFor(url, stored)
  expect((await testFeed(context, 'shop')).ok).toBe(true)
  expect(verified).toEqual([secrets])
})

test('relay stores test shows the status, the duration and the beginning of the response, without control characters', async () => {
  const answers = [
    [422, `{"error":"\u001b[2Jno such order"}\n${'x'.repeat(3000)}`] as const,
    [204, ''] as const,
  ]
  const { url, close } = await listening(async (request, response) => {
    await buffer(request)
    const [status = 500, body = ''] = answers.shift() ?? []
    response.writeHead(status).end(body)
  })
  closing.push(close)
  const context = contextFor(
    url,
    Object.entries(feedSecretParameters('shop', 'secret', undefined, nowSeconds())),
  )
  const refused = await testFeed(context, 'shop')
  expect(refused.ok).toBe(false)
  expect(refused.text).toMatch(
    /^Cannot deliver to the store: it answered 422 \(http:.*, \d+ ms\)\nResponse: 422\n\n\{"error":"\\u001b\[2Jno such order"\}\nx+$/,
  )
  expect(refused.text.length).toBeLessThan(2200)
  expect((await testFeed(context, 'shop')).text).toMatch(/^Accepted \(.*\)\nResponse: 204, without a body$/)
})

test('relay stores test fails for a store that verifies a body that was parsed and written again', async () => {
  const { url, close } = await listening(async (request, response) => {
    const body = JSON.stringify(JSON.parse((await buffer(request)).toString()))
    const header = String(request.headers['x-service-signature'])
    const isValid = verify({ secrets: ['secret'], header, body: Buffer.from(body), now: nowSeconds() }).valid
    response.writeHead(isValid ? 200 : 401).end()
  })
  closing.push(close)
  const stored = Object.entries(feedSecretParameters('shop', 'secret', undefined, nowSeconds()))
  const { text, data } = await testFeed(contextFor(url, stored), 'shop')
  expect(text).toMatch(
    /it answered 401.*\nResponse: 401, without a body\nRemedy: check .* relay explain-signature /,
  )
  expect(data.remedy?.code).toBe('verify')
})
