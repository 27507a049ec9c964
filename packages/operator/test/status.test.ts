import { expect, test } from '@jest/globals'
import type { AlarmCode } from '@order-relay/deploy/alarms.ts'
import type { Failing } from '@order-relay/lib/orders/stored.ts'
import type { Context } from '../core/context.ts'
import { activeAlarms, alarmMemory } from '../status/active.ts'
import { alarmsOf } from '../status/alarms.ts'
import { failingText, lastAnswered, lastFailed, newKeyOf, unavailableMemory } from '../status/failing.ts'
import { FLOW_NAMES, type FlowName, flowFacts, flowRates, type Intervals } from '../status/metrics.ts'
import { recoveredText, saysThatOrdersFail, stateText } from '../status/recovered.ts'
import { type Refusals, signatureRecovery } from '../status/refusals.ts'
import { alarmLines } from '../status/status.ts'

const context = {
  local: true,
  service: 'relay',
  stores: () => [],
  nameOf: (name: string) => name,
} as unknown as Context
const depth = { waiting: 0, inFlight: 0 }
const queues = { ordersDead: depth, feedsDead: depth, quarantine: depth } as Parameters<typeof alarmsOf>[1]

/** Counts each of the metrics once per interval that begins between two times, in milliseconds. */
const counting =
  (names: readonly string[], from: number, until: number) =>
  async (series: readonly { name: string }[], { from: start, step, count }: Intervals) =>
    series.map(({ name }) =>
      Array.from({ length: count }, (_, index) => {
        const at = start + index * step
        return names.includes(name) && at + step > from && at <= until ? 1 : undefined
      }),
    )

/** The state of the alarm if the service was unavailable between two times, in minutes before now. */
const unavailable = async (from: number, until: number) => {
  const begun = Date.now() - from * 60_000
  const ended = Date.now() - until * 60_000
  const read = counting(['ServiceUnavailable'], begun, ended)
  const alarm = (await alarmsOf(context, queues, read)).find(({ code }) => code === 'breaker-open')
  const minute = `${new Date(begun).toISOString().slice(0, 16)}Z`
  return { state: alarm?.state, since: alarm?.since === minute ? 'the minute it began' : alarm?.since }
}

test('in the local stack, an alarm has been active since the minute it began, if that is known', async () => {
  expect(await unavailable(30, 0)).toEqual({ state: 'alarm', since: 'the minute it began' })
  expect(await unavailable(200, 0)).toEqual({ state: 'alarm', since: 'the minute it began' })
  expect(await unavailable(600, 0)).toEqual({ state: 'alarm' })
  expect(await unavailable(30, 20)).toEqual({ state: 'ok' })
})

test('of the active alarms, those that stop all orders come first, then lost changes, then warnings', async () => {
  const minute = Date.now() - 60_000
  const read = counting(['HistoryThrottled', 'ServiceUnavailable', 'ServiceUnauthorized'], minute, Date.now())
  const dead = { ...queues, ordersDead: { ...depth, waiting: 1 } }
  const active = (await alarmsOf(context, dead, read)).filter(({ state }) => state === 'alarm')
  expect(active.map(({ code, severity }) => [code, severity])).toEqual([
    ['service-unauthorized', 'critical'],
    ['breaker-open', 'critical'],
    ['dead-letters', 'critical'],
    ['history-throttled', 'warning'],
  ])
})

test('in the local stack, the alarm of a queue stays active while its messages are being read', async () => {
  const read = { ...queues, ordersDead: { ...depth, inFlight: 1 } }
  const alarms = await alarmsOf(context, read, counting([], 0, 0))
  expect(alarms.find(({ code }) => code === 'dead-letters')?.state).toBe('alarm')
})

