import { expect, test } from '@jest/globals'
import { DESIGNS, play } from '../../bench/model.ts'
import { importing, SLOW, summary } from '../../bench/parts/fairness.ts'
import { waits } from '../../bench/parts/growth.ts'

// `npm run bench -- fairness` plays 100,000 orders.
const ORDERS = 10_000

test.each([1, 2])(
  'while %s stores import, another one’s webhook takes 5 s and its payment 10 s at most, and no call is left unused',
  async stores => {
    const {
      webhook,
      call,
      imported = 0,
      inFlight,
    } = summary(await play('a bulk queue', importing(ORDERS, stores)))
    expect(webhook).toBeLessThan(5)
    expect(call).toBeLessThan(10)
    expect(imported).toBeLessThan(1.05 * (stores * ORDERS + imported) * (1 / 50))
    expect(inFlight).toBeLessThan(100)
  },
)

test.each(Object.entries(SLOW))(
  'while every call takes %s, a webhook takes 30 s at most',
  async (_, load) => {
    expect(summary(await play('a bulk queue', load)).webhook).toBeLessThan(30)
  },
)

test('no other design that was compared does all of that', async () => {
  for (const design of DESIGNS.filter(each => each !== 'a bulk queue')) {
    const { webhook, imported = 0 } = summary(await play(design, importing(ORDERS)))
    const slow = summary(await play(design, SLOW['seven seconds']))
    const isFair = webhook < 5 && slow.webhook < 30
    expect([design, isFair && imported < 1.2 * (ORDERS / 50)]).toEqual([design, false])
  }
})

test('an idle queue delays nothing, and beyond its capacity events wait ever longer', async () => {
  const idle = await waits('webhook', 1, 5)
  expect(idle.p99).toBeLessThan(20)
  expect((await waits('webhook', 1000, 5)).p99).toBeLessThan(60)
  expect((await waits('webhook', 2000, 5)).median).toBeGreaterThan(2000)
})
