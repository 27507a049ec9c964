import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { fill, type OpenAt } from '@order-relay/test-support/browser.ts'
import { type Client, eventually, order, PAYMENT, row } from './world.ts'

/** Actions that the service would refuse, and the values with which it accepts them. */
export const preventedTests = (openAt: OpenAt, client: () => Client) => {
  const openOrder = (id: string, locale = 'en-GB') =>
    openAt(`${client().url}/#/orders/${id}?source=api`, { locale })

  test('an action that would be refused has no button, and the page gives the reason', async () => {
    await client().create(order('1', { items: [row('SKU-1', 2)], payment: PAYMENT }))
    await client().act('1', 'return', { rows: [{ row: 1, quantity: 1 }] })
    await client().act('1', 'repay', PAYMENT)
    const { page } = await openOrder('1')
    const actions = page.getByRole('group', { name: 'Actions' })
    const offered = () => actions.getByRole('button').allTextContents()
    await actions
      .getByText(
        'Possible once the repayment is reversed: Reverse payment, Reverse return, Move back to review',
      )
      .waitFor()
    expect(await offered()).toEqual(['Reverse repayment', 'Register return'])
    expect(await violationsOf(page)).toEqual([])
    await client().act('1', 'reverse-repayment')
    await actions.getByRole('button', { name: 'Move back to review' }).waitFor()
    await client().create(order('2', { payment: PAYMENT }))
    await client().put('fiscal-years', { fiscalYears: [] })
    await page.evaluate('location.hash = "#/orders/2?source=api"')
    for (const sentence of [
      /^Not possible, because invoice 2 is dated .+, outside the open fiscal years: Move back to review, Correct order$/,
      /^Not possible, because receipt 2 is dated .+, outside the open fiscal years: Reverse payment$/,
      /^Not possible, because no day from .+ to today is in an open fiscal year: Register return$/,
    ])
      await actions.getByText(sentence).waitFor({ timeout: 5000 })
    expect(await offered()).toEqual([])
  })

  test('a reversal of the repayment is not named as a step to what a closed fiscal year still prevents', async () => {
    const past = { from: '2019-01-01', to: '2019-12-31' }
    await client().put('fiscal-years', { fiscalYears: [past, { from: '2020-01-01', to: '2099-12-31' }] })
    await client().create(order('1'))
    await client().act('1', 'pay', { ...PAYMENT, date: '2019-05-01' })
    await client().act('1', 'return')
    await client().act('1', 'repay', PAYMENT)
    await client().put('fiscal-years', { ...past, closed: true })
    const { page } = await openOrder('1')
    const actions = page.getByRole('group', { name: 'Actions' })
    const shown = (texts: string[]) =>
      eventually(
        async () => (await actions.locator('> *').allTextContents()).map(text => text.trim()),
        found => found.join() === texts.join(),
      )
    const outside =
      'Not possible, because receipt 1 is dated 1 May 2019, outside the open fiscal years: Reverse payment, Move back to review'
    await shown([
      'Reverse repayment',
      'Goods were returned, so the order cannot be corrected: reverse the repayment first.',
      outside,
      'Possible once the repayment is reversed: Reverse return',
    ])
    const { page: persian } = await openOrder('1', 'fa-IR')
    await persian
      .getByText(
        /^چون تاریخ .*رسید دریافت .*۱۱ اردیبهشت ۱۳۹۸.* خارج از سال‌های مالی باز است، ممکن نیست: .*برگرداندن به بررسی/,
      )
      .waitFor({ timeout: 5000 })
    await client().act('1', 'reverse-repayment')
    await shown([
      'Register repayment',
      'Reverse return',
      'Goods were returned, so the order cannot be corrected: reverse the return first.',
      outside,
    ])
    await persian.getByText('ابتدا برگشت از فروش را باطل کنید').waitFor()
    await client().act('1', 'reverse-return')
    await actions.getByRole('button', { name: 'Correct order' }).waitFor()
  })

  test('a repayment in a closed fiscal year is named instead of a step that is not possible', async () => {
    await client().create(order('1', { payment: PAYMENT }))
    await client().act('1', 'return')
    await client().act('1', 'repay', PAYMENT)
    await client().put('fiscal-years', { fiscalYears: [] })
    const { page } = await openOrder('1')
    const actions = page.getByRole('group', { name: 'Actions' })
    await actions.getByText(/because repayment 1 is dated .*: Reverse repayment$/).waitFor()
    expect(await actions.getByText(/first|once the repayment/).count()).toBe(0)
    expect(await actions.getByRole('button').count()).toBe(0)
  })

  test('a return whose goods have been sold is not named as reversible until they are in stock again', async () => {
    await client().create(order('1', { payment: PAYMENT }))
    await client().act('1', 'return')
    await client().act('1', 'repay', PAYMENT)
    await client().product('SKU-1', { stock: 1 })
    const { page } = await openOrder('1')
    const actions = page.getByRole('group', { name: 'Actions' })
    await actions
      .getByText(
        'Possible once the repayment is reversed and the returned goods are in stock again (SKU-1: 2 needed, 1 in stock): Reverse return',
      )
      .waitFor({ timeout: 5000 })
    await actions.getByText('Possible once the repayment is reversed: Move back to review').waitFor()
    const again = '(you can register them again afterwards): Reverse payment'
    await actions.getByText(`Possible once the repayment and then the return are reversed ${again}`).waitFor()
    await client().act('1', 'reverse-repayment')
    await actions
      .getByText(
        'Possible once the return is reversed (you can register it again afterwards): Reverse payment',
      )
      .waitFor()
    await actions
      .getByText(
        'Possible once the returned goods are in stock again (SKU-1: 2 needed, 1 in stock): Reverse return',
      )
      .waitFor()
    expect(await actions.getByRole('button', { name: 'Reverse return' }).count()).toBe(0)
    const { page: persian } = await openOrder('1', 'fa-IR')
    await persian.getByText(/^پس از تأمین موجودی کالاهای برگشتی \(/).waitFor()
    await client().product('SKU-1', { stock: 2 })
    await actions.getByRole('button', { name: 'Reverse return' }).waitFor()
    expect(await violationsOf(page)).toEqual([])
  })

  test('a correction that needs the returned goods back in stock says so', async () => {
    const past = { from: '2019-01-01', to: '2019-12-31' }
    await client().put('fiscal-years', { fiscalYears: [past, { from: '2020-01-01', to: '2099-12-31' }] })
    await client().create(order('1'))
    await client().act('1', 'pay', { ...PAYMENT, amount: 1100, date: '2019-05-01' })
    await client().act('1', 'return', { rows: [{ row: 1, quantity: 1 }] })
    await client().put('fiscal-years', { ...past, closed: true })
    await client().product('SKU-1', { stock: 0 })
    const { page } = await openOrder('1')
    await page
      .getByText(
        'Goods were returned, so the order cannot be corrected: once they are in stock again (SKU-1: 1 needed, 0 in stock), reverse the return.',
      )
      .waitFor({ timeout: 5000 })
  })

  test('dialogs preset the last day of the open fiscal year if today is in a closed one, and say so', async () => {
    const past = { from: '2019-01-01', to: '2019-12-31' }
    await client().put('fiscal-years', { fiscalYears: [past, { from: '2020-01-01', to: '2099-12-31' }] })
    await client().create(order('1', { date: '2019-05-01' }))
    await client().put('fiscal-years', { from: '2020-01-01', to: '2099-12-31', closed: true })
    const { page, errors } = await openOrder('1')
    const dialog = page.getByRole('dialog')
    const submit = async (action: string) => {
      await page.getByRole('button', { name: action }).click()
      await dialog
        .getByText('Today is not in an open fiscal year, so the last day of the open year is preset.')
        .waitFor({ timeout: 5000 })
      expect([action, await dialog.getByLabel('Date', { exact: true }).inputValue()]).toEqual([
        action,
        '2019-12-31',
      ])
      await fill(dialog, {}, action)
      await dialog.waitFor({ state: 'detached' })
    }
    for (const action of ['Register payment', 'Register return', 'Register repayment']) await submit(action)
    expect(await client().detail('1')).toMatchObject({
      receipts: [{ date: '2019-12-31' }],
      returns: [{ date: '2019-12-31' }],
      repayments: [{ date: '2019-12-31' }],
    })
    expect(errors).toEqual([])
  })

  test('no repayment is offered if every day since the return is in a closed fiscal year', async () => {
    const years = [
      { from: '2019-01-01', to: '2019-12-31' },
      { from: '2020-01-01', to: '2099-12-31' },
    ]
    await client().put('fiscal-years', { fiscalYears: years })
    await client().create(order('1', { date: '2019-05-01', payment: PAYMENT }))
    await client().act('1', 'return', { date: '2020-05-01' })
    await client().put('fiscal-years', { ...years[1], closed: true })
    const { page } = await openOrder('1')
    await page
      .getByText(/no day from .*1 May 2020 to today is in an open fiscal year: Register repayment/)
      .waitFor({ timeout: 5000 })
    expect(await page.getByRole('button', { name: 'Register repayment' }).count()).toBe(0)
  })

  test('the dates of several held payments outside the open fiscal years are kept', async () => {
    const years = [
      { from: '2019-01-01', to: '2019-12-31' },
      { from: '2020-01-01', to: '2099-12-31' },
    ]
    await client().put('fiscal-years', { fiscalYears: years })
    await client().create(order('1', { date: '2019-05-01' }))
    await client().act('1', 'pay', { ...PAYMENT, amount: 1000, date: '2019-05-02' })
    await client().act('1', 'pay', { ...PAYMENT, amount: 1200, date: '2019-05-03' })
    await client().act('1', 'review', { error: 'Other goods' })
    await client().put('fiscal-years', { ...years[0], closed: true })
    const { page } = await openOrder('1')
    await page.getByRole('button', { name: 'Correct order' }).click()
    const dialog = page.getByRole('dialog')
    await dialog
      .getByText(
        'These held payments keep their dates, which are outside the open fiscal years: 1,000 rials of 2 May 2019, 1,200 rials of 3 May 2019. Add or reopen the fiscal years to finalize the invoice.',
      )
      .waitFor({ timeout: 5000 })
    expect(await dialog.getByLabel('Date of the held payment').count()).toBe(0)
  })

  test('no payment is offered without an open fiscal year', async () => {
    await client().create(order('1'))
    await client().put('fiscal-years', { fiscalYears: [] })
    const { page } = await openOrder('1')
    await page.getByText('Not possible without an open fiscal year: Register payment').waitFor()
    expect(await page.getByRole('button', { name: 'Register payment' }).count()).toBe(0)
  })
}
