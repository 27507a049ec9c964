import { randomUUID } from 'node:crypto'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { freePorts } from '@order-relay/local/ports.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import { until } from '@order-relay/test-support/until.ts'
import type { Target } from '../../conformance/http-feed.ts'
import type { Playing } from '../../conformance/play.ts'
import { storeProcess } from '../../conformance/store-process.ts'
import { findingsAt, isSigned, serve } from './support.ts'

const folder = useFolder()

test("runs the user's own program, and immediately reports its exit with the last lines of output", async () => {
  const program = folder('node')
  await writeFile(program, '#!/bin/sh\nfor line in $(seq 25); do echo "line $line"; done\nexit 3\n')
  await chmod(program, 0o700)
  // As npx sets it.
  const PATH = [join(ROOT, 'node_modules/.bin'), folder(), process.env.PATH].join(':')
  const store = storeProcess(['node', 'store.mjs'], { PATH })
  const { relay: port } = await freePorts()
  const findings = await findingsAt(`http://127.0.0.1:${port}/`, {
    wait: 600,
    assertUseful: store.assertAlive,
    store,
    handled: store.output,
  })
  const printed = Array.from({ length: 20 }, (_, index) => `\n        line ${index + 6}`).join('')
  expect(findings[0]).toMatchObject({
    check: 'delivery',
    level: 'problem',
    found: `When the first message arrived, the store exited with code 3: nothing is handled until it is restarted; its last output:${printed}`,
    remedy: 'find the reason for its exit in its output',
  })
})

test("keeps the AWS SDK's warning about old versions of Node out of a store's output", async () => {
  const program = `
    Object.defineProperty(process, 'version', { value: 'v20.0.0' })
    const { SQSClient } = require('@aws-sdk/client-sqs')
    new SQSClient({ region: 'eu-central-1' })
    console.log('started')`
  const store = storeProcess([process.execPath, '-e', program], process.env)
  await store.start()
  await until(() => !store.isRunning())
  expect(await store.output()).toBe('started\n')
})

/** A store in this process that the checks may start and kill. */
const storeOf = (
  log: readonly string[],
  { started, killed }: { started?: () => unknown; killed?: () => Promise<unknown> },
): NonNullable<Playing['store']> => {
  let isRunning = false
  return {
    isRunning: () => isRunning,
    ends: () => 0,
    assertAlive: () => undefined,
    output: async () => log.join('\n'),
    start: async () => {
      isRunning = true
      started?.()
    },
    kill: async () => {
      await killed?.()
      isRunning = false
    },
  }
}

/**
 * The finding "kills" of a store that is killed before it answers one message.
 *
 * @param then how it handles this message after its restart: again; again after a newer version; or, because it had
 *   committed the first transaction without logging it, not at all
 */
const killsOf = async (then: 'again' | 'late' | 'unlogged') => {
  const log: string[] = []
  let unanswered: { delivery: string; destroy: () => unknown } | undefined
  const url = await serve(async (request, response) => {
    const { data, delivery, version } = JSON.parse((await buffer(request)).toString())
    const isIt = /-kill-3$/.test(data?.external_id)
    const isUnlogged = isIt && version === 17 && then === 'unlogged'
    if (data !== undefined && unanswered?.delivery !== delivery && !isUnlogged) log.push(delivery)
    if (isIt && unanswered === undefined) unanswered = { delivery, destroy: () => response.destroy() }
    else {
      if (isIt && !isUnlogged && version === (then === 'late' ? 18 : 17)) log.push(unanswered?.delivery ?? '')
      response.end()
    }
  })
  const store = storeOf(log, {
    killed: async () => {
      await until(() => unanswered !== undefined)
      unanswered?.destroy()
    },
  })
  const findings = await findingsAt(url, {
    wait: 5,
    store,
    handled: store.output,
    only: ['kills'],
  })
  return findings.find(({ check }) => check === 'kills')
}

test('reports how many messages a killed store handled again, instead of stating that it handled each once', async () => {
  expect(await killsOf('again')).toEqual({
    check: 'kills',
    level: 'ok',
    found:
      'When it was killed while handling a message, the store handled each change at least once and in order; it handled 1 message again after it was killed and restarted',
    remedy: expect.stringMatching(/only if the kill rolled back the first transaction/),
  })
})

test('does not state that a change is lost if a killed store may have applied it without logging it', async () => {
  expect(await killsOf('unlogged')).toMatchObject({
    level: 'problem',
    found:
      'When it was killed while handling a message, the store acknowledged version 17, which its log does not have: either the change is lost, or the store was killed after it had applied the change and before it logged it',
    remedy: expect.stringMatching(/print the delivery before the commit/),
  })
})

test('reports a killed store that handles a message again after a newer version', async () => {
  expect(await killsOf('late')).toMatchObject({
    level: 'problem',
    found: expect.stringMatching(/handled version 17 again after version 18: the order reverts/),
  })
})

/**
 * Findings about a store that registers its URL this long after each start, with a new secret; without a time, it never
 * registers one.
 */
const findingsOfRegistering = async (
  afterMs: number | undefined,
  onRequest?: (method: string, isVerified: boolean) => unknown,
) => {
  const log: string[] = []
  let own = ''
  let registered: Target | undefined
  const url = await serve(async (request, response) => {
    const body = await buffer(request)
    const isVerified = isSigned(request, body, own)
    onRequest?.(String(request.method), isVerified)
    if (!isVerified) return response.writeHead(401).end()
    const { delivery } = JSON.parse(body.toString())
    if (!log.includes(delivery)) log.push(delivery)
    return response.end()
  })
  const store = storeOf(log, {
    // The process is running before it has registered its URL.
    started: async () => {
      own = randomUUID()
      if (afterMs === undefined) return
      await sleep(afterMs)
      registered = { url, secret: own }
    },
  })
  return findingsAt(() => registered, {
    registers: true,
    wait: afterMs === undefined ? 1 : 5,
    store,
    handled: store.output,
    only: ['restarts', 'secret rotation'],
  })
}

test('tests a store that registers its URL at each start with the secret of that start, the first one included', async () => {
  const findings = await findingsOfRegistering(900)
  expect(findings.map(({ check, level }) => [check, level])).toEqual([
    ['delivery', 'ok'],
    ['secret rotation', 'ok'],
    ['restarts', 'ok'],
  ])
})

test('waits until a started store is reachable without sending it a message that it would report as forged', async () => {
  const requests: string[] = []
  await findingsOfRegistering(0, (method, isVerified) => requests.push(`${method} ${isVerified}`))
  expect(requests[0]).toBe('POST true')
})

test('tells a store that registers no URL when it starts to register one', async () => {
  const [first] = await findingsOfRegistering(undefined)
  expect(first).toMatchObject({
    check: 'delivery',
    level: 'problem',
    found: expect.stringMatching(
      /^When the first message arrived, the store did not acknowledge version 1 \(it has registered no webhook URL\)/,
    ),
    remedy: 'register the URL when the store starts: PUT /api/v1/webhook/',
  })
})
