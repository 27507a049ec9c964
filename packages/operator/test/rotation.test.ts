import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import { listening } from '@order-relay/test-support/server.ts'
import type { Context } from '../core/context.ts'
import { removeSecret, storeSecret } from '../registration.ts'
import { rotate } from '../rotation.ts'

/** A relay that accepts every ping. */
let relay: Awaited<ReturnType<typeof listening>>
beforeAll(async () => {
  relay = await listening((_, response) => response.end())
})
afterAll(() => relay.close())

/** A rotation that was interrupted during its overlap, and is resumed. */
const interrupted = async (onProgress: (text: string) => void) => {
  const stored = new Map<string, { value: string; modified: Date }>()
  const parameters = {
    below: async (folder: string) =>
      [...stored]
        .filter(([name]) => name.startsWith(`${folder}/`))
        .map(([name, each]) => ({ name: name.slice(folder.length + 1), ...each })),
    get: async () => relay.url,
    put: async (name: string, value: string) => void stored.set(name, { value, modified: new Date() }),
    remove: async (name: string) => void stored.delete(name),
  }
  const terminal = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const context = {
    parameters,
    local: false,
    flags: '',
    terminal: { ...terminal, environment: {}, onProgress },
  } as unknown as Context
  const fresh = await storeSecret(context, relay.url, 'new')
  stored.set(`${PARAMETERS.webhookSecrets}/${fresh.id}-old`, { value: 'old', modified: new Date(0) })
  return { context, fresh, ids: () => [...stored.keys()] }
}

test('a resumed rotation deletes the old secret after the overlap', async () => {
  const { context, fresh, ids } = await interrupted(() => undefined)
  const { data } = await rotate(context, { lead: 0, overlap: 1, wait: true })
  expect(data).toMatchObject({ retired: true, fresh: fresh.id })
  expect(ids()).toEqual([`${PARAMETERS.webhookSecrets}/${fresh.id}`])
})

test('a rotation fails when another command deletes the new secret during the overlap', async () => {
  const { context, fresh } = await interrupted(async text => {
    if (text.startsWith('Accepting both')) await removeSecret(context, fresh)
  })
  await expect(rotate(context, { lead: 0, overlap: 1, wait: true })).rejects.toThrow(
    `Cannot rotate the webhook secret: another command has deleted the new secret ${fresh.id}; unless that was intended, register the webhook again: relay register --url '${relay.url}'`,
  )
})
