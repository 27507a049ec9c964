import { expect, test } from '@jest/globals'
import { eachWithSandbox, order, PAYMENT, SHORT } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-21T12:00:00Z') })

const warnings = async (id: string) => (await sandbox().detail(id)).warnings

test('warns about the reference of another receipt before and after the payment, in any digits, until one is cancelled', async () => {
  const { create, act } = sandbox()
  await create(order('1', { payment: { ...PAYMENT, reference: '۱۲۳' } }))
  await create(order('2'))
  await create(order('3', { payment: { method: 'online' } }))
  const pay = { method: 'transfer', reference: '123', amount: 200 }
  const rehearsed = await act('2', 'pay', { ...pay, dryRun: true })
  const expected = ['Receipt 3 has the reference of receipt 1, order "1"']
  expect(rehearsed).toMatchObject({ status: 200, body: { warnings: expected } })
  expect(await sandbox().detail('2')).toMatchObject({ receipts: [], warnings: [] })
  expect((await act('2', 'pay', pay)).body.warnings).toEqual(expected)
  expect(await warnings('1')).toEqual(['Receipt 1 has the reference of receipt 3, order "2"'])
  await act('2', 'reverse-payment')
  expect([await warnings('1'), await warnings('2'), await warnings('3')]).toEqual([[], [], []])
})

test('warns about a receipt dated more than 30 days before its invoice', async () => {
  const { create, act } = sandbox()
  await create(order('1', { date: '2026-11-20' }))
  for (const date of ['2026-10-21', '2026-10-20'])
    await act('1', 'pay', { method: 'card', amount: 100, date })
  expect(await warnings('1')).toEqual(['Receipt 2 is dated 31 days before the invoice'])
})

test('warns about dates in the future, which only stores can give', async () => {
  const { create, pay } = sandbox()
  await create(order('1', { date: '2026-11-22', payment: { ...PAYMENT, date: '2026-11-23' } }))
  expect(await warnings('1')).toEqual([
    'Invoice 1 is dated in the future, 2026-11-22',
    'Receipt 1 is dated in the future, 2026-11-23',
  ])
  await create(order('2', SHORT))
  await pay('2', { ...PAYMENT, reference: 'r-2', date: '2026-11-24' })
  expect(await warnings('2')).toEqual(['The held payment is dated in the future, 2026-11-24'])
})
