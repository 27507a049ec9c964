import assert from 'node:assert/strict'
import type { Dynamodb } from '../../lib/aws/dynamodb.ts'
import { consume } from '../../lib/line/consume.ts'
import type { Answer } from '../../lib/orders/absorb.ts'
import { advance } from '../../lib/orders/advance.ts'
import type { Call } from '../../lib/orders/plan.ts'
import { ordersTable } from '../../lib/orders/table.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'

/** What DynamoDB takes: keys that are neither empty nor too long, and text that has a UTF-8 form. */
const assertStorable = (item: Readonly<Record<string, { S?: string | undefined }>>) => {
  for (const [name, { S }] of Object.entries(item)) {
    if (S !== undefined) assert.ok(S.isWellFormed(), `${name} has half a surrogate pair`)
  }
  for (const name of ['source', 'external_id']) {
    const bytes = Buffer.byteLength(item[name]?.S ?? '')
    assert.ok(bytes > 0 && bytes <= 1024, `${name} has ${bytes} bytes`)
  }
}

const memory = (): Dynamodb => {
  const items = new Map<string, Parameters<Dynamodb['putItem']>[0]['Item']>()
  const nameOf = (item: unknown) => JSON.stringify(item)
  return {
    async getItem({ Key = {} }) {
      const found = items.get(nameOf([Key.source, Key.external_id]))
      return found === undefined ? {} : { Item: JSON.parse(JSON.stringify(found)) }
    },
    async putItem({ Item = {} }) {
      assertStorable(JSON.parse(JSON.stringify(Item)))
      items.set(nameOf([Item.source, Item.external_id]), Item)
    },
    query: async () => ({}),
    updateItem: async () => ({}),
  }
}

export type Asked = (call: Call, order: OrderKey) => Answer

const unknown: Asked = ({ to }) => ({
  to,
  answer: 'unknown order',
  reason: { status: 404, message: 'not found' },
})

/** No order is asked about more often for one message, see lib/orders/advance.ts. */
const MAX_CALLS = 12

/**
 * Lets the worker take line messages one after the other, with a table in memory.
 *
 * Throws when it throws, when something could not be stored, or when the feed goes back in time.
 *
 * @returns how many of them it could not read
 */
export const workOn = async (
  bodies: readonly string[],
  ask: Asked = unknown,
): Promise<{ quarantined: number }> => {
  const orders = ordersTable(memory(), 'orders', () => 0.5)
  const now = () => new Date(0)
  const versions = new Map<string, number>()
  let quarantined = 0
  let calls = 0
  const handle = consume({
    advance: message => {
      calls = 0
      return advance(message, {
        orders,
        ask: async (call, order) => {
          assert.ok(++calls <= MAX_CALLS)
          return ask(call, order)
        },
        async tell({ data, version }) {
          const order = JSON.stringify([data.source, data.external_id])
          const before = versions.get(order) ?? 0
          assert.ok(version === before || version === before + 1)
          versions.set(order, version)
        },
        now,
      })
    },
    quarantine: async ({ body }) => {
      quarantined++
      assert.ok(bodies.some(text => Buffer.from(text).equals(Buffer.from(body))))
    },
    now,
  })
  for (const body of bodies) await handle({ body, messageId: 'm' })
  return { quarantined }
}
