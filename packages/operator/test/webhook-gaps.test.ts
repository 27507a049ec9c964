import { expect, test } from '@jest/globals'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import { relayForTests } from '@order-relay/test-support/relay.ts'
import { recordRepair } from '../audit/repairs.ts'
import type { Context } from '../core/context.ts'
import { findingText } from '../core/output.ts'
import { signaturesOf } from '../status/notices.ts'
import { beginGap, endGap } from '../webhook-gaps.ts'

const { newContext } = await relayForTests()

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS)

/** The times at which the stored periods began. */
const storedIn = async (context: Context) =>
  (await context.parameters.below(PARAMETERS.webhookGaps)).map(({ value }) => value.split('/')[0])

test('a period without a registered webhook is reported until an audit of 30 days has followed it', async () => {
  const context = newContext()
  const notices = async (...audited: Parameters<typeof signaturesOf>[1][]) =>
    (await signaturesOf(context, ...audited)).notices.map(findingText)
  const audit = (until: Date, days: number) => ({ since: new Date(Number(until) - days * DAY_MS), until })
  await context.parameters.put(`${PARAMETERS.webhookSecrets}/sandbox`, 'secret')
  expect(await endGap(context, hoursAgo(6))).toBeUndefined()
  expect(await notices()).toEqual([])

  const [old, expired] = [hoursAgo(900), hoursAgo(800)]
  await beginGap(context, old)
  expect(await storedIn(context)).toEqual([old.toISOString()])
  // It ended more than 30 days ago, so it is deleted as soon as its end is recorded.
  expect(await endGap(context, expired)).toEqual({ from: old, to: expired })
  expect(await storedIn(context)).toEqual([])
  const [from, to] = [hoursAgo(5), hoursAgo(4)]
  await beginGap(context, from)
  expect(await endGap(context, to)).toEqual({ from, to })
  const missed = [
    expect.stringContaining(
      `no webhooks were received from ${from.toISOString()} to ${to.toISOString()}; only an audit finds changes of settled orders`,
    ),
  ]
  expect(await notices()).toEqual(missed)
  expect((await notices())[0]).toMatch(/: relay audit --since 30d --repair --local$/)

  expect(await notices(audit(hoursAgo(3), 1))).toEqual(missed)
  expect(await notices(audit(to, 30))).toEqual(missed)
  expect(await notices(audit(hoursAgo(3), 30))).toEqual([])

  await recordRepair(context, audit(hoursAgo(3), 1), 0)
  expect(await notices()).toEqual(missed)
  expect(await storedIn(context)).toEqual([from.toISOString()])
  await recordRepair(context, audit(hoursAgo(3), 30), 2)
  expect(await notices()).toEqual([])
  expect(await storedIn(context)).toEqual([])

  // The local stack registers the webhook again at its next start, without ending the period.
  await beginGap(context, hoursAgo(2))
  expect(await notices()).toEqual([expect.stringContaining(hoursAgo(2).toISOString().slice(0, 15))])
  // A period without an end is not deleted.
  expect(await storedIn(context)).toHaveLength(1)
})
