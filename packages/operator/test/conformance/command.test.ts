import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { conformance } from '../../conformance/conformance.ts'
import { type Context, createContext } from '../../core/context.ts'
import { contextOf, isSigned, SECRET, serve, terminal } from './support.ts'

const folder = useFolder()

test('does not report "No problems" about checks that it cannot judge, and refuses unknown names of checks', async () => {
  const url = await serve((_request, response) => response.end())
  const run = (only: string, handled?: string) =>
    conformance(contextOf(url), 'shop', { wait: 1, only, handled }, { args: ['shop'] })
  for (const only of ['duplicates', 'delivery,duplicates'])
    expect(await run(only)).toMatchObject({
      ok: false,
      data: { ok: false, problems: 0 },
      text: expect.stringMatching(/^Cannot judge "delivery", "duplicates" of the store "shop", /),
    })
  await expect(run('duplicates, raw-body')).rejects.toMatchObject({
    exit: 2,
    message: expect.stringMatching(
      /^Cannot test .*no check "raw-body"; the checks are delivery, .*raw body.*kills$/,
    ),
  })
})

test('shows how long it waits for a store that does not log a message', async () => {
  const url = await serve((_request, response) => response.end())
  const shown: string[] = []
  const context = contextOf(url, { ...terminal, onProgress: text => void shown.push(text) })
  const handled = folder('handled')
  await writeFile(handled, '')
  const options = { wait: 3, only: 'delivery', handled }
  expect((await conformance(context, 'shop', options, { args: ['shop'] })).ok).toBe(false)
  expect(shown).toContain('Waiting for the store (--wait): 2 of 3 s')
})

test.each([
  [401, 'webhook', 'registers its URL again, and refuses the earlier secret'],
  [404, 'other', 'registers another URL, and no longer answers at the earlier one'],
])('with %d and the path /%s, does not blame a running store that %s', async (refusal, path) => {
  let own = { secret: SECRET, path: '/webhook' }
  let requests = 0
  const url = await serve(async (request, response) => {
    const body = await buffer(request)
    requests += 1
    if (requests === 2) own = { secret: randomUUID(), path: `/${path}` }
    const isAccepted = isSigned(request, body, own.secret) && request.url === own.path
    response.writeHead(isAccepted ? 200 : refusal).end()
  })
  const context = {
    ...createContext({ local: true }, terminal),
    stores: () => [{ source: 'shop', feed: { disable_after: 60 } }],
    nameOf: (table: string) => table,
    dynamodb: { send: async () => ({ Item: { url: { S: url + own.path }, secret: { S: own.secret } } }) },
  } as unknown as Context
  const { data } = await conformance(context, 'shop', { wait: 1, only: 'raw body' }, { args: ['shop'] })
  expect(requests).toBe(3)
  expect(data).toMatchObject({ problems: 0 })
})