const failing = (code: string, message = 'The accounting service answered 503'): Failing => ({
  event: 'order.create',
  delivery: 'd',
  queue: 'orders',
  receives: 1,
  behind: 0,
  code,
  message,
  since: new Date().toISOString(),
  at: '',
  next_at: '',
})
const paused = {
  ...failing('not_called', 'Not called, because the accounting service was unavailable'),
  retry_after: 5,
}
const late = failing('not_called', 'Not enough time remains for another call in this invocation')
const down = failing('unavailable')

test.each([
  ['no order', [], false, undefined],
  [
    'two orders that find the service unavailable',
    [paused, down],
    false,
    '2 orders are failing and being retried: The accounting service answered 503. The alarm "Accounting service unavailable" starts when calls about 3 orders in a row find it unavailable, including the reads of scheduled checks, and "An order keeps failing" when one is 30 minutes behind.',
  ],
  [
    'three orders that find the service unavailable',
    [paused, down, down],
    false,
    '3 orders are failing and being retried: The accounting service answered 503. The alarm "Accounting service unavailable" starts within a few minutes unless a call succeeds.',
  ],
  [
    'three orders for which too little time remained for a call',
    [late, late, late],
    false,
    '3 orders are failing and being retried: Not enough time remains for another call in this invocation. The alarm "An order keeps failing" starts when one is 30 minutes behind.',
  ],
  [
    'an order whose call is not authorized',
    [failing('unauthorized', 'The accounting service answered 401')],
    false,
    '1 order is failing and being retried: The accounting service answered 401. The alarm "API key refused" starts within a few minutes unless a call succeeds.',
  ],
  [
    'three orders that may wait although the service answers again',
    [paused, down, down].map(each => ({ ...each, receives: 80 })),
    false,
    '3 orders are failing and being retried: The accounting service answered 503. The alarm "An order keeps failing" starts when one is 30 minutes behind.',
  ],
  [
    'two orders, one of which has no attempts left',
    [down, { ...down, receives: 200 }],
    false,
    '1 order is failing and being retried: The accounting service answered 503. The alarm "Accounting service unavailable" starts when calls about 3 orders in a row find it unavailable, including the reads of scheduled checks, and "An order keeps failing" when one is 30 minutes behind.',
  ],
  [
    'an order that has no attempts left',
    [{ ...down, receives: 200 }],
    false,
    'Orders without attempts left: 1. Their events become dead letters, which only an operator can replay: The accounting service answered 503.',
  ],
  [
    'more orders than are counted, for another cause',
    [failing('TypeError', 'x is undefined'), failing('failed')],
    true,
    'Over 2 orders are failing and being retried: x is undefined. The alarm "An order keeps failing" starts when one is 30 minutes behind.',
  ],
])('states which alarm starts when, for %s', (_name, orders, more, text) => {
  expect(failingText(orders, more, Date.now(), 200)?.text).toBe(text)
})

test('status names the options to add to the commands of the runbook', () => {
  const alarm = {
    name: 'relay-breaker-open',
    severity: 'critical',
    page: 'breaker-open',
    text: 'Down',
  } as const
  const lines = ['!! relay-breaker-open (critical): Down', '   → docs/runbook/breaker-open.md']
  expect(alarmLines({ flags: ' --local' }, [alarm])).toEqual([
    ...lines,
    '   Add --local to each relay command in the runbook.',
  ])
  expect(alarmLines({ flags: '' }, [alarm])).toEqual(lines)
  expect(alarmLines({ flags: ' --local' }, [])).toEqual([])
})

test('failing orders are announced unless an active alarm reports them', () => {
  expect(saysThatOrdersFail([{ code: 'signature-failures' }])).toBe(false)
  expect(saysThatOrdersFail([{ code: 'signature-failures' }, { code: 'breaker-open' }])).toBe(true)
})

