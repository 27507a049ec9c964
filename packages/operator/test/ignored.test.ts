import { appendFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import { storeKeyParameter } from '@order-relay/lib/api/keys.ts'
import type { Store } from '@order-relay/lib/platform/stores.ts'
import { sourceHash } from '@order-relay/lib/webhook/receive.ts'
import { logFile } from '@order-relay/local/log.ts'
import { relayForTests } from '@order-relay/test-support/relay.ts'
import { recordRepair } from '../audit/repairs.ts'
import { findingText } from '../core/output.ts'
import { ignoredNotices } from '../status/ignored.ts'

const { stack, dataDir, newContext } = await relayForTests()

const DAY_MINUTES = 24 * 60
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

const ignored = (minutes: number, source: string) => {
  const about = { outcome: 'ignored', why: 'foreign source', source_hash: sourceHash(source) }
  const timestamp = minutesAgo(minutes).toISOString()
  return `${JSON.stringify({ level: 'INFO', message: 'delivery received', timestamp, ...about })}\n`
}

test('ignored webhooks of a store are reported until it is restored and an audit of 30 days follows', async () => {
  for (const source of ['my-shop', 'Café 2'])
    await stack.ssm.putParameter(storeKeyParameter('/order-relay/local', source, 'its key'))
  let stores: Store[] = []
  const context = { ...newContext(), stores: () => stores }
  const found = async (...audited: { since: Date; until: Date }[]) =>
    (await ignoredNotices(context, ...audited)).map(findingText)
  const log = (text: string) => appendFile(logFile(dataDir()), text)
  const are = (name: string, words: string) =>
    expect.stringMatching(
      new RegExp(
        `^!! {4}webhooks of the store "${name}" are ignored: stores.yml does not have it: ${words}.*restore it in stores.yml and, on AWS, deploy; then compare .*: relay audit --since 30d --repair --local$`,
        's',
      ),
    )

  // The service also sends the webhooks of stores that never used this relay.
  await log(ignored(30, 'other-shop') + ignored(25, 'my-shop'))
  expect(await found()).toEqual([are('my-shop', 'one ignored, at ')])
  await log(ignored(20, 'my-shop'))
  const audit = (until: number, days = 30) => ({
    since: minutesAgo(until + days * DAY_MINUTES),
    until: minutesAgo(until),
  })
  expect(await found(audit(10))).toEqual([are('my-shop', '2 ignored, from ')])

  stores = [{ source: 'my-shop', feed: 'sqs' }]
  const were = [
    expect.stringMatching(/^note {2}.* were ignored: .*: relay audit --since 30d --repair --local$/s),
  ]
  expect(await found()).toEqual(were)
  expect(await found(audit(22))).toEqual(were)
  expect(await found(audit(10, 1))).toEqual(were)
  expect(await found(audit(10))).toEqual([])
  await recordRepair(context, audit(10), 0)
  expect(await found()).toEqual([])

  await log(ignored(5, 'Café 2'))
  expect(await found()).toEqual([are('cafe-2-\\w{10}', 'one ignored, at ')])
})
