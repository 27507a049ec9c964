import { randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { afterEach, expect, test } from '@jest/globals'
import { type FeedError, httpDelivery } from '@order-relay/lib/feeds/deliver.ts'
import { feedSecretParameters } from '@order-relay/lib/feeds/secrets.ts'
import { httpClient } from '@order-relay/lib/platform/http-client.ts'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import { verify } from '@order-relay/lib/protocol/signature.ts'
import { undocumentedMessage } from '@order-relay/test-support/documents.ts'
import { listening } from '@order-relay/test-support/server.ts'
import type { Context } from '../core/context.ts'
import { nowSeconds } from '../core/webhook.ts'
import { endpointRemedy } from '../model/remedies.ts'
import { testFeed } from '../stores/feed-check.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A store with a URL in stores.yml, and its stored secrets. */
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

test('relay stores test sends a documented message, signed with both secrets during a rotation', async () => {
  const secrets = ['new secret', 'replaced secret'] as const
  const stored = Object.entries(feedSecretParameters('shop', ...secrets, nowSeconds()))
  const verified: string[][] = []
  const sent: { event: string }[] = []
  const { url, close } = await listening(async (request, response) => {
    const body = await buffer(request)
    const header = String(request.headers['x-service-signature'])
    const isValid = (secret: string) => verify({ secrets: [secret], header, body, now: nowSeconds() }).valid
    verified.push(secrets.filter(isValid))
    sent.push(JSON.parse(body.toString()))
    response.end()
  })
  closing.push(close)
  const context = contextFor(url, stored)
  expect((await testFeed(context, 'shop')).ok).toBe(true)
  expect(verified).toEqual([secrets])
  expect(sent.map(undocumentedMessage)).toEqual([undefined])
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
    /^Cannot deliver to the store: it answered 422 \(http:.*, \d+ ms\)\nResponse: 422\n\n\{"error":"\\u001b\[2Jno such order"\}\nx+\nRemedy: find the error in the output of the store; .*$/,
  )
  expect(refused.text.length).toBeLessThan(2400)
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
    /it answered 401.*\nResponse: 401, without a body\nRemedy: check .* relay explain-signature .*\nSent with X-Service-Signature: t=/,
  )
  expect(data.remedy?.code).toBe('verify')
  const { signature = '', body = '' } = data.sent ?? {}
  expect(text).toContain(signature)
  expect(
    verify({ secrets: ['secret'], header: signature, body: Buffer.from(body), now: nowSeconds() }).valid,
  ).toBe(true)
})

test.each([
  [403, /refuses the request before it checks the signature: exempt the path of the receiver /],
  [404, /^check the path of the URL in stores\.yml; /],
  [405, /^check the path of the URL in stores\.yml; /],
  [
    308,
    /^the relay does not follow redirects: if the receiver is at the target .*, change the URL in stores\.yml to it; /,
  ],
  [410, /^check the path of the URL in stores\.yml; /],
  [413, /limits the size of requests: raise the limit /],
  [503, /usually gives this answer while the store does not run, is overloaded or in maintenance: /],
  [500, /^find the error in the output of the store; /],
])('relay stores test has a remedy for the status %d', async (status, remedy) => {
  const { url, close } = await listening((_request, response) => response.writeHead(status).end())
  closing.push(close)
  const stored = Object.entries(feedSecretParameters('shop', 'secret', undefined, nowSeconds()))
  const { data } = await testFeed(contextFor(url, stored), 'shop')
  expect(data.remedy?.text).toMatch(remedy)
})

