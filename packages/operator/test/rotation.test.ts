import { appendFile, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SSM } from '@aws-sdk/client-ssm'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import { logFile } from '@order-relay/local/log.ts'
import { startParameterStore } from '@order-relay/local/parameter-store.ts'
import { freePorts } from '@order-relay/local/ports.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { clientsAt } from '@order-relay/test-support/parts.ts'
import { listening } from '@order-relay/test-support/server.ts'
import { interruptible } from '../core/async.ts'
import type { Context } from '../core/context.ts'
import { cannot, explain } from '../core/errors.ts'
import { parameterStore } from '../core/parameters.ts'
import { register, registrationsOf, removeSecret, storeSecret } from '../registration.ts'
import { lockRegistration } from '../registration-lock.ts'
import { rotate } from '../rotation.ts'
import { lastProof } from '../secret-in-use.ts'

/** A relay that accepts every ping, at any path, so that each test has a URL of its own. */
let relay: Awaited<ReturnType<typeof listening>>
/** An accounting service that signs with the last secret that it created for a URL. */
let service: Awaited<ReturnType<typeof listening>>
const signsWith = new Map<string, string>()
/** The status with which the service answers without creating a secret. */
let refusal: number | undefined
let created = 0

let ssm: SSM
let store: Awaited<ReturnType<typeof startParameterStore>>
const folder = useFolder(async () => {
  ssm.destroy()
  await store.close()
})

beforeAll(async () => {
  relay = await listening((_, response) => response.end())
  service = await listening(async (request, response) => {
    if (refusal !== undefined) {
      response.writeHead(refusal).end('{"message":"the reason"}')
      return
    }
    const { url } = JSON.parse((await buffer(request)).toString())
    const secret = `created-${++created}`
    signsWith.set(url, secret)
    response.end(JSON.stringify({ url, secret }))
  })
  const ports = await freePorts()
  store = await startParameterStore({ port: ports.ssm, path: folder('data', 'parameters.json') })
  ssm = clientsAt(ports, { maxAttempts: 3 }).ssm
})
afterAll(() => Promise.all([relay.close(), service.close()]))

/** A relay whose webhook is registered with one secret. */
const registered = async (name: string, onProgress: (text: string) => unknown = () => undefined) => {
  const url = `${relay.url}/${name}`
  const parameters = parameterStore(ssm, `/order-relay/${name}`)
  const terminal = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const context = {
    parameters,
    local: true,
    // Without a log.
    dataDir: folder(name),
    flags: '',
    terminal: { ...terminal, environment: {}, onProgress },
    stack: async () => ({ accountingUrl: service.url, webhookUrl: url }),
  } as unknown as Context
  await parameters.put(PARAMETERS.accountingKey, 'key')
  const first = await storeSecret(context, url, 'first')
  return { context, url, first, stored: async () => (await registrationsOf(context, url)).ofUrl }
}

const pause = () => sleep(5)
const NOW = { lead: 0, overlap: 0, wait: true, pause }

test('a rotation replaces the secret', async () => {
  const { context, url, first, stored } = await registered('replaces')
  const { data } = await rotate(context, NOW)
  expect(data).toMatchObject({ retired: true, resumed: false, old: [first.id] })
  expect(await stored()).toMatchObject([{ id: data.fresh, secret: signsWith.get(url) }])
  expect(await context.parameters.find(PARAMETERS.webhookRotation)).toBeUndefined()
})

test.each([
  [401, /^Cannot use the accounting service: 401 the reason; set a key .*: relay key set$/],
  [403, /^Cannot use the accounting service: 403 the reason; set a key .*: relay key set$/],
  [422, /^Cannot use the accounting service: 422 the reason$/],
  [429, /^Cannot use the accounting service: 429 the reason$/],
  [
    500,
    /^Cannot rotate the webhook secret: .* 500; run the command again soon: .* may have created a new secret/,
  ],
])(
  'a rotation that the service answers with %i says whether a new secret may exist',
  async (status, said) => {
    const { context, first, stored } = await registered(`answers-${status}`)
    refusal = status
    const failed = await rotate(context, NOW)
      .catch(error => error)
      .finally(() => {
        refusal = undefined
      })
    expect(explain(failed, { local: false, title: 'the relay', flags: '' }).message).toMatch(said)
    expect(await stored()).toMatchObject([{ id: first.id }])
  },
)

