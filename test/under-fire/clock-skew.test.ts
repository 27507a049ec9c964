import { afterEach, expect, jest, test } from '@jest/globals'
import { sign } from '../../lib/protocol/signature.ts'
import { type Bug, keyOf, type Life } from '../../proof/crash/world.ts'
import { days, HOUR, MINUTE, paid } from './days.ts'
import { withRelay } from './relay.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

/** An accountant settles an order three times within the first hours, so three webhooks are sent. */
const settledBy: Pick<Life, 'treatment' | 'happens' | 'ends'> = {
  treatment: () => ({ review: true }),
  happens({ service, store, clock }) {
    store.create(keyOf('1001'))
    clock.after(MINUTE, () => service.outside.retry(keyOf('1001')))
    clock.after(HOUR, () => service.outside.pay(keyOf('1001')))
    clock.after(1.1 * HOUR, () => service.outside.edit(keyOf('1001')))
  },
  ends: [paid('1001')],
}

const wrongFor = (time: number, by: number) => (elapsed: number) => (elapsed < time ? by : 0)

/** The relay's own clock goes wrong by so many seconds until an hour and a half is over. */
const ours = (seconds: number): Bug => {
  let end = Number.POSITIVE_INFINITY
  return {
    webhook: ports => {
      const now = ports.now()
      end = Math.min(end, now + 1.5 * 60 * 60)
      return { ...ports, now: () => (now < end ? now + seconds : now) }
    },
  }
}

test.each([
  { whose: "the service's, fast", fast: wrongFor(1.5 * HOUR, 6 * MINUTE), bug: {} },
  { whose: "the service's, slow", fast: wrongFor(1.5 * HOUR, -6 * MINUTE), bug: {} },
  { whose: 'ours, fast', fast: () => 0, bug: ours(360) },
  { whose: 'ours, slow', fast: () => 0, bug: ours(-360) },
])(
  'a clock that is six minutes wrong for a while delays webhooks and loses none: $whose',
  async ({ fast, bug }) => {
    const { complaints, world } = await days({ ...settledBy, fast }, bug)
    expect(complaints).toEqual([])
    const [first] = world.sender.sent
    expect(first?.attempts.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401, 200])
  },
)

test('a clock that is five minutes wrong is tolerated, both ways', async () => {
  for (const by of [5 * MINUTE, -5 * MINUTE]) {
    const { complaints, world } = await days({ ...settledBy, fast: () => by })
    expect(complaints).toEqual([])
    expect(world.sender.sent.every(({ attempts }) => attempts.length === 1)).toBe(true)
  }
})

test('a clock that is wrong for longer than the service tries costs webhooks, and checks find what they told', async () => {
  const reconciles = Array.from({ length: 2 * 24 * 3 }, (_, count) => count * 30 * MINUTE)
  const { complaints, world } = await days({
    treatment: () => ({ review: true }),
    fast: wrongFor(48 * HOUR, 6 * MINUTE),
    reconciles,
    happens({ service, store, clock }) {
      store.create(keyOf('1001'), () => store.pay(keyOf('1001')))
      clock.after(HOUR, () => service.outside.retry(keyOf('1001')))
    },
    ends: [paid('1001')],
  })
  const [webhook] = world.sender.sent
  expect(complaints).toEqual([`webhook ${webhook?.delivery} was given up`])
  expect(webhook?.attempts).toHaveLength(8)
})

test.each([
  { sentAgain: false, more: ['the table is not the truth', 'the store does not know the truth'] },
  { sentAgain: true, more: [] },
])(
  'of an order that waits for nothing such a webhook is missing until the service sends it again: $sentAgain',
  async ({ sentAgain, more }) => {
    const { complaints, world } = await days({
      fast: wrongFor(48 * HOUR, 6 * MINUTE),
      reconciles: [10 * HOUR, 30 * HOUR, 50 * HOUR],
      happens({ service, store, clock, sender }) {
        store.create(keyOf('1001'), () => store.pay(keyOf('1001')))
        clock.after(HOUR, () => service.outside.edit(keyOf('1001')))
        clock.after(49 * HOUR, () => {
          const [webhook] = sender.sent
          if (sentAgain && webhook !== undefined) sender.send(webhook.delivery, webhook.body)
        })
      },
      ends: [paid('1001')],
    })
    expect(complaints).toEqual([`webhook ${world.sender.sent[0]?.delivery} was given up`, ...more])
  },
)

test('five webhooks of another time are refused at no cost, and ring', () =>
  withRelay(async relay => {
    const body = '{"event":"order.updated"}'
    const t = Math.floor(Date.now() / 1000) - 301
    for (let sent = 0; sent < 5; sent++) {
      expect(relay.alarms.all()).toEqual([])
      const headers = { 'x-service-signature': sign({ secret: relay.secret, t, body: Buffer.from(body) }) }
      const { status } = await fetch(relay.webhookUrl, { method: 'POST', headers, body })
      expect(status).toBe(401)
    }
    expect(relay.alarms.all()).toEqual(['signature-failures'])
    expect(relay.requests('webhook to AWS')).toBe(1)
  }))