test('a queue and the counter of the same messages are one alarm, since the counter was raised', () => {
  const alarm = (code: AlarmCode, state: string, since?: string) => ({ code, state, ...(since && { since }) })
  const [early, late] = ['2026-11-27T10:05Z', '2026-11-27T10:20:00.000Z']
  const quarantined = alarm('quarantined-by-webhook', 'alarm', early)
  expect(activeAlarms([alarm('quarantine', 'alarm'), quarantined, alarm('dead-letters', 'ok')])).toEqual([
    alarm('quarantine', 'alarm', early),
  ])
  expect(activeAlarms([quarantined, alarm('quarantine', 'alarm', late)])).toEqual([
    alarm('quarantine', 'alarm', early),
  ])
  // SQS has not reported the message yet.
  expect(activeAlarms([alarm('quarantine', 'ok'), quarantined])).toEqual([quarantined])
  const others = [alarm('feed-dead-letters', 'alarm', late), alarm('quarantine', 'alarm')]
  expect(activeAlarms(others)).toEqual(others)
})

test('the console remembers when it saw an alarm of a queue start', () => {
  const alarm = (code: AlarmCode, state: string, since?: string) => ({
    code,
    name: code,
    state,
    ...(since && { since }),
  })
  const [start, later] = [Date.parse('2026-11-27T10:05:10Z'), Date.parse('2026-11-27T10:20:00Z')]
  const [minute, counted] = ['2026-11-27T10:05Z', '2026-11-27T10:04Z']
  const sinceOf = (...readings: [at: number, ...alarms: ReturnType<typeof alarm>[]][]) => {
    const remember = alarmMemory()
    return readings.map(([at, ...alarms]) => remember(alarms, at)).at(-1)?.[0]?.since
  }
  const [ok, dead] = [alarm('dead-letters', 'ok'), alarm('dead-letters', 'alarm')]
  const quarantine = alarm('quarantine', 'alarm')
  expect(sinceOf([start - 1000, ok], [start, dead], [later, dead])).toBe(minute)
  // It may have begun, or ended and begun again, while no page was open.
  expect(sinceOf([later, dead])).toBeUndefined()
  expect(sinceOf([start, ok], [later, dead])).toBeUndefined()
  expect(sinceOf([start - 1000, ok], [start, dead], [start + 1000, ok], [later, dead])).toBeUndefined()
  // The counter that raised an alarm about the same messages has ended.
  const counter = alarm('quarantined-by-worker', 'alarm', counted)
  expect(sinceOf([start, quarantine, counter], [later, quarantine])).toBe(counted)
  // CloudWatch reports the start time itself.
  expect(sinceOf([start, dead], [later, { ...dead, since: counted }])).toBe(counted)
})

test('alarms use the past tense once their cause has ended', () => {
  // An order fails for another cause.
  const failing = { count: 1, unavailable: 0, unauthorized: 0, more: false }
  expect(recoveredText('breaker-open', { failing })?.text).toMatch(/^The accounting service was unavailable/)
  expect(recoveredText('service-unauthorized', { failing })?.text).toMatch(/^The accounting service rejected/)
  expect(recoveredText('order-stuck', { failing })).toBeUndefined()
  expect(recoveredText('order-stuck', { failing: { ...failing, count: 0 } })?.text).toMatch(
    /^An order had been failing/,
  )
  // Of more orders than are read, some may wait for the service.
  for (const known of [{ ...failing, unavailable: 1 }, { ...failing, more: true }, undefined])
    expect(recoveredText('breaker-open', { failing: known })).toBeUndefined()

  expect(recoveredText('quarantined-by-webhook', { queues })?.text).toMatch(/^The queue is empty now/)
  expect(recoveredText('dead-letters', { queues })?.text).toMatch(/^The queue is empty now/)
  const dead = { ...queues, ordersDead: { ...depth, inFlight: 1 } }
  expect(recoveredText('dead-letters', { queues: dead })).toBeUndefined()
  expect(recoveredText('feed-disabled', { failing, queues })).toBeUndefined()
})

