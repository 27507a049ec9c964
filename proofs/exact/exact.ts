import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { useFolder } from '../../test/support/folder.ts'
import { startProgram } from '../../test/support/program.ts'
import { change, copyProject } from '../../test/support/project.ts'
import { local, useLocalStack } from '../../test/support/relay.ts'

const folder = useFolder()

useLocalStack({
  async project() {
    const project = join(folder(), 'project')
    await copyProject(project)
    const store = '  - source: exact-shop\n    feed: http\n    exact: true\n'
    await change(project, 'stores.yml', 'stores:\n', `stores:\n${store}`)
    return project
  },
})

const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython)
  console.warn('Skipped, since python3 is not installed: the store written from the interface document')

/** Runs the store against a base URL, with its own source and key, and returns what it knows in the end. */
const run = async (source: string, baseUrl: string, key: string) => {
  const { sandbox } = local.stack().urls
  const script = join(import.meta.dirname, 'store.py')
  const given = Object.entries({ 'base-url': baseUrl, key, panel: sandbox, source })
  const args = [script, ...given.flatMap(([name, value]) => [`--${name}`, value])]
  const { code, out, err } = await startProgram(args, { program: 'python3' }).ended
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

test('the commands say that a store is exact and show what it receives', async () => {
  expect((await local.relay(['stores', 'list'])).out).toMatch(/^exact-shop +http \(not registered\), exact /m)
  const { data } = await local.json(['stores', 'show', 'exact-shop'])
  expect(data).toMatchObject({ exact: true, snippets: { headers: { 'relay-version': '1' } } })
  expect(Object.keys(data.snippets.message)).toEqual(['event', 'data', 'delivery'])
  expect(data.snippets['store.mjs']).toContain('verifySignature')
  const { code, err } = await local.relay(['stores', 'test', 'exact-shop'])
  expect([code, err]).toEqual([1, expect.stringContaining('relay.test is not an event of the service')])
})

;(hasPython ? test : test.skip)(
  'a store written from the interface document records the same with the relay as with the service',
  async () => {
    const { relay, sandbox } = local.stack().urls
    const atService = await run('direct', sandbox, 'sandbox-key')
    expect(atService).toMatchObject({ failures: [], webhooks: { 'reviewed-and-paid': ['paid'] } })
    expect(await run('exact-shop', relay, 'local-exact-shop')).toEqual(atService)
  },
  120_000,
)
