import { expect, test } from '@jest/globals'
import { testRelay } from '../support/openapi/servers.ts'
import { SELF } from '../support/project.ts'
import { local } from '../support/relay.ts'

/** `npm run proof -- openapi` has more runs with a random seed. */
export const openApiTests = () => {
  test('the responses of the relay match its document', async () => {
    const { mismatches } = await testRelay(local.stack().urls.relay, SELF, { runs: 150, seed: 1 })
    expect(mismatches).toEqual([])
  })
}
