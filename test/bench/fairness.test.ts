import { expect, test } from '@jest/globals'
import { DESIGNS, importing, play, SLOW } from '../../bench/parts/fairness.ts'

// `npm run bench -- fairness` plays 100,000 orders.
const ORDERS = 10_000

test.each([1, 2])(
  'while %s stores import, another one’s webhook takes 5 s and its payment 10 s at most, and no call is left unused',
  async stores => {
    const { webhook, call, imported = 0, inFlight } = await play('a bulk queue', importing(ORDERS, stores))
    expect(webhook).toBeLessThan(5)
    expect(call).toBeLessThan(10)
    expect(imported).toBeLessThan(1.05 * (stores * ORDERS + imported) * (1 / 50))
    expect(inFlight).toBeLessThan(100)
  },
)

test.each(Object.entries(SLOW))(
  'while every call takes %s, a webhook takes 30 s at most',
  async (_, load) => {
    expect((await play('a bulk queue', load)).webhook).toBeLessThan(30)
  },
)

test('no other design that was compared does all of that', async () => {
  for (const design of DESIGNS.filter(each => each !== 'a bulk queue')) {
    const { webhook, imported = 0 } = await play(design, importing(ORDERS))
    const slow = await play(design, SLOW['seven seconds'])
    const isFair = webhook < 5 && slow.webhook < 30
    expect([design, isFair && imported < 1.2 * (ORDERS / 50)]).toEqual([design, false])
  }
})
