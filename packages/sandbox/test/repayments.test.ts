import { describe, expect, test } from '@jest/globals'
import { eachWithSandbox, order, PAYMENT, row } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-21T12:00:00Z') })

const act = async (action: string, body: unknown = {}) => (await sandbox().act('1', action, body)).body

const announced = async () => (await sandbox().list('deliveries')).map(({ status }) => String(status))

/** A paid order of 4,400 rials, of which 1,100 are returned. */
const credited = async () => {
  const { create, register } = sandbox()
  await create(order('1', { items: [row('SKU-1', 4, 1000)], payment: PAYMENT }))
  await register('http://127.0.0.1:9/')
  await act('return', { rows: [{ row: 1, quantity: 1 }] })
}

describe('a repayment', () => {
  test('must be reversed before other steps, and the refusals of these steps say so', async () => {
    await credited()
    await act('repay', { method: 'transfer', amount: 600 })
    const message = async (action: string, body?: object) =>
      (await sandbox().act('1', action, body)).body.error
    const refused = (reason: string) => ({
      message: expect.stringMatching(new RegExp(`${reason}; reverse its repayment first$`)),
    })
    expect(await message('correct', { shipping: 500 })).toMatchObject(refused('a part of it is returned'))
    expect(await message('pay', { method: 'cash' })).toMatchObject(refused('it has a receipt'))
    expect(await message('reverse-payment')).toMatchObject(refused('it has a repayment'))
    await act('reverse-repayment')
    expect(await message('correct', { shipping: 500 })).toMatchObject({
      message: expect.stringMatching(/move it back to review first$/),
    })
  })

  test('the history shows the date of a document that is not dated today, on a separate line', async () => {
    await sandbox().create(order('1', { items: [row('SKU-1', 4)], date: '2026-11-01' }))
    await act('pay', { method: 'card', date: '2026-11-02' })
    await act('return', { rows: [{ row: 1, quantity: 1 }], date: '2026-11-03' })
    await act('repay', { method: 'transfer', amount: 600, date: '2026-11-04' })
    await act('repay', { method: 'transfer', amount: 500 })
    const { history = [] } = await sandbox().detail('1')
    expect(history.slice(2).map(({ message }) => String(message).split('\n')[1])).toEqual([
      ...['Dated 2026-11-02', 'Dated 2026-11-03', 'Dated 2026-11-04', undefined],
    ])
  })

  test('pays back the credit of a partial and of a full return, and changes neither status nor order result', async () => {
    await sandbox().put('accounts', { code: 'cash-1', name: 'Till', kind: 'cash', openingBalance: 600 })
    await credited()
    const before = (await sandbox().read('1')).body
    const first = await act('repay', { method: 'cash', account: 'cash-1', amount: 600, reference: 'x' })
    expect(first).toMatchObject({
      status: 'paid',
      received: '4400',
      returned: '1100',
      repaid: '600',
      balance: '-500',
      repayments: [
        {
          number: 1,
          method: 'cash',
          amount: '600',
          reference: 'x',
          date: '2026-11-21',
          account: { code: 'cash-1', name: 'Till' },
        },
      ],
    })
    expect(await act('repay', { method: 'transfer' })).toMatchObject({
      balance: '0',
      repayments: [{}, { amount: '500', account: { code: 'bank-1' } }],
    })
    expect([(await sandbox().read('1')).body, await announced()]).toEqual([before, []])

    await sandbox().refund('1')
    expect(await act('repay', { method: 'transfer' })).toMatchObject({
      status: 'refunded',
      repaid: '4400',
      balance: '0',
    })
    const { history } = await sandbox().detail('1')
    expect(history?.at(-1)).toMatchObject({
      kind: 'repaid',
      message: 'Repayment 3 of 3,300 rials from حساب بانک ملت',
    })
    expect((await sandbox().panel('sums')).body.totals).toMatchObject({ repaid: '4400', credit: '0' })
  })

  test('pays back what a correction in review leaves of partial payments', async () => {
    await sandbox().create(order('1', { items: [row('SKU-1', 4, 1000)] }))
    for (const amount of [1400, 3000]) await act('pay', { ...PAYMENT, amount })
    await act('review', { error: 'One piece less' })
    await act('correct', { items: [row('SKU-1', 3, 1000)] })
    expect(await act('retry')).toMatchObject({ status: 'paid', total: '3300', balance: '-1100' })
    expect(await act('repay', PAYMENT)).toMatchObject({ status: 'paid', repaid: '1100', balance: '0' })
  })

  test('cannot exceed the credit, and needs one, an account and a date in a fiscal year', async () => {
    const { create, settings } = sandbox()
    await create(order('1', { items: [row('SKU-1', 4, 1000)] }))
    const message = (text: string) => ({ error: { message: expect.stringContaining(text) } })
    expect(await act('repay', PAYMENT)).toMatchObject(message('it is invoiced, and its buyer has no credit'))
    await act('pay', PAYMENT)
    expect(await act('repay', PAYMENT)).toMatchObject(message('it is paid, and its buyer has no credit'))
    await act('return', { rows: [{ row: 1, quantity: 1 }] })
    expect((await sandbox().panel('sums')).body.totals).toMatchObject({ repaid: '0', credit: '1100' })
    for (const [change, field, rule, status = 400] of [
      [{ amount: 1101 }, 'amount', 'is 1,101: must not exceed the credit of the buyer, 1,100'],
      [{ amount: 0 }, 'amount', 'must be at least 1'],
      [{ account: 'none' }, 'account', 'no record has this code'],
      [{ account: 'cash-1' }, 'account', 'is "cash-1": must be a bank account, except for cash', 409],
      [{ method: 'cash' }, 'account', 'is "bank-1": must be a cash box for cash', 409],
      [{ date: '1999-01-01' }, 'date', 'outside the open fiscal years'],
      [{ method: 'coins' }, 'method', 'must be one of'],
    ] as const) {
      const refused = { status, body: { error: { field, message: expect.stringContaining(rule) } } }
      expect(await sandbox().act('1', 'repay', { ...PAYMENT, ...change })).toMatchObject(refused)
    }
    await settings({ orderPaymentReceivingAccount: null })
    const { error } = await act('repay', PAYMENT)
    expect(error).toMatchObject({ code: 'no_receiving_account' })
    expect(String(error?.message)).toMatch(/^Cannot register the repayment: no receiving account/)
    expect((await sandbox().detail('1')).repayments).toEqual([])
  })

  test('is reversed alone or with the others, and must be reversed before its receipt, or before its order is reviewed', async () => {
    await credited()
    expect((await act('reverse-repayment')).error).toMatchObject({
      message: expect.stringMatching(/it has no repayment$/),
    })
    for (const amount of [100, 200, 300]) await act('repay', { ...PAYMENT, amount })
    for (const [action, body] of [
      ['reverse-payment', {}],
      ['review', { error: 'why' }],
    ] as const)
      expect((await act(action, body)).error).toMatchObject({
        message: expect.stringMatching(/it has a repayment; reverse its repayment first$/),
      })
    expect((await act('reverse-repayment', { repayment: 9 })).error).toMatchObject({
      message: 'Field "repayment" is 9: must be one of 1, 2, 3',
    })
    expect(await act('reverse-repayment', { repayment: 2 })).toMatchObject({ repaid: '400', balance: '-700' })
    expect(await act('reverse-repayment')).toMatchObject({ status: 'paid', repayments: [], balance: '-1100' })
    expect(await announced()).toEqual([])
    expect(await act('review', { error: 'why' })).toMatchObject({ status: 'needs_review' })
  })
})

