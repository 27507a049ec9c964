import { expect, test } from '@jest/globals'
import { focused, type OpenAt } from '@order-relay/test-support/browser.ts'
import type { Locator } from 'playwright-core'
import { type Client, order } from './world.ts'

/** Types a text and presses Enter before the page can show its result. */
const enter = async (field: Locator, text: string) => {
  await field.focus()
  await field.page().evaluate(`
    document.activeElement.value = ${JSON.stringify(text)}
    document.activeElement.dispatchEvent(new Event('input', { bubbles: true }))
    document.activeElement.form.requestSubmit()
  `)
}

/** How rows are added to an order in the dialog of a correction. */
export const rowTests = (openAt: OpenAt, client: () => Client) => {
  const correct = async (id: string) => {
    const { page } = await openAt(`${client().url}/#/orders/${id}?source=api`)
    await page.getByRole('button', { name: 'Correct order' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('New total: 2,200 rials').waitFor()
    await dialog.getByRole('button', { name: 'Add row' }).click()
    const line = dialog.getByRole('group', { name: 'Row 2' })
    return { page, dialog, product: line.getByLabel('Product') }
  }

  test('Enter in the product field fills in the price and moves to the quantity, and Enter there saves the total shown', async () => {
    await client().create(order('1'))
    const { page, dialog, product } = await correct('1')
    expect(await focused(page)).toBe('field-items[1].sku')
    await product.fill('no such product')
    await product.press('Enter')
    expect(await focused(page)).toBe('field-items[1].sku')
    await product.fill('SKU-2')
    await product.press('Enter')
    expect(await focused(page)).toBe('field-items[1].quantity')
    await dialog.getByText('New total: 1,377,200 rials').waitFor()
    expect(await client().detail('1')).toMatchObject({ total: '2200' })
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await client().detail('1')).toMatchObject({ total: '1377200' })
  })

  test('a price that was filled in is saved only after the new total was shown', async () => {
    await client().create(order('1'))
    const { page, dialog, product } = await correct('1')
    await product.fill('SKU-2')
    // As quick as a click that takes the focus from the product field.
    await page.evaluate(
      'document.activeElement.blur(); document.querySelector("dialog [type=submit]").click()',
    )
    await dialog.getByRole('status').filter({ hasText: 'Nothing has been saved yet' }).waitFor()
    await dialog.getByText('New total: 1,377,200 rials').waitFor()
    expect(await client().detail('1')).toMatchObject({ total: '2200' })
    await dialog.getByRole('button', { name: 'Correct order' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await client().detail('1')).toMatchObject({ total: '1377200' })
  })

  test('Enter shows a new total before it saves it, whichever field has changed', async () => {
    await client().create(order('1'))
    const { page, dialog } = await correct('1')
    await dialog.getByRole('button', { name: 'Remove row 2' }).click()
    for (const [label, text, total] of [
      ['Quantity', '3', '3,300'],
      ['Unit price', '2000', '6,600'],
      ['Discount', '1000', '5,500'],
      ['Shipping', '500', '6,050'],
    ] as const) {
      await enter(dialog.getByLabel(label, { exact: true }), text)
      await dialog
        .getByRole('status')
        .filter({ hasText: 'Nothing has been saved yet' })
        .waitFor({ timeout: 5000 })
      await dialog.getByText(`New total: ${total} rials`).waitFor()
    }
    expect(await client().detail('1')).toMatchObject({ total: '2200' })
    await dialog.getByLabel('Reason').fill('By phone')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await client().detail('1')).toMatchObject({ total: '6050' })
  })

  test('Enter shows the amount of a return before it registers it', async () => {
    await client().create(order('1', { items: [{ sku: 'SKU-1', quantity: 4, unit_price: 1000 }] }))
    const { page } = await openAt(`${client().url}/#/orders/1?source=api`)
    await page.getByRole('button', { name: 'Register return' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Amount of the return: 4,400 rials').waitFor()
    await enter(dialog.getByLabel('Row 1: return of'), '1')
    await dialog
      .getByRole('status')
      .filter({ hasText: 'Nothing has been saved yet' })
      .waitFor({ timeout: 5000 })
    await dialog.getByText('Amount of the return: 1,100 rials').waitFor()
    expect(await dialog.locator('.foot [role=alert]').textContent()).toBe('')
    expect(await client().detail('1')).toMatchObject({ returned: '0' })
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await client().detail('1')).toMatchObject({ returned: '1100' })
  })

  test('the result names the row and the field of a problem, and no field that nobody has filled in yet', async () => {
    await client().create(order('1'))
    const { dialog } = await correct('1')
    await dialog.getByRole('button', { name: 'Remove row 2' }).click()
    await dialog.getByLabel('Discount', { exact: true }).fill('-1')
    await dialog
      .getByRole('status')
      .getByText(/^Row 1, Discount: Must not be negative$/)
      .waitFor({ timeout: 5000 })

    await client().act('1', 'pay', { method: 'card', amount: 1000 })
    await client().act('1', 'pay', { method: 'card', amount: 1200 })
    const { page } = await openAt(`${client().url}/#/orders/1?source=api`)
    await page.getByRole('button', { name: 'Reverse payment' }).click()
    const reversal = page.getByRole('dialog')
    await reversal.locator('.outcome[aria-busy=false]').waitFor({ state: 'attached', timeout: 5000 })
    expect(await reversal.getByRole('status').textContent()).toBe('')
  })

  test('the price of the previous product is removed if the chosen product has none', async () => {
    await client().create(order('1'))
    await client().product('UNPRICED', { stock: 5 })
    const { dialog, product } = await correct('1')
    const price = dialog.getByRole('group', { name: 'Row 2' }).getByLabel('Unit price')
    await product.fill('SKU-2')
    await product.press('Enter')
    await dialog.getByText('New total: 1,377,200 rials').waitFor()
    await product.fill('UNPRICED')
    await product.press('Enter')
    expect(await price.inputValue()).toBe('')
  })

  test('an unknown product is named next to the product, besides the missing price', async () => {
    await client().create(order('1'))
    const { page, dialog, product } = await correct('1')
    await product.fill('no such product')
    await dialog.getByRole('button', { name: 'Correct order' }).click()
    await dialog
      .getByRole('alert')
      .filter({ hasText: 'No product has this code or name' })
      .waitFor({ timeout: 5000 })
    expect(await product.getAttribute('aria-invalid')).toBe('true')
    expect(await focused(page)).toBe('field-items[1].sku')
  })

  test('the focus stays in the rows when one is removed', async () => {
    await client().create(order('1'))
    const { page, dialog } = await correct('1')
    await dialog.getByRole('button', { name: 'Remove row 2' }).click()
    await dialog.getByRole('group', { name: 'Row 2' }).waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Add row')
  })
}
