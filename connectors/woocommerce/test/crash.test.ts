import { expect, test } from '@jest/globals'
import type { SyncDependencies } from '../lib/synchronise.ts'
import { type Connector, startConnector } from './connector.ts'

type Calls = Record<string, (...given: never[]) => Promise<unknown>>

/** Dependencies whose `at`th call dies, before it reaches the other side or before its answer arrives. */
const dying = (dependencies: SyncDependencies, at: number, when: 'before' | 'after') => {
  let calls = 0
  let isDead = false
  const wrapped = <Port extends object>(port: Port): Port => {
    const entries = Object.entries(port as Calls).map(([name, call]) => [
      name,
      async (...given: never[]) => {
        const dies = ++calls === at && !isDead
        if (dies) isDead = true
        if (dies && when === 'before') throw new Error('killed')
        const answer = await call(...given)
        if (dies) throw new Error('killed')
        return answer
      },
    ])
    return Object.fromEntries(entries) as Port
  }
  return {
    dependencies: {
      ...dependencies,
      states: wrapped(dependencies.states),
      openShop: connection => wrapped(dependencies.openShop(connection)),
      openRelay: connection => wrapped(dependencies.openRelay(connection)),
    } satisfies SyncDependencies,
    hasDied: () => isDead,
  }
}

/** An order is sold on delivery, paid, edited and refunded; dies once. Returns what remains of it everywhere. */
const life = async (connector: Connector, at: number, when: 'before' | 'after') => {
  const { dependencies, hasDied } = dying(connector.dependencies, at, when)
  const items = [{ sku: 'SKU-1', total: '100000', total_tax: '10000' }]
  const { id } = connector.shop.create({ items, payment_method: 'cod' })
  for (const change of [{}, { status: 'completed' }, { total: '110001' }, { status: 'refunded' }]) {
    connector.shop.edit(id, change)
    connector.hint(id)
    await connector.settle(dependencies)
  }
  const { result, attention, payment, refund } = await connector.state(id)
  const numbers = [result?.invoice_number, result?.receipt_number, result?.return_number]
  return {
    hasDied: hasDied(),
    // The accounting's numbers count up: if they equal the number of the life, there is one document of each kind.
    numbers,
    remains: {
      ...{ status: result?.status, attention, payment, refund },
      meta: connector.shop.order(id).meta_data.map(({ key }) => key),
      notes: connector.shop
        .notes(id)
        .map(({ note }) => note.replaceAll(/\d+/g, '#'))
        .toSorted(),
    },
  }
}

test('a synchronisation that dies at any await leaves the same documents, metadata and notes', async () => {
  await using connector = await startConnector()
  const { remains: expected } = await life(connector, 0, 'before')
  expect(expected.notes).toHaveLength(4)
  expect(expected.meta).toHaveLength(1)
  let lives = 1
  for (const when of ['before', 'after'] as const)
    for (let at = 1, isOver = false; !isOver; at++) {
      const { hasDied, numbers, remains } = await life(connector, at, when)
      lives++
      expect({ at, when, numbers, ...remains }).toEqual({
        at,
        when,
        numbers: [lives, lives, lives],
        ...expected,
      })
      isOver = !hasDied
    }
  expect(lives).toBeGreaterThan(40)
})
