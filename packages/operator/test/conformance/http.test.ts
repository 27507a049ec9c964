import { buffer } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { textOf } from '../../core/coded.ts'
import { findingsAt, isSigned, serve } from './support.ts'

/** Findings about an exact store whose receiver follows the interface document and handles each delivery once. */
const exactFindings = async ({ verifies = true, answer = 200, notes = true, location = '' } = {}) => {
  const handled = new Set<string>()
  const received: { names: string; headers: string[]; signature: string }[] = []
  const url = await serve(async (request, response) => {
    const body = await buffer(request)
    if (verifies && !isSigned(request, body)) {
      response.writeHead(401).end()
      return
    }
    const { event, data, delivery, ...more } = JSON.parse(body.toString())
    if (data === undefined) response.writeHead(500).end()
    else {
      if (notes) handled.add(delivery)
      received.push({
        names: [event, ...Object.keys(more)].join(),
        headers: Object.keys(request.headers).filter(name => /^(relay|webhook)-/.test(name)),
        signature: String(request.headers['x-service-signature']),
      })
      response.writeHead(answer, location === '' ? {} : { location }).end()
    }
  })
  const findings = await findingsAt(url, {
    source: 'old-shop',
    exact: true,
    wait: notes ? 5 : 1,
    handled: async () => [...handled].join('\n'),
  })
  return { findings, received }
}

test('sends an exact store only what the service sends, and skips the checks of versions', async () => {
  const { findings, received } = await exactFindings()
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

test.each([
  [{ answer: 401 }, /answered 401/, /the secret of its feed/],
  [{ answer: 404 }, /answered 404/, /check the path of the URL that the store registers/],
  [{ answer: 307 }, /answered 307/, /does not follow redirects/],
  [
    { answer: 308, location: '/webhook/' },
    /answered 308/,
    /^the store redirects to http:\/\/127\.0\.0\.1:\d+\/webhook\/, and .*, change the URL that the store registers to it;/,
  ],
  [{ answer: 500 }, /answered 500/, /find the error in the output of the store/],
  [{ notes: false }, /acknowledged version 1/, /log the delivery/],
])('the remedy of the first message depends on what the store did: %j', async (options, found, remedy) => {
  const { findings } = await exactFindings(options)
  expect(findings[0]).toMatchObject({ check: 'delivery', found: expect.stringMatching(found) })
  expect(textOf(findings[0]?.remedy ?? '')).toMatch(remedy)
})

test('reports an exact store that verifies no signature', async () => {
  const { findings } = await exactFindings({ verifies: false })
  const problems = findings.filter(({ level }) => level === 'problem')
  expect(problems).toMatchObject([{ check: 'signatures' }])
})

test('without a log, does not state that a store that answers as expected handled nothing', async () => {
  const url = await serve(async (request, response) => {
    const body = await buffer(request)
    response.writeHead(isSigned(request, body) ? 200 : 401).end()
  })
  const findings = await findingsAt(url, { wait: 1, only: ['signatures', 'test message'] })
  const remedy = expect.stringMatching(/^specify the log of handled messages/)
  expect(findings).toContainEqual({
    check: 'signatures',
    level: 'note',
    found:
      'When a signature was not valid, the store answered 401; whether it handled the message is unknown',
    remedy,
  })
  expect(findings).toContainEqual({
    check: 'test message',
    level: 'note',
    found: expect.stringMatching(
      /the store acknowledged relay\.test; whether it handled the message is unknown$/,
    ),
    remedy,
  })
})

/** The finding "same version" of an HTTP store that handles each delivery once, and answers other events like this. */
const sameVersion = async (answer: number) => {
  const handled = new Set<string>()
  const url = await serve(async (request, response) => {
    const { event, delivery } = JSON.parse((await buffer(request)).toString())
    if (event !== 'order.updated') return response.writeHead(answer).end()
    handled.add(delivery)
    return response.end()
  })
  const findings = await findingsAt(url, {
    wait: 5,
    handled: async () => [...handled].join('\n'),
    only: ['same version'],
  })
  return findings.find(({ check }) => check === 'same version')
}

test('tells a store that refuses unknown events to acknowledge them, and accepts a store that ignores them', async () => {
  expect(await sameVersion(400)).toMatchObject({
    level: 'problem',
    found: expect.stringContaining(
      'the store did not acknowledge "order.rejected" of version 1 (it answered 400)',
    ),
    remedy: 'acknowledge events that the store does not know',
  })
  expect(await sameVersion(204)).toMatchObject({ level: 'ok' })
})

test('reports that a store refuses the test event, without stating that the relay would retry the event', async () => {
  const url = await serve(async (request, response) => {
    const { event } = JSON.parse((await buffer(request)).toString())
    response.writeHead(event === 'relay.test' ? 422 : 200).end()
  })
  const findings = await findingsAt(url, { wait: 5, only: ['test message'] })
  expect(findings).toContainEqual({
    check: 'test message',
    level: 'problem',
    found:
      'When "relay stores test" sent relay.test, which has no order, the store did not acknowledge relay.test (it answered 422): the test of its endpoint fails',
    remedy: 'answer 2xx and do nothing',
  })
})

test('does not blame the verification of signatures for a message that the store acknowledged and did not handle', async () => {
  const handled: string[] = []
  const url = await serve(async (request, response) => {
    const { version, delivery } = JSON.parse((await buffer(request)).toString())
    // Compares the versions of different orders.
    if (version > handled.length) handled.push(delivery)
    response.end()
  })
  const findings = await findingsAt(url, {
    wait: 1,
    handled: async () => handled.join('\n'),
    only: ['raw body', 'secret rotation'],
  })
  const problems = findings.filter(({ level }) => level === 'problem')
  const remedy = expect.stringMatching(/^acknowledge a message only after it is handled/)
  expect(problems).toMatchObject([
    { check: 'raw body', remedy },
    { check: 'secret rotation', remedy },
  ])
})

test('tells a store that handles the test event like an order that it must do nothing', async () => {
  const handled: string[] = []
  const url = await serve(async (request, response) => {
    handled.push(JSON.parse((await buffer(request)).toString()).delivery)
    response.end()
  })
  const findings = await findingsAt(url, {
    wait: 5,
    handled: async () => handled.join('\n'),
    only: ['test message'],
  })
  expect(findings).toContainEqual({
    check: 'test message',
    level: 'problem',
    found:
      'When "relay stores test" sent relay.test, which has no order, the store handled it like a change of an order: a test of the connection must not change anything',
    remedy: 'answer 2xx and do nothing',
  })
})