describe('the account of a payment', () => {
  test('decides the type of its receipt, and stays through a review', async () => {
    const { create, settings } = sandbox()
    await create(order('1'))
    const paid = await act('pay', { method: 'cash', account: 'cash-1' })
    expect(paid.receipts).toMatchObject([
      { type: 'cash', account: { code: 'cash-1', name: 'صندوق فروشگاه' } },
    ])
    expect((await act('review', { error: 'why' })).held_payments).toMatchObject([
      { method: 'cash', account: { code: 'cash-1' } },
    ])
    await settings({ orderPaymentReceivingAccount: null })
    expect(await act('retry')).toMatchObject({
      status: 'paid',
      receipts: [{ type: 'cash', account: { code: 'cash-1' } }],
    })
  })

  test('is the receiving account by default, and can be given even if no receiving account is selected', async () => {
    const { create, settings } = sandbox()
    await create(order('1'))
    expect((await act('pay', { ...PAYMENT, account: 'no', amount: 1 })).error).toMatchObject({
      field: 'account',
      message: 'Field "account" is "no": no record has this code',
    })
    await act('pay', { ...PAYMENT, amount: 100 })
    await settings({ orderPaymentReceivingAccount: null })
    expect((await act('pay', { ...PAYMENT, amount: 100 })).error).toMatchObject({
      code: 'no_receiving_account',
    })
    expect((await act('pay', { ...PAYMENT, account: 'cash-1', amount: 100 })).receipts).toMatchObject([
      { type: 'pos', account: { code: 'bank-1' } },
      { type: 'cash', account: { code: 'cash-1' } },
    ])
  })
})

