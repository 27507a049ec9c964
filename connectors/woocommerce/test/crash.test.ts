import { expect, test } from '@jest/globals'
import type { SyncDependencies } from '../lib/synchronize.ts'
import { type Connector, startConnector } from './connector.ts'

type Calls = Record<string, (...given: never[]) => Promise<unknown>>

/** Dependencies that crash at call number `at`, before it reaches the other side or before its response arrives. */
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

/** An order with cash on delivery is completed, edited and refunded, with one crash. Returns its state in all systems. */
const scenario = async (connector: Connector, at: number, when: 'before' | 'after') => {
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
    // Documents are numbered consecutively: if each number equals the number of scenarios, each scenario made one of a kind.
    numbers,
    remains: {
      status: result?.status,
      attention,
      payment,
      refund,
      meta: connector.shop.order(id).meta_data.map(({ key }) => key),
      notes: connector.shop
        .notes(id)
        .map(({ note }) => note.replaceAll(/\d+/g, '#'))
        .toSorted(),
    },
  }
}

test('a crash at any await leaves the same documents, metadata and notes', async () => {
  await using connector = await startConnector()
  const { remains: expected } = await scenario(connector, 0, 'before')
  expect(expected.notes).toHaveLength(4)
  expect(expected.meta).toHaveLength(1)
  let scenarios = 1
  for (const when of ['before', 'after'] as const)
    for (let at = 1, isOver = false; !isOver; at++) {
      const { hasDied, numbers, remains } = await scenario(connector, at, when)
      scenarios++
      expect({ at, when, numbers, ...remains }).toEqual({
        at,
        when,
        numbers: [scenarios, scenarios, scenarios],
        ...expected,
      })
      isOver = !hasDied
    }
  expect(scenarios).toBeGreaterThan(40)
})