test.each([
  [429, '', /^the store, or a proxy in front of it, limits the rate of requests: /],
  [502, '', /^a proxy usually gives this answer when it cannot reach the store: /],
  [504, '', /^a proxy .* when the store does not answer in time: answer within 10 seconds/],
  [
    301,
    '/webhook/',
    /^the store redirects to http:\/\/127\.0\.0\.1:\d+\/webhook\/, .*: change the URL in stores\.yml to this/,
  ],
  [
    301,
    'https://shop.example/webhook',
    /^the store redirects to https:\/\/shop\.example\/webhook, .* to this address$/,
  ],
  [
    302,
    '/login',
    /^the store redirects to http.*\/login, .*: if the receiver is at this address, .*; if this is another page, such as a login page/,
  ],
  [
    302,
    'http://',
    /^the relay does not follow redirects: if the receiver is at the target .*, change the URL in stores\.yml to it; /,
  ],
])(
  'relay stores test has a remedy for the status %d with the Location "%s"',
  async (status, location, remedy) => {
    const headers: Record<string, string> = location === '' ? {} : { location }
    const { url, close } = await listening((_request, response) => response.writeHead(status, headers).end())
    closing.push(close)
    const stored = Object.entries(feedSecretParameters('shop', 'secret', undefined, nowSeconds()))
    const { data } = await testFeed(contextFor(`${url}/webhook`, stored), 'shop')
    expect(data.remedy?.text).toMatch(remedy)
  },
)

/** The remedy for a store that registers its URL and does not respond in time, or cannot be reached. */
const remedyFor = async (url: string) => {
  const client = httpClient()
  const deliver = httpDelivery({ http: request => client({ ...request, timeout: 50 }), now: Date.now })
  const message = { url, secrets: ['secret'], event: 'relay.test', delivery: randomUUID(), body: '{}' }
  const error: FeedError = await deliver(message).then(
    () => {
      throw new Error('the message was accepted')
    },
    thrown => thrown,
  )
  return endpointRemedy({ flags: '' }, { source: 'shop', feed: { disable_after: 60 } }, error)
}

test('the remedy for a store without a response depends on whether it can be reached', async () => {
  const { url, close } = await listening(() => undefined)
  expect((await remedyFor(url)).text).toMatch(/^answer within 10 seconds, after the transaction /)
  await close()
  expect((await remedyFor(url)).text).toBe(
    'check that the store is running and can be reached at the URL that the store registers',
  )
})

test.each([
  [true, 'registered-again'],
  [false, 'verify-registered'],
])('relay stores test says if the store registered its URL again meanwhile: %j', async (again, code) => {
  let secret = 'secret'
  const { url, close } = await listening((_request, response) => {
    if (again) secret = 'new secret'
    response.writeHead(401).end()
  })
  closing.push(close)
  const context = {
    ...contextFor(url, []),
    stores: () => [{ source: 'shop', feed: { disable_after: 60 } }],
    nameOf: (table: string) => table,
    dynamodb: { send: async () => ({ Item: { url: { S: url }, secret: { S: secret } } }) },
  } as unknown as Context
  expect((await testFeed(context, 'shop')).data.remedy?.code).toBe(code)
})

test.each([
  [{ url: { S: 'http://127.0.0.1:1/other' }, secret: { S: 'secret' } }, 'registered-other'],
  [undefined, 'removed-url'],
])('relay stores test says whether the store changed its URL during the test: %j', async (after, code) => {
  let item: object | undefined
  const { url, close } = await listening((_request, response) => {
    item = after
    response.writeHead(404).end()
  })
  closing.push(close)
  item = { url: { S: url }, secret: { S: 'secret' } }
  const context = {
    ...contextFor(url, []),
    stores: () => [{ source: 'shop', feed: { disable_after: 60 } }],
    nameOf: (table: string) => table,
    dynamodb: { send: async () => ({ Item: item }) },
  } as unknown as Context
  expect((await testFeed(context, 'shop')).data.remedy?.code).toBe(code)
})

test('relay stores test refers to relay conformance for the consumer of a queue', async () => {
  const context = { flags: ' --local', stores: () => [{ source: 'shop', feed: 'sqs' }] } as unknown as Context
  await expect(testFeed(context, 'shop')).rejects.toThrow(
    'test its consumer with "relay conformance shop --local -- <command that starts the store>"',
  )
})
