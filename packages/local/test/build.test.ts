import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { until } from '@order-relay/test-support/until.ts'
import { stop } from 'esbuild'
import { type Build, buildFunctions } from '../build.ts'

const folder = useFolder()
const change = (code: string) => writeFile(folder('function.ts'), code)
const built = () => readFile(folder('build/function.mjs'), 'utf8')
/** The rebuilds that wait to be written. */
const rebuilds: (() => Promise<void>)[] = []

let build: Build
beforeAll(async () => {
  await change('export const handler = () => "first"')
  build = await buildFunctions({
    serviceDir: folder(),
    handlers: ['function.handler'],
    outdir: folder('build'),
    onRebuilt: async write => void rebuilds.push(write),
  })
})
afterAll(async () => {
  await build.close()
  await stop()
})

test('writes rebuilt functions only when the caller calls write', async () => {
  expect(await built()).toContain('first')
  await change('export const handler = () => "second"')
  await until(() => rebuilds.length > 0)
  expect(await built()).toContain('first')
  await rebuilds[0]?.()
  expect(await built()).toContain('second')
})
