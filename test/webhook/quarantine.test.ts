import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { sign } from '../../lib/protocol/signature.ts'
import { type ReceiveDependencies, receive } from '../../lib/webhook/receive.ts'

const NOW = 1_800_000_000_000

const setUp = () => {
  const records = new Map<string, OrderKey>()
  const quarantined: string[] = []
  const queued: string[] = []
  const dependencies: ReceiveDependencies = {
    secrets: { verify: async attempt => attempt(['secret']) },
    isKnownSource: source => source === 'shop',
    deliveries: {
      find: async delivery => records.get(delivery),
      record: async ({ delivery, source, external_id }) => {
        records.set(delivery, { source, external_id })
      },
    },
    enqueue: async (_order, { id }) => {
      queued.push(id)
    },
    quarantine: async ({ reason }) => {
      quarantined.push(reason)
    },
    now: () => NOW,
  }
  const send = (body: string, headers: Record<string, string> = {}, t = NOW / 1000) =>
    receive(
      { headers: { 'x-service-signature': sign({ secret: 'secret', t, body }), ...headers }, body },
      dependencies,
    )
  return { send, quarantined, queued }
}

const webhook = (delivery: string, external_id: string, source = 'shop') =>
  JSON.stringify({ event: 'order.updated', delivery, data: { source, external_id, status: 'paid' } })

test('a body that cannot be read is quarantined once, however often it is replayed', async () => {
  const { send, quarantined } = setUp()
  for (let replay = 0; replay < 30; replay++) {
    expect(await send('{"event":', {}, NOW / 1000 - replay)).toMatchObject({ outcome: 'unreadable' })
  }
  expect(quarantined).toEqual(['The body is not JSON'])
  await send('[]')
  expect(quarantined).toHaveLength(2)
})

test('a webhook that reuses the delivery id of another order is quarantined, not dropped as a duplicate', async () => {
  const { send, quarantined, queued } = setUp()
  const delivery = randomUUID()
  expect(await send(webhook(delivery, '1'))).toMatchObject({ outcome: 'queued' })
  expect(await send(webhook(delivery, '1'))).toMatchObject({ outcome: 'duplicate' })
  expect(await send(webhook(delivery, '2'))).toMatchObject({ outcome: 'contradictory' })
  expect(queued).toEqual([delivery])
  expect(quarantined).toEqual(['The delivery id belongs to another order'])
})

test.each(['x-service-delivery', 'x-service-event'])(
  'a webhook whose header %s contradicts the signed body is quarantined, unless its source is foreign',
  async header => {
    const { send, quarantined, queued } = setUp()
    const contradictory = { outcome: 'contradictory', reason: expect.stringContaining(header) }
    expect(await send(webhook(randomUUID(), '1'), { [header]: 'other' })).toEqual(contradictory)
    expect(await send(webhook(randomUUID(), '1', 'foreign'), { [header]: 'other' })).toEqual(contradictory)
    expect(quarantined).toHaveLength(1)
    expect(queued).toEqual([])
  },
)
