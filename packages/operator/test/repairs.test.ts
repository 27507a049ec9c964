import { expect, test } from '@jest/globals'
import { relayForTests } from '@order-relay/test-support/relay.ts'
import { isCovered, recordRepair, repairsSince } from '../audit/repairs.ts'
import { auditRoutes, createAudits } from '../console/audit.ts'
import type { Context } from '../core/context.ts'

const { newContext } = await relayForTests()

/** A time, in hours. */
const at = (hour: number) => new Date(Date.UTC(2020, 10, 27, hour))

/** Of the times at which webhooks were refused, those that no recorded repair covers. */
const unrepaired = async (context: Context, first: Date, ...later: readonly Date[]) => {
  const repairs = await repairsSince(context, first)
  return [first, ...later].filter(time => !repairs.some(repair => isCovered(time, repair))).map(Number)
}

test('a recorded repair covers the webhooks that were refused in its period before its audit began', async () => {
  const context = newContext()
  const left = (first: number, ...later: number[]) => unrepaired(context, at(first), ...later.map(at))
  expect(await left(9, 10)).toEqual([Number(at(9)), Number(at(10))])
  await recordRepair(context, { since: at(8), until: at(11) }, 2)
  expect([await left(9, 10), await left(7, 10), await left(9, 12)]).toEqual([
    [],
    [Number(at(7))],
    [Number(at(12))],
  ])
  // The audit of a shorter period.
  await recordRepair(context, { since: at(11), until: at(12) }, 0)
  expect([await left(9, 10), await left(11, 11.5), await left(9, 12)]).toEqual([[], [], [Number(at(12))]])
})

test('the console records a repair only if all orders that differ in its last audit are read again', async () => {
  const context = newContext()
  const audits = createAudits()
  const differing = ['1', '2'].map(external_id => ({
    what: '',
    remedy: 'outdated',
    source: 'api',
    external_id,
  }))
  audits.keep({ since: at(1), until: at(3), unread: [], differences: differing } as never)
  const sqs = { send: async () => ({}) }
  const live = { poll: () => async () => undefined, stopping: new AbortController().signal }
  const inConsole = { ...context, sqs, queueUrl: async () => '' }
  const routes = auditRoutes(inConsole as never, live as never, audits, {} as never)
  const repair = async (...orders: string[]) => {
    const keys = orders.map(external_id => ({ source: 'api', external_id }))
    await routes.find(({ path }) => path === 'audit/repair')?.handle({ orders: keys } as never, live.stopping)
    const isKnown = (await unrepaired(context, at(1), at(2))).length === 0
    return [audits.last()?.repaired?.orders, isKnown]
  }
  expect(await repair('1')).toEqual([undefined, false])
  expect(await repair('1', '2')).toEqual([2, true])
})
