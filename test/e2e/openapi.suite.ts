import { expect, test } from '@jest/globals'
import { testRelay } from '../support/openapi/servers.ts'
import { SELF } from '../support/project.ts'
import { local } from '../support/relay.ts'

const RUNS = { runs: 150, seed: Date.now() % 1_000_000 }

/** Longer with `npm run proof -- openapi`. */
export const openApiTests = () => {
  test('the responses of the relay match its document', async () => {
    const { mismatches } = await testRelay(local.stack().urls.relay, SELF, RUNS)
    expect({ ...RUNS, mismatches }).toEqual({ ...RUNS, mismatches: [] })
  })
}