test('of two rotations at the same time, one is refused, and the secret of the other is in use', async () => {
  const { context, url, stored } = await registered('two')
  const outcomes = await Promise.allSettled([rotate(context, NOW), rotate(context, NOW)])
  const errors = outcomes.flatMap(each => (each.status === 'rejected' ? [String(each.reason)] : []))
  expect(errors).toEqual([
    expect.stringMatching(
      /^Failure: Cannot rotate the webhook secret: another command is registering the webhook or replacing its secret; wait for it to finish; if it was killed, run this command again after 20\S+Z$/,
    ),
  ])
  const [done] = outcomes.flatMap(each => (each.status === 'fulfilled' ? [each.value.data] : []))
  expect(await stored()).toMatchObject([{ id: done?.fresh, secret: signsWith.get(url) }])
})

test('a registration is refused while a rotation is announced', async () => {
  const { context } = await registered('register')
  const lock = await lockRegistration(context, 'rotate the webhook secret', 'announced', 60)
  const again = { again: true, check: true }
  await expect(register(context, again)).rejects.toThrow(/^Cannot register the webhook: another command/)
  await lock.release()
  expect((await register(context, again)).data).toMatchObject({ registered: 'now' })
})

test('a lock that has expired is taken over once, and its first owner does not get it back', async () => {
  const { context } = await registered('expired')
  const lock = () => lockRegistration(context, 'rotate the webhook secret', 'announced', 60)
  const killed = await lockRegistration(context, 'rotate the webhook secret', 'announced', 0)
  const outcomes = await Promise.allSettled([lock(), lock()])
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  await expect(killed.next('switching', 10)).rejects.toThrow('another command is registering the webhook')
})

test('a resumed rotation deletes the old secret after the overlap', async () => {
  const { context, url, first, stored } = await registered('resumed')
  const { data: begun } = await rotate(context, { ...NOW, overlap: 1, wait: false })
  expect(begun).toMatchObject({ retired: false, resumed: false })
  const { data } = await rotate(context, { ...NOW, overlap: 1 })
  expect(data).toMatchObject({ retired: true, resumed: true, fresh: begun.fresh, old: [first.id] })
  expect(await stored()).toMatchObject([{ id: begun.fresh, secret: signsWith.get(url) }])
})

/** Logs a webhook that the service has signed with a secret. */
const signedWith = async (dataDir: string, id: string, at: Date) => {
  const line = { level: 'INFO', message: 'delivery received', timestamp: at.toISOString(), outcome: 'queued' }
  await mkdir(dirname(logFile(dataDir)), { recursive: true })
  await appendFile(logFile(dataDir), `${JSON.stringify({ ...line, source: 'api', signed_with: id })}\n`)
}

test('a rotation does not delete the secret last known to be in use', async () => {
  const { context, url, first, stored } = await registered('in-use')
  // A secret that the service created earlier is stored again.
  const restored = `${first.id.slice(0, 9)}20260101T000000000Z`
  await sleep(5)
  await context.parameters.put(`${PARAMETERS.webhookSecrets}/${restored}`, 'restored')
  await expect(rotate(context, NOW)).rejects.toThrow(
    new RegExp(
      `^Cannot rotate the webhook secret: the secret last known to be in use is ${first.id}, as of \\S+Z, not the newest, ${restored}; wait until .*: relay register --again --url '${url}'$`,
    ),
  )
  expect(await stored()).toHaveLength(2)
  await signedWith(context.dataDir, restored, new Date(Date.now() + 11_000))
  expect((await rotate(context, NOW)).data).toMatchObject({ fresh: restored, old: [first.id] })
})

