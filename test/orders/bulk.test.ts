import { expect, test } from '@jest/globals'
import type { CallResult } from '../../lib/orders/apply.ts'
import type { OrderEvent } from '../../lib/orders/events.ts'
import { process } from '../../lib/orders/process.ts'
import type { StoredOrder } from '../../lib/orders/stored.ts'

const KEY = { source: 'shop', external_id: '1' }
const id = (number: number) => `00000000-0000-4000-8000-00000000000${number}`
const result = (status: string) => ({ ...KEY, status })
const create: OrderEvent = { event: 'order.create', delivery: id(1), data: { ...KEY, request: '{}' } }
const webhook = (number: number, status: string): OrderEvent => ({
  event: 'order.updated',
  delivery: id(number),
  data: result(status),
})

const CREATED: CallResult = { to: 'create', outcome: 'result', result: result('invoiced') }
const DOWN = new Error('down')
const LATER = 'later'

/** An order with its table, and a journal of what its worker does. */
const world = () => {
  let stored: StoredOrder | undefined
  const journal: string[] = []
  /** The revisions under which events were moved. */
  const moves: number[] = []
  let isDying = false

  /** Processes an event from one of the queues; `answer` is that of the service. */
  const from = (queue: 'orders' | 'bulk', event: OrderEvent, answer: CallResult | Error | 'later' = DOWN) =>
    process(event, {
      orders: {
        get: async () => stored,
        save: async (order, revision) => {
          if (isDying) throw new Error('died')
          journal.push(`save ${order.bulk ?? 'without a mark'}`)
          stored = { order, revision: revision + 1, updated_at: '' }
        },
      },
      call: () => {
        if (answer === LATER) return undefined
        journal.push('call')
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
      },
      ...(queue === 'orders' && {
        defer: async revision => {
          journal.push(`move ${event.delivery}`)
          moves.push(revision)
        },
      }),
      publish: async ({ version }) => void journal.push(`publish v${version}`),
      now: () => 0,
      retryRefused: 0,
      redelivered: false,
    })
  return {
    from,
    journal,
    moves,
    order: () => stored?.order,
    die: (dies: boolean) => {
      isDying = dies
    },
  }
}

test('an event whose call has to wait moves to the bulk queue, and later ones follow until the last is processed', async () => {
  const { from, journal, order } = world()
  expect(await from('orders', create, LATER)).toMatchObject({ deferred: true, calls: 0 })
  expect(order()).toMatchObject({ bulk: id(1), intents: [{ state: 'waiting' }] })
  await from('orders', webhook(2, 'invoiced'))
  expect(journal.splice(0)).toEqual([`save ${id(1)}`, `move ${id(1)}`, `save ${id(2)}`, `move ${id(2)}`])

  await from('bulk', create, CREATED)
  await from('bulk', webhook(2, 'invoiced'))
  await from('orders', webhook(3, 'paid'))
  expect(journal).toEqual([
    ...['call', 'publish v1', `save ${id(2)}`],
    'save without a mark',
    ...['publish v2', 'save without a mark'],
  ])
})

test('it moves once more when the worker died in between, and keeps its mark while its call fails', async () => {
  const { from, journal, order, die } = world()
  die(true)
  await expect(from('orders', create, LATER)).rejects.toThrow('died')
  die(false)
  await from('orders', create, LATER)
  await from('orders', create, LATER)
  expect(journal).toEqual([`save ${id(1)}`, `move ${id(1)}`, `move ${id(1)}`])
  await expect(from('bulk', create, DOWN)).rejects.toThrow('down')
  expect(order()?.bulk).toBe(id(1))
  await from('bulk', create, CREATED)
  expect(order()?.bulk).toBeUndefined()
})

test('it moves again under the same revision while it waits there, and under another once it was processed there', async () => {
  const { from, moves, order } = world()
  const check: OrderEvent = { event: 'order.check', delivery: id(4), data: KEY }
  await from('orders', create, CREATED)
  await from('orders', check, LATER)
  await from('orders', check, LATER)
  await from('bulk', check, { to: 'read', outcome: 'result', result: result('invoiced') })
  expect(order()?.bulk).toBeUndefined()
  // The worker died before it deleted the event from the order queue, so it comes again.
  await from('orders', check, LATER)
  const [first, second, third] = moves
  expect(second).toBe(first)
  expect(third).toBeGreaterThan(Number(first))
})
