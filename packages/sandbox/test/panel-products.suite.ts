import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { fill, focused, type OpenAt } from '@order-relay/test-support/browser.ts'
import { type Client, order } from './world.ts'

export const productTests = (openAt: OpenAt, client: () => Client) => {
  const open = (hash: string) => openAt(`${client().url}/${hash}`)

  test('adds and edits a product, and cancels with Escape', async () => {
    const { page, errors } = await open('#/products')
    await page.getByRole('button', { name: 'Add product' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a product' })
    await fill(
      dialog,
      { 'Code (SKU)': 'کد/۱', Name: 'پسته', Stock: '1,250.5', Unit: 'کیلو', 'Price in rials': '۲٬۵۰۰٬۰۰۰' },
      'Add',
    )
    const row = page.getByRole('row').filter({ hasText: 'پسته' })
    await row.getByText('1,250.5').waitFor()
    await row.getByText('2,500,000').waitFor()
    await row.getByRole('cell', { name: 'کیلو' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('SKU')
    await row.waitFor({ state: 'detached' })
    await page.getByLabel('Search by name or code').fill('پسته')
    await page.getByRole('rowheader', { name: 'SKU-1' }).waitFor({ state: 'detached' })

    await row.getByRole('button', { name: 'Edit' }).click()
    expect(await focused(page)).toBe('field-stock')
    expect(await violationsOf(page)).toEqual([])
    await page.keyboard.type('7')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await row.getByText('1,250.5').waitFor()
    expect(await focused(page)).toBe('Edit \u2068کد/1\u2069')

    await page.keyboard.press('Enter')
    await page.keyboard.type('3.25')
    await page.keyboard.press('Enter')
    await row.getByText('3.25').waitFor()
    expect(await client().list('products?q=پسته')).toMatchObject([{ sku: 'کد/1', stock: 3.25, unit: 'کیلو' }])
    expect(errors).toEqual([])
  })

  test('the changes of the stock of a product are listed with their orders, 50 at a time', async () => {
    await client().create(order('1'))
    for (let stock = 1; stock <= 50; stock += 1) await client().product('SKU-1', { stock })
    const { page, errors } = await open('#/products')
    await page.getByRole('link', { name: 'SKU-1' }).click()
    await page.getByRole('heading', { name: 'Stock of SKU-1' }).waitFor()
    const rows = page.locator('tbody').getByRole('row')
    await rows.nth(49).waitFor()
    expect(await rows.first().getByRole('cell').allTextContents()).toEqual(['Stock set', '49', '1', '50'])
    await page.getByRole('link', { name: 'Older' }).click()
    await rows.nth(1).waitFor({ state: 'detached' })
    expect(await rows.getByRole('cell').allTextContents()).toEqual([
      ...['Invoice finalizedInvoice 1 of order 1', '100', '−2', '98'],
    ])
    await rows.getByRole('link', { name: '1', exact: true }).click()
    await page.getByRole('heading', { name: 'Order 1' }).waitFor()
    expect(errors).toEqual([])
  })

  test('a negative stock is refused as negative, with the digits of the page', async () => {
    const { page } = await openAt(`${client().url}/#/products`, { locale: 'fa-IR' })
    await page.getByRole('button', { name: 'افزودن کالا' }).click()
    const dialog = page.getByRole('dialog')
    await fill(dialog, { 'کد کالا': 'A', نام: 'پسته', موجودی: '-5' }, 'افزودن')
    await dialog.getByText('نباید منفی باشد').waitFor()
  })
}
