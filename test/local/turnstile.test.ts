import { expect, test } from '@jest/globals'
import { turnstile } from '../../local/turnstile.ts'

/** Runs everything that is ready to run. */
const settle = () => new Promise(resolve => setImmediate(resolve))

const crowd = (gate: ReturnType<typeof turnstile>, count: number) => {
  const entered: number[] = []
  for (let index = 0; index < count; index += 1) gate.enter().then(() => entered.push(index))
  return entered
}

test('admits no more than the limit, and the waiting ones in order', async () => {
  const gate = turnstile(2)
  const entered = crowd(gate, 4)
  await settle()
  expect(entered).toEqual([0, 1])
  gate.leave()
  await settle()
  expect(entered).toEqual([0, 1, 2])
  gate.leave()
  await settle()
  expect(entered).toEqual([0, 1, 2, 3])
})

test('closing waits for those inside and admits nobody until it opens', async () => {
  const gate = turnstile(1)
  const entered = crowd(gate, 2)
  let closed = false
  gate.close().then(() => {
    closed = true
  })
  await settle()
  expect([closed, entered]).toEqual([false, [0]])
  gate.leave()
  await settle()
  expect([closed, entered]).toEqual([true, [0]])
  gate.open()
  await settle()
  expect(entered).toEqual([0, 1])
})

test('closing an empty one resolves at once', async () => {
  await expect(turnstile(1).close()).resolves.toBeUndefined()
})
