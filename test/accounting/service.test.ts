import { expect, test } from '@jest/globals'
import { serviceClient } from '../../lib/accounting/service.ts'
import { PARAMETERS } from '../../lib/platform/names.ts'
import { SECOND } from '../support/scenarios.ts'
import { stackForTests } from '../support/stack.ts'
import { recordingTelemetry } from '../support/telemetry.ts'

const { stack } = await stackForTests()
const order = { source: 'shop', external_id: '1' }

test('looks for a new key every 15 seconds while the service refuses the one it has', async () => {
  let time = 0
  let accepted = 'accounting key'
  const result = { status: 200, headers: {}, text: JSON.stringify({ ...order, status: 'invoiced' }) }
  const client = serviceClient({
    ssm: stack.ssm,
    settings: stack.settings,
    telemetry: recordingTelemetry().telemetry,
    now: () => time,
    random: () => 0.5,
    http: async ({ headers }) =>
      headers?.authorization === `Bearer ${accepted}` ? result : { status: 401, headers: {}, text: '' },
  })
  /** The outcome of a read, and how often it read the parameter. */
  const read = async () => {
    const before = stack.commands().length
    const outcome = await client.read(order).then(
      () => 'accepted',
      ({ code }) => code,
    )
    return [outcome, stack.commands().length - before]
  }
  expect(await read()).toEqual(['accepted', 1])
  accepted = 'new key'
  time += SECOND
  expect(await read()).toEqual(['unauthorized', 0])
  expect(await read()).toEqual(['unauthorized', 1])
  await stack.set(PARAMETERS.accountingKey, 'new key')
  time += 14 * SECOND
  expect(await read()).toEqual(['unauthorized', 0])
  time += SECOND
  expect(await read()).toEqual(['accepted', 1])
  time += 30 * SECOND
  expect(await read()).toEqual(['accepted', 0])
})
