import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { failureDelay, registrationDelay } from '../../lib/feeds/schedule.ts'

const DAYS_13 = 13 * 24 * 60 * 60

/** The ages at which a message is received, each as long after the previous receive as planned. */
const receivesWith = (delayAfter: (age: number) => number) => {
  const ages = [0]
  for (let age = delayAfter(0); age < DAYS_13; age += delayAfter(age)) ages.push(age)
  return ages
}

const fraction = fc.double({ min: 0, max: 1, noNaN: true })

describe.each([
  ['a failed message', failureDelay],
  ['a message without a registered URL', registrationDelay],
])('%s', (_name, delayAfter) => {
  test('is not postponed by a manual retry, and is at least five seconds away from it', () => {
    fc.assert(
      fc.property(fc.nat(DAYS_13), fraction, fraction, (age, share, part) => {
        const planned = age + delayAfter(age, share)
        const manual = age + 5 + part * (planned - age - 10)
        fc.pre(manual < planned - 5)
        expect(manual + delayAfter(manual, share)).toBeLessThan(planned + 1)
      }),
    )
  })

  test.each([0, 1])('is received fewer than 950 times in thirteen days', share => {
    const ages = receivesWith(age => delayAfter(age, share))
    expect(ages.length).toBeLessThan(950)
    expect(ages[1]).toBeLessThanOrEqual(6)
    // The period of the alarms.
    expect(delayAfter(DAYS_13, share)).toBeLessThanOrEqual(25 * 60)
  })
})

test('a failing store is called after 5 s and then at growing intervals of up to 15 min, up to half of which is jitter', () => {
  const pauses = (share: number) => {
    const ages = receivesWith(age => failureDelay(age, share)).filter(each => each < 43_200)
    return ages.slice(1).map((each, index) => each - (ages[index] ?? 0))
  }
  expect(pauses(1).slice(0, 9)).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 900])
  expect(pauses(0).slice(0, 9)).toEqual([5, 5, 8, 20, 40, 80, 160, 320, 450])
  expect(Math.max(...pauses(0))).toBe(450)
})
