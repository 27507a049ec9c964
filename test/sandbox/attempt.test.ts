import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { attempt } from '../../sandbox/delivery/attempt.ts'
import { waitAfter } from '../../sandbox/delivery/record.ts'
import { startReceiver } from './world.ts'

const attemptTo = (url: string, timeoutMs?: number) =>
  attempt(
    { url, delivery: 'd', body: '{}' },
    'secret',
    () => new Date(),
    new AbortController().signal,
    timeoutMs,
  )

test('the outcome reports a timeout and an unreachable receiver', async () => {
  const { url, close } = await startReceiver(() => 'hang')
  expect(await attemptTo(url, 50)).toMatchObject({
    status: null,
    error: 'no answer within 0.05 s',
    response: null,
  })
  await close()
  expect(await attemptTo(url)).toMatchObject({ status: null, error: expect.stringContaining('ECONNREFUSED') })
})

test('the status of an endless response decides, and only its beginning is kept', async () => {
  const server = createServer((_request, response) => {
    const more = () => response.write('x'.repeat(10_000), more)
    more()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  expect(await attemptTo(`http://127.0.0.1:${port}/`)).toMatchObject({
    status: 200,
    response: 'x'.repeat(500),
  })
  server.close()
  server.closeAllConnections()
})

test('the retry delays are 5 s, 30 s, 2 min, 10 min, 1 h, 6 h and 24 h, divided by the speed', () => {
  const waits = Array.from({ length: 8 }, (_, index) => waitAfter(index + 1, 1))
  expect(waits).toEqual([5, 30, 120, 600, 3600, 21600, 86400, undefined].map(s => s && s * 1000))
  expect(waitAfter(7, 10_000)).toBe(8640)
})
