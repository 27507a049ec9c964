import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterEach, expect, test } from '@jest/globals'
import { verify } from '@order-relay/lib/protocol/signature.ts'
import { listening } from '@order-relay/test-support/server.ts'
import { play } from '../conformance/conformance.ts'
import { httpFeed } from '../conformance/feeds.ts'

const secret = 'secret of the store'
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Tests a receiver written from the interface document, which handles a delivery once. */
const findingsOf = async ({ verifies = true } = {}) => {
  const handled = new Set<string>()
  const received: { names: string; headers: string[]; signature: string }[] = []
  const { url, close } = await listening(async (request, response) => {
    const body = await buffer(request)
    const signature = String(request.headers['x-service-signature'])
    const now = Math.floor(Date.now() / 1000)
    if (verifies && !verify({ secrets: [secret], header: signature, body, now }).valid) {
      response.writeHead(401).end()
      return
    }
    const { event, data, delivery, ...more } = JSON.parse(body.toString())
    if (data === undefined) response.writeHead(500).end()
    else {
      handled.add(delivery)
      received.push({
        names: [event, ...Object.keys(more)].join(),
        headers: Object.keys(request.headers).filter(name => /^(relay|webhook)-/.test(name)),
        signature,
      })
      response.writeHead(200).end()
    }
  })
  closing.push(close)
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const findings = await play({
    ...{ source: 'old-shop', exact: true, ...httpFeed({ url, secret, wait: 5 }), wait: 5 },
    handled: async () => [...handled].join('\n'),
    terminal: { stdin, stdout, stderr, environment: {} },
  })
  return { findings, received }
}

test('sends an exact store only what the service sends, and skips the checks of versions', async () => {
  const { findings, received } = await findingsOf()
  expect(findings.filter(({ level }) => level === 'problem')).toEqual([])
  expect(findings).toContainEqual(
    expect.objectContaining({
      check: 'same version, old versions, reordering, test message',
      found: 'not applicable',
    }),
  )
  for (const { names, headers, signature } of received) {
    expect([names, headers]).toEqual(['order.updated', ['relay-version', 'relay-cause']])
    expect(signature).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
  }
})

test('reports an exact store that verifies no signature', async () => {
  const { findings } = await findingsOf({ verifies: false })
  const problems = findings.filter(({ level }) => level === 'problem')
  expect(problems).toMatchObject([{ check: 'signatures' }])
})
