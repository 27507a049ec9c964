import { writeFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import { logFile } from '@order-relay/local/log.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import type { Context } from '../core/context.ts'
import { findingText } from '../core/output.ts'
import { unauthorizedNotices } from '../status/unauthorized.ts'

const folder = useFolder()

test('says which stores have requests refused because of their key, how many and since when', async () => {
  const dataDir = folder()
  const now = Date.now()
  const time = (minutes: number) => new Date(now - minutes * 60_000).toISOString()
  const refused = (minutes: number, fields: object, message = 'request unauthorized') =>
    JSON.stringify({ level: 'WARN', message, timestamp: time(minutes), action: 'create', ...fields })
  const lines = [
    refused(70, { key: 'unknown', claimed_source: 'shop' }),
    refused(50, { key: 'missing', claimed_source: 'shop' }),
    refused(40, { key: 'expired', source: 'other', expired_key: 'a1' }),
    refused(35, { key: 'unknown', claimed_source: 'never' }, 'request answered'),
    refused(30, { key: 'missing' }),
    refused(20, { key: 'unknown', claimed_source: 'shop' }),
  ]
  await writeFile(logFile(dataDir), `${lines.join('\n')}\n`)
  const context = { local: true, dataDir, flags: ' --local' } as unknown as Context
  expect((await unauthorizedNotices(context)).map(findingText).join('\n').split(/\n\s*/)).toEqual([
    `note  requests that name the store "shop" are refused with 401: in the last hour: 2, the first at ${time(50)}, the last at ${time(20)}; the key of the last one is unknown: wrong, revoked or of another relay`,
    '→ correct the key in the store, or create another: relay stores key shop --local',
    `note  requests that name no store of the relay are refused with 401: in the last hour: 1, the first at ${time(30)}, the last at ${time(30)}; the last one had no key`,
    '→ see the log: relay tail --since 1h --errors --local',
    `note  requests that name the store "other" are refused with 401: in the last hour: 1, the first at ${time(40)}, the last at ${time(40)}; the key a1 has expired`,
    '→ correct the key in the store, or create another: relay stores key other --local',
  ])
})
