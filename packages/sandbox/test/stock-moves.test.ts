import { expect, test } from '@jest/globals'
import { eachWithSandbox, order, PAYMENT, row } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-27T12:00:00Z') })

const movesOf = async (sku: string, query = '') => {
  const { product, moves, next } = (await sandbox().panel(`products/${sku}/moves?${query}`)).body
  return {
    stock: Number(product?.stock),
    next,
    moves: [...(moves ?? [])].map(
      ({ kind, from, to, change, invoice_number, external_id }) =>
        `${kind} ${from} ${to} ${change} ${invoice_number} ${external_id}`,
    ),
  }
}

test('every change of the stock of a product is listed with its cause, newest first', async () => {
  const { create, act, product } = sandbox()
  await create(order('1', { items: [row('SKU-1', 3), row('SKU-2', 1)], payment: PAYMENT }))
  await act('1', 'reverse-payment')
  await act('1', 'correct', { items: [row('SKU-1', 5.5), row('SKU-2', 1)] })
  await act('1', 'return', { rows: [{ row: 1, quantity: 0.5 }] })
  await act('1', 'reverse-return')
  await act('1', 'review', { error: 'x' })
  await product('SKU-1', { stock: 2 })
  await product('SKU-1', { stock: 2, price: 5 })
  await act('1', 'retry', { stock: [{ sku: 'SKU-1', stock: 8 }] })
  expect(await movesOf('SKU-1')).toEqual({
    stock: 2.5,
    next: null,
    moves: [
      'issued 8 2.5 -5.5 1 1',
      'set 2 8 6 1 1',
      'set 100 2 -98 null null',
      'reviewed 94.5 100 5.5 1 1',
      'return_reversed 95 94.5 -0.5 1 1',
      'returned 94.5 95 0.5 1 1',
      'corrected 97 94.5 -2.5 1 1',
      'issued 100 97 -3 1 1',
    ],
  })
  // A correction of another row changes nothing.
  expect((await movesOf('SKU-2')).moves).toEqual([
    ...['issued 100 99 -1 1 1', 'reviewed 99 100 1 1 1', 'issued 100 99 -1 1 1'],
  ])
})

test('changes that are refused or only tried are not listed, and the list has pages', async () => {
  const { act, create, panel, put } = sandbox()
  await create(order('1'))
  await act('1', 'correct', { items: [row('SKU-1', 4)], dryRun: true })
  await act('1', 'return', { dryRun: true })
  await act('1', 'correct', { items: [row('SKU-1', 400)] })
  for (const stock of [1, 2, 3]) await put('products', { stock })
  const first = await movesOf('SKU-1', 'limit=3')
  expect(first.moves).toEqual(['set 2 3 1 null null', 'set 1 2 1 null null', 'set 98 1 -97 null null'])
  expect(await movesOf('SKU-1', `limit=3&before=${first.next}`)).toMatchObject({
    moves: ['issued 100 98 -2 1 1'],
    next: null,
  })
  await put('products/NEW', { stock: 5 })
  expect((await movesOf('NEW')).moves).toEqual(['set 0 5 5 null null'])
  expect((await panel('products/none/moves')).status).toBe(404)
})

test('stock is adjusted by a difference with a reason, and changes are found by kind and day', async () => {
  const { post, product } = sandbox()
  const adjust = (body: unknown) => post('products/SKU-1/moves', body)
  expect(await adjust({ change: -3.5, reason: 'شکستگی' })).toMatchObject({
    status: 200,
    body: { stock: 96.5 },
  })
  await product('SKU-1', { stock: 2 })
  expect(await adjust({ change: 5, reason: 'x' })).toMatchObject({ status: 200, body: { stock: 7 } })
  expect((await adjust({ change: -8, reason: 'x' })).body.error).toEqual({
    code: 'conflict',
    field: 'change',
    message: 'Field "change" is -8: must not exceed the stock, 7',
  })
  for (const body of [{ change: 0, reason: 'x' }, { change: 1, reason: '' }, { change: 1 }, { reason: 'x' }])
    expect((await adjust(body)).status).toBe(400)
  expect((await post('products/none/moves', { change: 1, reason: 'x' })).status).toBe(404)
  const adjusted = ['adjusted 2 7 5 null null', 'adjusted 100 96.5 -3.5 null null']
  expect((await movesOf('SKU-1', 'kind=adjusted')).moves).toEqual(adjusted)
  expect((await movesOf('SKU-1', 'kind=set')).moves).toEqual(['set 96.5 2 -94.5 null null'])
  expect((await movesOf('SKU-1', 'from=2026-11-27&to=2026-11-27')).moves).toHaveLength(3)
  expect((await movesOf('SKU-1', 'from=2026-11-28')).moves).toEqual([])
  expect((await movesOf('SKU-1', 'to=2026-11-26')).moves).toEqual([])
  const { moves } = (await sandbox().panel('products/SKU-1/moves')).body
  expect([...(moves ?? [])].map(({ reason }) => reason)).toEqual(['x', null, 'شکستگی'])
})