test('a customer gets the identity that invoices show, and keeps it with the next order', async () => {
  const { create, put, list } = sandbox()
  const customer = { mobile: '09123456789', name: 'Sara' }
  await create(order('1', { customer }))
  const identity = { nationalId: '0012345679', postalCode: '1234567890', address: 'تهران', phone: '021' }
  expect((await put('customers/09123456789', identity)).body).toMatchObject({ name: 'Sara', ...identity })
  await put('customers/09123456789', { economicCode: '411111111111' })
  await create(order('2', { customer: { ...customer, name: 'Another' } }))
  expect((await sandbox().detail('2')).customer).toEqual({
    code: '09123456789',
    mobile: '09123456789',
    name: 'Sara',
    email: null,
    ...identity,
    economicCode: '411111111111',
  })
  expect(await list('customers?q=Sara')).toMatchObject([identity])
  expect((await put('customers/09123456789', { nationalId: '12' })).body.error).toMatchObject({
    message: expect.stringContaining('11 digits for a company or 10 digits for a person'),
  })
  expect((await put('customers/none', {})).status).toBe(404)
})

test('the list of accounts shows what each cash box can pay on a day', async () => {
  const { create, list, put } = sandbox()
  await put('accounts', { code: 'cash-1', kind: 'cash', openingBalance: 500, openingDate: '2026-11-05' })
  await create(order('1', { items: [row('SKU-1', 4)], date: '2026-11-01' }))
  await act('pay', { method: 'cash', account: 'cash-1', amount: 2000, date: '2026-11-10' })
  await act('pay', { method: 'card', amount: 2400, date: '2026-11-10' })
  await act('return', { rows: [{ row: 1, quantity: 1 }], date: '2026-11-12' })
  await act('repay', { method: 'cash', account: 'cash-1', date: '2026-11-20' })
  const lowest = async (from: string) =>
    (await list(`accounts?from=${from}`)).map(each => [String(each.code), each.lowest])
  expect(await lowest('2026-11-04')).toEqual([
    ['bank-1', null],
    ['cash-1', '0'],
  ])
  expect(await lowest('2026-11-09')).toContainEqual(['cash-1', '500'])
  expect(await lowest('2026-11-12')).toContainEqual(['cash-1', '1400'])
  expect(await list('accounts')).toMatchObject([{ lowest: null }, { lowest: null }])
})
