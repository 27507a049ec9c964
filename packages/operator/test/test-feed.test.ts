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
  const folder = `${PARAMETERS.feedSecrets}/`
  const context = {
    ...{ local: true, flags: '', stores: () => [{ source: 'shop', feed: { http: url } }] },
    parameters: {
      below: async () => stored.map(([name, value]) => ({ name: name.slice(folder.length), value })),
      get: async (name: string) => Object.fromEntries(stored)[name],
    },
  } as unknown as Context
  expect((await testFeed(context, 'shop')).ok).toBe(true)
  expect(verified).toEqual([secrets])
})
