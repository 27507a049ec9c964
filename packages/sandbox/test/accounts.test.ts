import { expect, test } from '@jest/globals'
import { eachWithSandbox, order, PAYMENT, row } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-21T12:00:00Z') })

const BOX = { code: 'cash-1', name: 'Till', kind: 'cash' }
const BANK = { code: 'bank-1', name: 'Bank', kind: 'bank' }
const IN_CASH = { method: 'cash', account: 'cash-1' }

const put = (account: object) => sandbox().put('accounts', account)
const act = (action: string, body: object = {}, id = '1') => sandbox().act(id, action, body)

/** An order of 4,400 rials whose buyer has a credit of 2,200. */
const credited = async (id = '1') => {
  await sandbox().create(order(id, { items: [row('SKU-1', 4)], payment: PAYMENT, date: '2026-11-01' }))
  await act('return', { rows: [{ row: 1, quantity: 2 }], date: '2026-11-02' }, id)
}

const balances = async (query = '') => {
  const { sums } = (await sandbox().panel(`documents?${query}`)).body
  return (sums?.accounts ?? []).map(({ account, opening, received, repaid, closing }) =>
    [account?.code ?? '-', opening, received, repaid, closing].join(' '),
  )
}

test.each<[string, object, () => Promise<unknown>]>([
  ['a receipt', BANK, () => sandbox().create(order('1', { payment: PAYMENT }))],
  [
    'a cancelled receipt',
    BANK,
    async () => {
      await sandbox().create(order('1', { payment: PAYMENT }))
      await act('reverse-payment')
    },
  ],
  [
    'a repayment',
    BOX,
    async () => {
      await put({ ...BOX, openingBalance: 5000 })
      await credited()
      await act('repay', IN_CASH)
    },
  ],
])('the kind of an account does not change once %s uses it', async (_, account, use) => {
  const other = { ...account, kind: account === BOX ? 'bank' : 'cash' }
  for (const each of [other, account]) expect((await put(each)).body).toMatchObject({ ...each, inUse: false })
  await use()
  const { status, body } = await put(other)
  expect([status, body.error]).toMatchObject([409, { code: 'conflict', field: 'kind' }])
  expect(String(body.error?.message)).toMatch(/documents use the account as .*; add another account instead$/)
  expect((await put({ ...account, name: 'New' })).body).toMatchObject({
    ...account,
    name: 'New',
    inUse: true,
  })
})

test('a repayment cannot take more from a cash box than the box contains on that day or later', async () => {
  await credited()
  const repay = (amount: number, date: string) => act('repay', { ...IN_CASH, amount, date })
  const refused = (balance: string, date: string) => ({
    status: 409,
    body: {
      error: {
        code: 'conflict',
        message: `Cannot repay order "1": the cash box "Till" has only ${balance} rials on ${date}; pay from another account, or correct its opening balance first`,
      },
    },
  })
  await put(BOX)
  expect(await repay(1, '2026-11-05')).toMatchObject(refused('0', '2026-11-05'))
  await put({ ...BOX, openingBalance: 1000, openingDate: '2026-11-04' })
  expect(await repay(1, '2026-11-03')).toMatchObject(refused('0', '2026-11-03'))
  expect((await repay(700, '2026-11-10')).status).toBe(200)
  // On a later day, the money has been spent.
  expect(await repay(301, '2026-11-05')).toMatchObject(refused('300', '2026-11-10'))
  await sandbox().create(order('2', { items: [row('SKU-2', 1, 500)], date: '2026-11-06' }))
  await act('pay', { ...IN_CASH, date: '2026-11-06' }, '2')
  expect(await repay(851, '2026-11-05')).toMatchObject(refused('850', '2026-11-10'))
  expect((await repay(300, '2026-11-05')).status).toBe(200)
  // A bank account may be overdrawn, as may a cash box by the reversal of a receipt.
  expect((await act('repay', { method: 'transfer', amount: 100 })).status).toBe(200)
  expect((await act('repay', { ...IN_CASH, amount: 550 })).status).toBe(200)
  const warnings = ['Without the cancelled receipts, the cash box "Till" has -550 rials on 2026-11-21']
  const rehearsed = await act('reverse-payment', { dryRun: true }, '2')
  expect(rehearsed.body).toMatchObject({ status: 'invoiced', warnings })
  expect(await sandbox().detail('2')).toMatchObject({ status: 'paid', warnings: [] })
  expect((await act('reverse-payment', {}, '2')).body).toMatchObject({ status: 'invoiced', warnings })
  expect(await balances()).toContain('cash-1 1000 0 1550 -550')
  await put({ ...BOX, openingBalance: 1550 })
  expect((await sandbox().detail('2')).warnings).toEqual([])
})

