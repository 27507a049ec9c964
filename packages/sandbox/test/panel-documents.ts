import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import type { OpenAt } from '@order-relay/test-support/browser.ts'
import { type Client, order, PAYMENT, row } from './world.ts'

/** Receipts, returns and repayments on screen and on paper. */
export const documentTests = (openAt: OpenAt, client: () => Client) => {
  const open = (hash: string, options = {}) => openAt(`${client().url}/${hash}`, options)

  test('a return lists what was returned with shipping, tax and sums, and a cancelled document is opened from the list', async () => {
    const { create, act } = client()
    await create(order('1', { items: [row('SKU-1', 4)], shipping: 50, payment: PAYMENT }))
    await act('1', 'return', { rows: [1, 2].map(each => ({ row: each, quantity: 1 })), reason: 'شکسته' })
    await act('1', 'reverse-return', { reason: 'اشتباه' })
    const { page, errors } = await open('#/documents')
    const list = page.getByRole('table', { name: 'Documents' })
    await list.getByText('Cancelled', { exact: true }).waitFor()
    await list.getByRole('link', { name: 'Sales return 1' }).click()
    const goods = page.getByRole('region', { name: 'Sales return 1', exact: true })
    await goods.getByText('Reason of the cancellationاشتباه', { exact: true }).waitFor()
    expect(await goods.getByRole('row').allTextContents()).toEqual([
      'ItemQuantityUnitUnit priceNetTaxRow total',
      '1. چای سیاه ۵۰۰ گرمیSKU-11عدد1,0001,0001001,100',
      '2. هزینه ارسال1–5050555',
      'Sum1,0501051,155',
    ])
    expect(
      await page.evaluate('document.getElementById("return-1").getBoundingClientRect().top'),
    ).toBeLessThan(400)
    expect(await violationsOf(page)).toEqual([])
    await page.evaluate('window.print = () => {}')
    await goods.getByRole('button', { name: 'Print Sales return 1' }).click()
    await page.emulateMedia({ media: 'print' })
    for (const text of ['Cancelled', 'شکسته', '1,155']) await goods.getByText(text, { exact: true }).waitFor()
    expect(await page.getByRole('region', { name: 'Receipt 1', exact: true }).isVisible()).toBe(false)
    expect(errors).toEqual([])
  })
}
