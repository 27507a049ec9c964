import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startServer } from '@order-relay/test-support/server.ts'
import type { Context } from '../core/context.ts'
import { findingText } from '../core/output.ts'
import { CHECKS } from '../doctor/doctor.ts'

let status = 200
let service: Awaited<ReturnType<typeof startServer>>
beforeAll(async () => {
  service = await startServer(async () => ({ status, body: '{"message":"the reason"}' }))
})
afterAll(() => service.close())

/** What the doctor says about a service that answers its test call with a status. */
const saidAbout = async (answer: number) => {
  status = answer
  const context = {
    flags: '',
    title: 'the relay',
    stack: async () => ({ accountingUrl: service.url }),
    parameters: { get: async () => 'key' },
  } as unknown as Context
  const findings = (await CHECKS.service?.(context, '')) ?? []
  return findings.map(finding => `${finding.level}: ${findingText(finding)}`).join()
}

// The runbook of the alarm "Accounting service unavailable" names the same statuses.
test.each([
  [502, /^problem: .*the accounting service is unavailable: .*502 the reason/],
  [503, /^problem: .*the accounting service is unavailable: .*503 the reason/],
  [504, /^problem: .*the accounting service is unavailable: .*504 the reason/],
  [500, /^problem: .*answers calls in a way that its interface does not define: .*500 the reason/],
  [302, /^problem: .*answers calls in a way that its interface does not define: .*302 the reason/],
  [429, /^note: .*the accounting service limits the rate of calls: .*429 the reason/],
  [401, /^problem: .*the accounting service refuses the API key: .*401 the reason/],
  [404, /^ok: .*the accounting service accepts the API key/],
])('the doctor reports a service that answers %i', async (answer, said) => {
  expect(await saidAbout(answer)).toMatch(said)
})
