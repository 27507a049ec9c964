import { beforeAll, describe, expect, test } from '@jest/globals'
import { unzipSync, zipSync } from 'fflate'
import { useFolder } from '../../support/folder.ts'
import { collect } from './alter.ts'
import { altered, type Checked, checkedOf } from './checked.ts'
import { packagedForCrash } from './packaged.ts'
import { readable } from './readable.ts'
import { ownParts } from './relations/functions.ts'
import { RELATIONS } from './relations.ts'

const folder = useFolder()
let checked: Checked

beforeAll(async () => {
  checked = await checkedOf(await packagedForCrash(folder()))
}, 120_000)

test('the packaged template matches the reviewed snapshot; to accept a change: npm test -- test/deploy -u', () => {
  expect(readable(checked.template)).toMatchSnapshot()
})

describe.each(RELATIONS)('%s', (_what, rule, ...mistakes) => {
  test('holds for the packaged template', async () => {
    expect(await collect(rule(checked))).toEqual([])
  })

  for (const [part, from, to, violation] of mistakes)
    test(`finds a change of ${part} from ${from} to ${to}`, async () => {
      const found = await collect(rule(altered(checked, part, from, to)))
      expect(found).toContainEqual(expect.stringContaining(violation))
    })
})

test('detects a bundle that Lambda would not load as a module', async () => {
  const { 'functions/webhook.mjs': code = new Uint8Array() } = unzipSync(
    checked.zips.webhook ?? new Uint8Array(),
  )
  const zips = { ...checked.zips, webhook: zipSync({ 'functions/webhook.js': code }) }
  expect(await collect(ownParts({ ...checked, zips }))).toEqual([
    'webhook: its zip does not contain exactly functions/webhook.mjs',
  ])
})