test('an opening balance cannot be so low that a cash box has paid back more than it contained', async () => {
  await credited()
  await put({ ...BOX, openingBalance: 1000 })
  await act('repay', { ...IN_CASH, amount: 600, date: '2026-11-10' })
  const message = (state: string) => ({
    status: 409,
    body: { error: { field: 'openingBalance', message: expect.stringContaining(state) } },
  })
  expect(await put({ ...BOX, openingBalance: 599 })).toMatchObject(
    message('is 599: the cash box would have -1 rials on 2026-11-10'),
  )
  expect(await put({ ...BOX, openingDate: '2026-11-11' })).toMatchObject(message('would have -600 rials'))
  expect((await put({ ...BOX, openingBalance: 600 })).status).toBe(200)
})

test('an opening balance cannot change the balances of a closed fiscal year until the year is reopened', async () => {
  const { create, list } = sandbox()
  await create(order('1', { date: '2026-03-19', payment: PAYMENT }))
  await put({ ...BANK, openingBalance: 100 })
  const [last, ...years] = await list('fiscal-years')
  await sandbox().put('fiscal-years', { fiscalYears: years })
  const refused = (field: string, is: string) => ({
    status: 409,
    body: {
      error: {
        code: 'conflict',
        field,
        message: `Field "${field}" is ${is}: the balances of the closed fiscal year from 2025-03-21 to 2026-03-20 would change; reopen it first`,
      },
    },
  })
  expect(await put({ ...BANK, openingBalance: 1200 })).toMatchObject(refused('openingBalance', '1,200'))
  const moved = { ...BANK, openingDate: '2026-03-21' }
  expect(await put(moved)).toMatchObject(refused('openingDate', '2026-03-21'))
  expect((await put({ ...BANK, name: 'Other', openingBalance: 100 })).body).toMatchObject({ name: 'Other' })
  // Neither the balances of a later date nor those of an account without documents in the year are final.
  expect((await put({ ...BOX, openingBalance: 500 })).status).toBe(200)
  await sandbox().put('fiscal-years', { from: last?.from, to: last?.to })
  expect((await put({ ...moved, openingBalance: 1200 })).status).toBe(200)
  await sandbox().put('fiscal-years', { fiscalYears: years })
  expect((await put({ ...moved, openingBalance: 1300 })).status).toBe(200)
  expect(await put({ ...moved, openingDate: '2026-03-20' })).toMatchObject(
    refused('openingDate', '2026-03-20'),
  )
  expect(await put({ ...BANK, openingDate: null })).toMatchObject(refused('openingDate', 'null'))
})

test('the sums by account include the balances before and after the days of the list', async () => {
  await put({ ...BOX, openingBalance: 1000 })
  await put({ ...BANK, openingBalance: 300, openingDate: '2026-11-03' })
  await credited()
  await act('repay', { ...IN_CASH, amount: 600, date: '2026-11-10' })
  expect(await balances()).toEqual(['bank-1 300 4400 0 4700', 'cash-1 1000 0 600 400'])
  expect(await balances('to=2026-11-02')).toEqual(['bank-1 0 4400 0 4400', 'cash-1 1000 0 0 1000'])
  expect(await balances('from=2026-11-02&to=2026-11-10')).toEqual([
    ...['bank-1 4700 0 0 4700', 'cash-1 1000 0 600 400'],
  ])
  expect(await balances('from=2026-11-11&account=cash-1')).toEqual(['cash-1 400 0 0 400'])
  // A filter that selects only some of the documents gives no balances.
  for (const filter of ['kind=repayment', 'q=1', 'days=registration&kind=repayment', 'type=cash'])
    for (const account of await balances(filter))
      expect([filter, account]).toEqual([filter, expect.stringMatching(/^\S+ {2}\d+ \d+ $/)])
  expect(await balances('kind=repayment')).toEqual(['cash-1  0 600 '])
})

test('refuses an opening date in the future', async () => {
  const opening = { ...BOX, openingBalance: 500 }
  expect(await put({ ...opening, openingDate: '2026-11-22' })).toMatchObject({
    status: 400,
    body: {
      error: {
        code: 'invalid',
        field: 'openingDate',
        message: 'Field "openingDate" is 2026-11-22: must not be after today, 2026-11-21',
      },
    },
  })
  expect(await put({ ...opening, openingDate: '2026-11-21' })).toMatchObject({ status: 200 })
})