test.each([
  ['the newest has signed a webhook', ['sandbox', '2026-11-27T09:00:00Z'], 'sandbox'],
  [
    'the newest was created while a webhook with another was under way',
    ['x', '2026-11-27T08:00:09Z'],
    'a-20261127T080000000Z',
  ],
  [
    'a restored secret was stored last, and the other was created later than it signed',
    ['sandbox', '2026-11-27T07:00:00Z'],
    'a-20261127T080000000Z',
  ],
  ['nothing is known', undefined, undefined],
] as const)('the secret in use is the one last created or proved by a webhook: %s', (_, signed, expected) => {
  const last = signed && { id: signed[0], at: new Date(signed[1]) }
  const ids = expected === undefined ? ['sandbox'] : ['a-20261127T080000000Z', 'x', 'sandbox']
  expect(lastProof(ids, last)?.id).toBe(expected)
})

/** Runs once, as soon as the overlap of a rotation begins. */
const duringOverlap = (act: () => Promise<unknown>) => {
  let hasBegun = false
  return async (text: string) => {
    if (hasBegun || !text.startsWith('Accepting both')) return
    hasBegun = true
    await act()
  }
}

const OVERLAP = { ...NOW, overlap: 20 }

test('a rotation fails when another command replaces the new secret during the overlap, and says which one is in use', async () => {
  const { context, url, stored } = await registered(
    'overtaken',
    duringOverlap(async () => register(context, { again: true, check: false })),
  )
  const error = await rotate(context, OVERLAP).catch(String)
  const [, second, third] = await stored()
  expect(third?.secret).toBe(signsWith.get(url))
  expect(error).toBe(
    `Failure: Cannot rotate the webhook secret: another command has replaced the secret ${second?.id}; the secret ${third?.id} is in use now; to delete the old ones, run relay rotate --url '${url}'`,
  )
})

test('a rotation fails when another command deletes the new secret during the overlap', async () => {
  const { context, url, stored } = await registered(
    'deleted',
    duringOverlap(async () => {
      const fresh = (await stored()).at(-1)
      if (fresh) await removeSecret(context, fresh)
    }),
  )
  await expect(rotate(context, OVERLAP)).rejects.toThrow(
    /^Cannot rotate the webhook secret: another command has deleted the secret \S+; unless that was intended, register the webhook again: relay register --url '/,
  )
  expect(await stored()).toMatchObject([{ secret: 'first' }])
  expect(signsWith.get(url)).not.toBe('first')
})

test('a rotation that is interrupted says which secret is in use and how to continue', async () => {
  const stop = new AbortController()
  const abort = async () => stop.abort(cannot('finish', 'interrupted'))
  const { context, url, stored } = await registered('interrupted', duringOverlap(abort))
  const error = await rotate(context, { ...OVERLAP, signal: stop.signal }).catch(String)
  const [, fresh] = await stored()
  expect(error).toBe(
    `Failure: Cannot finish: interrupted while both secrets are accepted; the secret ${fresh?.id} is in use; to delete the old one, run relay rotate --url '${url}'`,
  )

  const early = await registered('early')
  await expect(rotate(early.context, { ...NOW, lead: 60, signal: stop.signal })).rejects.toThrow(
    `Cannot finish: interrupted before the secret was replaced; the secret ${early.first.id} is still in use; to start again, run relay rotate --url '${early.url}'`,
  )
  expect(signsWith.get(early.url)).toBeUndefined()
  // Another rotation can start at once.
  await rotate(early.context, NOW)
})

test('Ctrl-C interrupts a rotation once, with its explanation', async () => {
  const { context } = await registered('ctrl-c', text => {
    if (text.startsWith('Announcing')) process.emit('SIGINT')
  })
  const rotation = interruptible(signal => rotate(context, { ...NOW, lead: 60, signal }))
  await expect(rotation).rejects.toThrow('Cannot finish: interrupted before the secret was replaced')
})

test('a registration that is interrupted says which secret is in use and how to continue', async () => {
  const { context, url } = await registered('registering')
  const signal = AbortSignal.abort(cannot('finish', 'interrupted'))
  const error = await register(context, { again: true, check: true, signal }).catch(String)
  expect(error).toMatch(
    /^Failure: Cannot finish: interrupted before the relay accepted the secret; the secret \S+ is in use; to delete the old one, run relay rotate --url '/,
  )
  expect(error).toContain(url)
})
