import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { adaptivePace, inParallel, merged } from '../core/async.ts'

const world = () => {
  let time = 0
  const sleep = async (milliseconds: number) => {
    time += milliseconds
  }
  return { now: () => time, sleep }
}

test('halves its rate once for calls that are refused together, waits as asked, and recovers', async () => {
  const clock = world()
  const { inTime, slowDown } = adaptivePace(200, clock)
  const lasts = async (calls: number) => {
    const from = clock.now()
    for (let call = 0; call < calls; call++) await inTime()
    return clock.now() - from
  }
  expect(await lasts(201)).toBeCloseTo(1000, 0)
  for (let call = 0; call < 50; call++) slowDown(3)
  expect(await lasts(1)).toBeCloseTo(3000, 0)
  // 100 a second, rising by a tenth with each call.
  expect(await lasts(100)).toBeGreaterThan(950)
  await lasts(2000)
  expect(await lasts(200)).toBeCloseTo(1000, 0)
})

test('works on every element, several at a time', async () => {
  let [running, most] = [0, 0]
  const done: number[] = []
  await inParallel([1, 2, 3, 4, 5], 2, async each => {
    most = Math.max(most, ++running)
    await new Promise(setImmediate)
    running--
    done.push(each)
  })
  expect([done, most]).toEqual([[1, 2, 3, 4, 5], 2])
})

test('merges equal elements in the order of their lists, whichever list answers first', async () => {
  const list = async function* (delay: number, ...elements: string[]) {
    await pause(delay)
    yield* elements
  }
  const lists = [list(20, '1 of a', '2 of a'), list(10, '1 of b', '3 of b'), list(0, '1 of c')]
  const found: string[] = []
  for await (const each of merged(lists, (a, b) => a.charAt(0) < b.charAt(0))) found.push(each)
  expect(found).toEqual(['1 of a', '1 of b', '1 of c', '2 of a', '3 of b'])
})
