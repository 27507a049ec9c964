import { beforeEach, describe, expect, test } from '@jest/globals'
import { breaker, type Outcome } from '../../lib/platform/breaker.ts'

let clock: number
let opened: number[]
let admit: ReturnType<typeof breaker>
const start = (orders: number) => {
  admit = breaker({ orders, now: () => clock, random: () => 1, onOpen: () => opened.push(clock) })
}
beforeEach(() => {
  clock = 0
  opened = []
  start(3)
})

const begin = (order: string) => {
  const [source = '', external_id = ''] = order.split(' ')
  return admit({ source, external_id })
}
/** Makes an attempt for an order `<source> <external_id>`; returns the milliseconds to wait if not admitted. */
const attempt = (order: string, outcome: Outcome): number | undefined => {
  const admission = begin(order)
  if ('wait' in admission) return admission.wait
  admission.end(outcome)
  return undefined
}
const fail = (...orders: string[]) => orders.map(order => attempt(order, 'failure'))
const isHeld = (order: string) => attempt(order, 'neutral') !== undefined

describe('the breaker', () => {
  test('opens for a source when several of its orders fail, and not when one order fails repeatedly', () => {
    fail(...Array(9).fill('shop 1'))
    expect(isHeld('shop 1')).toBe(false)
    expect(fail('shop 2', 'shop 3', 'shop 4')).toEqual([undefined, undefined, 1000])
    expect(opened).toEqual([0])
  })

  test('delays no other source while orders of one source fail', () => {
    for (let hour = 0; hour < 3_600_000; hour += 1000) {
      clock = hour
      fail('shop 1', 'shop 2', 'shop 3')
      expect(isHeld('web 1')).toBe(false)
    }
    expect(attempt('web 1', 'success')).toBeUndefined()
    expect(isHeld('shop 4')).toBe(true)
  })

  test('opens for all sources when orders of two sources fail without a success in between', () => {
    fail('shop 1', 'shop 2', 'web 1')
    expect(opened).toEqual([0])
    expect(['shop', 'web', 'app'].map(source => isHeld(`${source} 9`))).toEqual([true, true, true])
  })

  test('does not open when a call of any source succeeds in between', () => {
    for (const each of ['1', '2', '3', '4']) {
      attempt('app 1', 'success')
      fail(`shop ${each}`, `web ${each}`)
      attempt(`web ${each}`, 'success')
      attempt(`shop ${each}`, 'success')
    }
    expect(opened).toEqual([])
  })

  test('closes for all sources after the first success', () => {
    fail('shop 1', 'shop 2', 'shop 3', 'web 1')
    expect(isHeld('shop 1')).toBe(true)
    clock = 1000
    expect(attempt('app 1', 'success')).toBeUndefined()
    expect(['shop', 'web', 'app'].map(source => isHeld(`${source} 9`))).toEqual([false, false, false])
  })

  test('probes with one attempt at a time, after pauses that grow from one second to fifteen', () => {
    fail('shop 1', 'shop 2', 'shop 3')
    const pauses: number[] = []
    for (let count = 0; count < 9; count++) {
      const wait = attempt('shop 4', 'failure') ?? 0
      pauses.push(wait)
      clock += wait
      const probe = begin('shop 4')
      expect(begin('shop 5')).toEqual({ wait: 0 })
      if ('end' in probe) probe.end('failure')
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, ...Array(5).fill(15_000)])
    clock += 60_000
    // A neutral probe is followed by another one.
    expect([attempt('shop 5', 'neutral'), attempt('shop 6', 'success')]).toEqual([undefined, undefined])
    fail('shop 1', 'shop 2')
    expect(isHeld('shop 7')).toBe(false)
  })

  test('does not lengthen the pause for attempts that were in flight when it opened', () => {
    const attempts = Array.from({ length: 20 }, (_, index) => begin(`${index % 2 ? 'shop' : 'web'} ${index}`))
    for (const each of attempts) if ('end' in each) each.end('failure')
    expect(new Set(opened)).toEqual(new Set([0]))
    clock = 1000
    expect(isHeld('shop 9')).toBe(false)
  })

  test('admits no second probe when an attempt that began before it opened ends', () => {
    const late = begin('shop 0')
    fail('shop 1', 'shop 2', 'shop 3')
    clock = 1000
    begin('shop 4')
    if ('end' in late) late.end('failure')
    expect(isHeld('shop 5')).toBe(true)
  })

  test('reports no outage while other sources succeed', () => {
    attempt('web 1', 'success')
    clock = 59_999
    fail('shop 1', 'shop 2', 'shop 3')
    expect(opened).toEqual([])
    clock = 61_000
    fail('shop 1')
    expect(opened).toEqual([61_000])
  })

  test('with a threshold of one opens at the first failure, for its source only', () => {
    start(1)
    fail('shop 1')
    expect([isHeld('shop 2'), isHeld('web 1')]).toEqual([true, false])
    fail('web 1')
    expect(isHeld('app 1')).toBe(true)
  })
})
