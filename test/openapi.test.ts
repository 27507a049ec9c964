import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type Sandbox, startSandbox } from 'order-relay-sandbox'
import { testSandbox } from './support/openapi/servers.ts'

let sandbox: Sandbox
// For each test, since a run may leave faults behind.
beforeEach(async () => {
  sandbox = await startSandbox({ port: 0 })
})
afterEach(() => sandbox.close())

// `npm run proof -- openapi` has more runs with a random seed; the relay's test is in test/relay.stack.ts.
test('the responses of the sandbox match its OpenAPI document', async () => {
  const { mismatches } = await testSandbox(sandbox.url, { runs: 300, seed: 1 })
  expect(mismatches).toEqual([])
})

/** What is wrong in the document, and a mismatch that it must cause. */
const PLANTED: readonly [right: string, wrong: string, found: string][] = [
  ['"404":', '"405":', 'status 404 is not documented'],
  ['"text/csv"', '"text/plain"', 'content type text/csv of 200 is not documented'],
  ['"duplicate":{"type":"boolean"', '"duplicate":{"type":"string"', 'body of 200: data/duplicate'],
  ['"minimum":0', '"minimum":2', 'an invalid request is answered 200'],
  ['"enum":["cash","bank"]', '"enum":["safe"]', 'a valid request is refused with 400'],
  ['"head":', '"trace":', 'Allow is GET, HEAD: documented are GET, TRACE'],
  ['"security":[]', '"security":[{"key":[]}]', 'answered 200 without a valid key'],
]

test('finds every difference that is planted in the document', async () => {
  const document = PLANTED.reduce(
    (text, [right, wrong]) => {
      expect(text).toContain(right)
      return text.replaceAll(right, wrong)
    },
    JSON.stringify(JSON.parse(readFileSync('docs/openapi.json', 'utf8'))),
  )
  const { mismatches } = await testSandbox(sandbox.url, { runs: 2500, seed: 1 }, JSON.parse(document))
  const all = mismatches.map(({ found }) => found)
  for (const [, , found] of PLANTED) expect(all).toContainEqual(expect.stringContaining(found))
})
