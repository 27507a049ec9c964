import { writeFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from '@jest/globals'
import { logFile } from '@order-relay/local/log.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import type { Context } from '../core/context.ts'
import { findingText } from '../core/output.ts'
import { unauthorizedFindings, unauthorizedNotices } from '../status/unauthorized.ts'

const folder = useFolder()

test('says which stores have requests refused because of their key, how many and since when', async () => {
  const dataDir = folder()
  const now = Date.now()
  const time = (minutes: number) => new Date(now - minutes * 60_000).toISOString()
  const refused = (minutes: number, fields: object, message = 'request unauthorized') =>
    JSON.stringify({ level: 'WARN', message, timestamp: time(minutes), action: 'create', ...fields })
  const answered = (minutes: number, source: string, action = 'create') =>
    refused(minutes, { source, action, status: 202 }, 'request answered')
  const forbidden = (minutes: number, fields: object) =>
    refused(minutes, { source: 'web', key_id: 'b2-read-only', ...fields }, 'request forbidden')
  const lines = [
    refused(70, { key: 'unknown', claimed_source: 'shop' }),
    answered(52, 'web', 'create'),
    refused(50, { key: 'missing', claimed_source: 'shop' }),
    refused(45, { key: 'unknown', claimed_source: 'shop' }),
    refused(40, { key: 'expired', source: 'other', expired_key: 'a1' }),
    refused(35, { key: 'unknown', claimed_source: 'never' }, 'request answered'),
    refused(30, { key: 'missing' }),
    refused(9, { key: 'unknown' }),
    refused(20, { key: 'unknown', claimed_source: 'shop' }),
    refused(19, { key: 'unknown', claimed_source: 'shop' }),
    forbidden(18, { key: 'read-only' }),
    forbidden(17, { key: 'foreign', key_id: 'c3', claimed_source: 'other' }),
    forbidden(16, { key: 'foreign', key_id: 'c3' }),
    answered(15, 'other', 'read'),
    answered(14, 'web', 'read'),
  ]
  await writeFile(logFile(dataDir), `${lines.join('\n')}\n`)
  const created = (name: string, minutes: number) => ({
    name,
    value: 'hash\nTill',
    modified: new Date(time(minutes)),
  })
  const keys = [
    created('web/b2-read-only', 300),
    created('other/a1', 300),
    created('shop/e5', 19.1),
    created('shop/d4', 19.2),
  ]
  const parameters = { below: async () => keys }
  const context = { local: true, dataDir, flags: ' --local', parameters } as unknown as Context
  const create = (source: string) =>
    `→ correct the key in the store, or create another: relay stores key ${source} --local`
  // The operator has created a key since.
  const useNew = `→ a key was created at ${time(19.1)}, after the last of these requests, and works within 15 seconds: use it in the store`
  const findings = await unauthorizedFindings(context)
  expect(findings.map(findingText).join('\n').split(/\n\s*/)).toEqual([
    `note  one request that names no store of the relay was refused with 401: at ${time(9)}; the key is unknown: wrong, revoked, of a removed store or of another relay`,
    '→ see the log: relay tail --since 1h --errors --local',
    `note  one request with a key of the store "web" was refused with 403: at ${time(16)}; the key "c3" allows only the orders of its store, and the requests name another or none`,
    '→ correct the source in the requests, or use the key of the store that they are for',
    `note  one request that names the store "other" was refused with 403: at ${time(17)}; the key "c3" belongs to the store "web"`,
    create('other'),
    `note  one request with a key of the store "web" was refused with 403: at ${time(18)}; the key "Till" may only read orders`,
    create('web'),
    `note  one request that names the store "shop" was refused with 401: at ${time(19)}; a key was created at ${time(19.1)} and, if the request used it, was not known yet: a new key works within 15 seconds`,
    `note  requests that name the store "shop" were refused with 401: in the last hour: 2, the first at ${time(45)}, the last at ${time(20)}; the key is unknown: wrong, revoked, of a removed store or of another relay`,
    useNew,
    `note  one request that names no store of the relay was refused with 401: at ${time(30)}; no key was sent`,
    '→ see the log: relay tail --since 1h --errors --local',
    `note  one request with a key of the store "other" was refused with 401: at ${time(40)}; the key "Till" has expired; the key of a later request of the store was accepted, at ${time(15)}`,
    `note  one request that names the store "shop" was refused with 401: at ${time(50)}; no key was sent`,
    useNew,
  ])
  // The status and the Overview leave out new keys, a single request without a store after ten minutes, and stores whose
  // later requests were accepted.
  const notices = await unauthorizedNotices(context)
  expect(findings.filter(finding => !notices.some(notice => isDeepStrictEqual(notice, finding)))).toEqual([
    expect.objectContaining({
      found: expect.objectContaining({ text: expect.stringContaining('a new key works') }),
    }),
    expect.objectContaining({
      found: expect.objectContaining({ text: `at ${time(30)}; no key was sent` }),
    }),
    expect.objectContaining({ found: expect.objectContaining({ code: 'accepted-since' }) }),
  ])
})
