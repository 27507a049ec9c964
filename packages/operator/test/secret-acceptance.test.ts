import { PassThrough } from 'node:stream'
import { expect, test } from '@jest/globals'
import { unixSeconds } from '@order-relay/lib/platform/environment.ts'
import { sign, verify } from '@order-relay/lib/protocol/signature.ts'
import { HEADERS } from '@order-relay/lib/protocol/webhook.ts'
import { webhookSecrets } from '@order-relay/lib/webhook/secrets.ts'
import { parametersForTests } from '@order-relay/test-support/parameters.ts'
import { startServer } from '@order-relay/test-support/server.ts'
import { waitUntilAccepted } from '../core/webhook.ts'

const stream = () => new PassThrough()

/** A receiver without a secret that refused a webhook some time before a new secret is stored. */
const receiverThatRefused = async (secondsAgo: number) => {
  const { state, cache } = parametersForTests({})
  state.now = Date.now() - secondsAgo * 1000
  const secrets = webhookSecrets(cache, () => state.now)
  const accepts = async (header: string | undefined, body: Uint8Array) => {
    const now = unixSeconds(state.now)
    return (await secrets.verify(active => verify({ header, body, secrets: active, now }))).valid
  }
  const body = Buffer.from('{}')
  await accepts(sign({ secret: 'other', t: unixSeconds(state.now), body }), body)
  state.now += secondsAgo * 1000
  state.stored = { 'secrets/a': 'new' }

  const statuses: number[] = []
  const server = await startServer(async ({ headers }, body) => {
    const status = (await accepts(String(headers[HEADERS.signature]), body)) ? 200 : 401
    statuses.push(status)
    return { status }
  })
  /** Advances the receiver's clock. */
  const pause = async (milliseconds: number) => {
    state.now += milliseconds
  }
  return { statuses, pause, ...server }
}

test.each([
  ['no webhook was refused in the last minute', 61, [200]],
  ['a webhook was refused 50 seconds before', 50, [401, 200]],
  ['a webhook was refused just before', 0, [401, 200]],
])('causes at most one refused ping until the relay accepts a first secret: %s', async (_, ago, expected) => {
  const { url, statuses, pause, close } = await receiverThatRefused(ago)
  const shown: string[] = []
  const onProgress = (text: string) => shown.push(text)
  const terminal = { stdin: stream(), stdout: stream(), stderr: stream(), environment: {}, onProgress }
  await waitUntilAccepted(terminal, { url, secret: 'new' }, pause)
  await close()
  expect(statuses).toEqual(expected)
  expect(shown[0]).toBe('Waiting for the relay to accept the secret: 0 of 70 s')
})
