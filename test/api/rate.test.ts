import { beforeEach, expect, test } from '@jest/globals'
import { answering, apiForTests, ORDERS } from './api.ts'

const { stack, recorded, world, start, ask } = await apiForTests()
const NOTHING = answering(404, { error: { code: 'not_found', message: 'unknown' } })

// Each test has separate windows.
let minutes = 0
beforeEach(() => {
  minutes += 1
  world.now += minutes * 60_000
})

/** The status of a read by a store in an environment that counts every request, as eight. */
const read = async (source = 'shop') => {
  Object.assign(world, { random: 0, service: () => NOTHING })
  return (await ask('GET', `${ORDERS}1/?source=${source}`, '', { key: `key-of-${source}` })).status
}
const written = () => stack.commands().filter(command => command === 'UpdateItem').length

test('refuses only the store above its limit, until its window of ten seconds ends', async () => {
  world.now += 3000
  start('4', '2')
  expect([await read(), await read(), await read()]).toEqual([404, 404, 404])
  const refused = await ask('POST', ORDERS, { source: 'shop', external_id: '1' })
  const message =
    'The store sends more requests than the relay allows: send the request again after 7 seconds'
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'retry-after': '7' },
    body: { error: { code: 'rate_limited', message } },
  })
  expect(await read('web')).toBe(404)
  world.now += 7000
  expect(await read()).toBe(404)
})

test('the environments of the function count together', async () => {
  for (const _ of [1, 2, 3]) {
    start('4', '2')
    expect(await read()).toBe(404)
  }
  expect(await read()).toBe(429)
})

test('one request in eight is counted, and none without a limit', async () => {
  start('4', '2')
  await read()
  const counted = written()
  world.random = 1 / 8
  await ask('GET', `${ORDERS}1/?source=shop`)
  expect(written()).toBe(counted)
  start('4', '0')
  const before = written()
  for (const _ of [1, 2, 3]) expect(await read()).toBe(404)
  // The last use of the key.
  expect(written()).toBe(before + 1)
})

test('a request is answered even if it cannot be counted', async () => {
  start('4', '2')
  await read()
  stack.faults.set('UpdateItem', 'before')
  expect(await read()).toBe(404)
  expect(recorded.lines.filter(({ message }) => message === 'request not counted')).toHaveLength(1)
})