test('the alarm about the service says when the service was last found unavailable', () => {
  const [earlier, later] = ['2026-11-27T10:00:00.000Z', '2026-11-27T10:01:00.000Z']
  const down = { ...failing('unavailable'), at: earlier }
  // No call was made for the second order, so its time says nothing about the service.
  expect(lastFailed('unavailable', [down, { ...paused, at: later }])).toBe(earlier)
  expect(lastFailed('unavailable', [{ ...down, at: later }, down])).toBe(later)
  const known = { count: 2, unavailable: 2, unauthorized: 0, more: false, unavailable_at: earlier }
  expect(stateText('breaker-open', { failing: known })?.text).toBe(
    `The accounting service was unavailable at ${earlier}, when the relay called it for an order; orders wait.`,
  )
  expect(stateText('breaker-open', { failing: { ...known, unavailable: 0 } })?.code).toBe('recovered/service')
  expect(stateText('order-stuck', { failing: known })).toBeUndefined()
})

/** A relay on AWS with these events in the log of its worker. */
const relayWith = (...events: readonly (readonly [at: string, outcome: number | 'unauthorized'])[]) => {
  const lines = events.map(([at, outcome]) => ({
    level: 'INFO',
    timestamp: `2026-11-27T${at}.000Z`,
    ...(outcome === 'unauthorized'
      ? { message: 'event retried', error: { code: outcome } }
      : { message: 'event processed', calls: outcome }),
  }))
  const logs = async () => ({
    async *paginateFilterLogEvents() {
      yield { events: lines.map(each => ({ timestamp: Date.now(), message: JSON.stringify(each) })) }
    },
  })
  const stack = async () => ({ functions: { worker: { name: 'worker' } } })
  return { local: false, aws: { logs }, stack } as unknown as Context
}

test('the alarm about the service says that it has answered since, although other orders still wait', async () => {
  const relay = relayWith(['10:00:00', 1], ['10:00:05', 1], ['10:00:09', 0])
  const textOf = async (unavailable_at: string) => {
    const failing = { count: 9, unavailable: 9, unauthorized: 0, more: false, unavailable_at }
    return stateText('breaker-open', { failing, answered: await lastAnswered(relay, failing) })?.text
  }
  expect(await textOf('2026-11-27T10:00:00.000Z')).toMatch(
    /^The accounting service was unavailable; it answered a call for an order at 2026-11-27T10:00:05/,
  )
  expect(await textOf('2026-11-27T10:00:05.000Z')).toMatch(
    /, when the relay called it for an order; orders wait/,
  )
})

test('the alarm about the API key says that the key was replaced until calls are refused with the new one', async () => {
  const modified = new Date('2026-11-27T10:00:00.000Z')
  const parameters = { find: async () => ({ value: 'key', version: 2, modified }) }
  const textOf = async (refused: string, relay = relayWith()) => {
    const unauthorized_at = `2026-11-27T${refused}Z`
    const newKey = await newKeyOf({ ...relay, parameters } as unknown as Context, { unauthorized_at })
    const facts = { failing: { count: 1, unavailable: 0, unauthorized: 1, more: false }, newKey }
    return stateText('service-unauthorized', facts)?.text
  }
  const replaced = expect.stringMatching(
    /^The .* rejected the API key, which was replaced at 2026-11-27T10:00:00/,
  )
  // Until the relay knows the new key, its calls are refused with the previous one.
  const refused = relayWith(['09:58:00', 1], ['09:59:00', 'unauthorized'], ['09:59:30', 0])
  expect([await textOf('09:59:00'), await textOf('10:00:20', refused)]).toEqual([replaced, replaced])
  expect(await textOf('10:00:30', refused)).toBeUndefined()
  // The new key is the one that is refused.
  const accepted = relayWith(['09:58:00', 'unauthorized'], ['09:59:00', 1], ['10:00:10', 'unauthorized'])
  expect([await textOf('10:00:10', accepted), await textOf('10:00:10')]).toEqual([undefined, undefined])
})

test('in the local stack, the dead letters of a store with an SQS feed raise its alarm', async () => {
  const stores = [
    { source: 'shop', feed: 'sqs' as const, dead_letter_after: 2 },
    { source: 'other', feed: 'sqs' as const, dead_letter_after: 2 },
  ]
  const feeds = [
    { source: 'shop', depth, dead: { ...depth, waiting: 6 } },
    { source: 'other', depth, dead: depth },
  ]
  const withStores = { ...context, stores: () => stores } as unknown as Context
  const alarms = await alarmsOf(withStores, { ...queues, feeds }, counting([], 0, 0))
  const states = alarms.filter(({ code }) => code === 'store-dead-letters')
  expect(states.map(({ store, state }) => [store, state])).toEqual([
    ['shop', 'alarm'],
    ['other', 'ok'],
  ])
})

test('the alarm about signatures says what ended its cause, and when it ends', () => {
  const at = (time: string) => new Date(`2026-11-27T${time}Z`)
  const refused = { since: at('02:50:00'), until: at('02:54:00'), invalid: at('02:55:21') }
  const textOf = (accepted: Date | undefined, state: Refusals['state'] = 'over') =>
    recoveredText('signature-failures', { signatures: signatureRecovery({ ...refused, accepted, state }) })
      ?.text
  expect(textOf(at('02:57:54'))).toBe(
    'Webhooks have valid signatures again, the last one at 2026-11-27T02:57:54.000Z; none has been refused for its signature since 2026-11-27T02:55:21.000Z. The alarm ends at 2026-11-27T03:11:00.000Z at the latest.',
  )
  const stored = signatureRecovery({
    ...refused,
    state: 'over',
    accepted: at('02:40:00'),
    stored: at('02:54:30'),
  })
  expect(recoveredText('signature-failures', { signatures: stored })?.text).toBe(
    'A new secret was stored at 2026-11-27T02:54:30.000Z. No webhook with a valid signature has arrived since; the last refusal was at 2026-11-27T02:55:21.000Z. Unless more webhooks are refused, the alarm ends at 2026-11-27T03:11:00.000Z at the latest.',
  )
  expect(signatureRecovery({ ...refused, state: 'over', stored: at('02:40:00') })).toBeUndefined()
  expect([textOf(undefined), textOf(at('02:40:00')), textOf(at('02:50:00'), 'unknown')]).toEqual([
    ...[undefined, undefined, undefined],
  ])
})

test('counts webhooks that are unreadable or contradictory separately from refused ones', async () => {
  const intervals = { from: 0, step: 60_000, count: 1 }
  const rates = await flowRates(
    async series => series.map(({ dimensions: { outcome } }) => [outcome === undefined ? 0 : 1]),
    intervals,
  )
  expect(rates).toMatchObject({ queued: [1], repeated: [2], refused: [2], unreadableOrContradictory: [2] })
})

test('status counts pauses in calls, not each call that finds the service unavailable', () => {
  const none = Object.fromEntries(FLOW_NAMES.map(name => [name, 0])) as Record<FlowName, number>
  const shown = flowFacts({ ...none, retried: 4 })
  expect(shown).toMatchObject({
    retried: 4,
    'requests failed': 0,
    'pauses in calls to the service (after 3 orders found it unavailable)': 0,
  })
  expect(shown).not.toHaveProperty('service unavailable')
})

test('the time at which the service was last unavailable never goes back while an order waits for it', () => {
  const remembered = unavailableMemory()
  const [first, second, third] = ['10:00', '10:01', '10:02'].map(time => `2026-11-27T${time}:00.000Z`)
  const read = (unavailable: number, unavailable_at: string | undefined) =>
    remembered({ unavailable, unavailable_at, more: false }).unavailable_at
  expect(read(2, second)).toBe(second)
  // The second order is not called at its next attempt.
  expect(read(2, first)).toBe(second)
  expect(read(2, undefined)).toBe(second)
  expect(read(1, third)).toBe(third)
  expect(read(0, undefined)).toBeUndefined()
  expect(read(1, first)).toBe(first)
})
