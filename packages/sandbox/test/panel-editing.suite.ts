import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { fill, focused, type OpenAt } from '@order-relay/test-support/browser.ts'
import type { Page } from 'playwright-core'
import { type Client, eventually, order, SHORT, startReceiver } from './world.ts'

export const editingTests = (openAt: OpenAt, client: () => Client) => {
  const open = (hash: string) => openAt(`${client().url}/${hash}`)

  const showsRate = (page: Page, rate: string) =>
    eventually(
      () => page.getByLabel('Tax rate').inputValue(),
      value => value === rate,
    )

  test('saves all settings, and shows changes made elsewhere', async () => {
    const { page, errors } = await open('#/settings')
    await page.getByLabel('Default customer').selectOption('')
    await page.getByLabel('Automatic customer creation').uncheck()
    await page.getByLabel('Order payment receiving account').selectOption('cash-1')
    await page.getByLabel('Prices include tax').check()
    await page.getByLabel('Automatic finalization').uncheck()
    await page.getByLabel('Duplicates return the original result').check()
    await page.getByLabel('Corrections send webhooks').check()
    await fill(page, { 'Tax rate': '8.5' }, 'Save settings')

    await page.getByText('Settings saved').waitFor()
    expect((await client().panel('settings')).body).toEqual({
      defaultCustomer: null,
      automaticCustomerCreation: false,
      orderPaymentReceivingAccount: 'cash-1',
      taxRate: 8.5,
      pricesIncludeTax: true,
      automaticFinalization: false,
      duplicatesReturnOriginal: true,
      correctionsSendWebhooks: true,
    })
    await client().settings({ taxRate: 12, automaticFinalization: true })
    await showsRate(page, '12')
    expect(await page.getByLabel('Automatic finalization').isChecked()).toBe(true)
    expect(errors).toEqual([])
  })

  test('shows the error of a refused setting next to its field until the user types', async () => {
    const { page, errors } = await open('#/settings')
    const rate = page.getByLabel('Tax rate')
    await fill(page, { 'Tax rate': '101' }, 'Save settings')

    await page.getByRole('alert').filter({ hasText: 'Must not exceed 100' }).waitFor()
    expect(await focused(page)).toBe('field-taxRate')
    expect(await rate.getAttribute('aria-invalid')).toBe('true')
    expect(errors).toEqual([])

    await rate.fill('eight')
    expect(await rate.getAttribute('aria-invalid')).toBeNull()
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('"eight" is not a number').waitFor()
    expect((await client().panel('settings')).body.taxRate).toBe(10)
  })

  test('keeps unsaved settings during live updates and navigation', async () => {
    const { page } = await open('#/settings')
    await page.getByLabel('Tax rate').fill('7')
    await client().settings({ automaticFinalization: false })
    await page.getByRole('switch', { name: 'Automatic finalization', checked: false }).waitFor()
    expect(await page.getByLabel('Tax rate').inputValue()).toBe('7')

    await page.getByRole('link', { name: 'Products' }).click()
    await page.getByRole('link', { name: 'Settings • unsaved changes' }).click()
    expect(await page.getByLabel('Tax rate').inputValue()).toBe('7')
    await page.getByRole('button', { name: 'Discard' }).click()
    const phone = page.getByLabel('Phone')
    await phone.fill('021')
    await page.getByRole('link', { name: 'Products' }).click()
    await page.getByRole('link', { name: 'Settings • unsaved changes' }).click()
    expect(await phone.inputValue()).toBe('021')
    await showsRate(page, '10')
  })

  test('saves only what was changed, so that an open dialog does not undo other changes', async () => {
    const { page, errors } = await open('#/products')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Edit SKU-1' }).click()
    await client().put('products/SKU-1', { stock: 75 })
    await fill(dialog, { Name: 'Tea' }, 'Save')
    await page.getByText('Saved SKU-1: 75 in stock').waitFor()

    await page.evaluate('location.hash = "#/customers"')
    await page.getByRole('row', { name: 'walk-in' }).getByRole('button').click()
    await client().put('customers/walk-in', { phone: '02188' })
    await fill(dialog, { 'Postal address': 'Tehran' }, 'Save')
    await page.getByText('Saved.').waitFor()
    const { customers } = (await client().panel('customers')).body
    expect(customers).toMatchObject([{ phone: '02188', address: 'Tehran' }])

    await page.evaluate('location.hash = "#/settings"')
    await page.getByRole('button', { name: 'Edit account cash-1' }).click()
    await client().put('accounts', { code: 'cash-1', kind: 'cash', name: 'Till', openingBalance: 700 })
    await fill(dialog, { 'Date of the opening balance': '2026-03-21' }, 'Save')
    await page.getByText('Saved account cash-1').waitFor()
    expect(await client().list('accounts')).toContainEqual({
      code: 'cash-1',
      name: 'Till',
      kind: 'cash',
      openingBalance: 700,
      openingDate: '2026-03-21',
      lowest: null,
      inUse: false,
    })
    expect(errors).toEqual([])
  })

  test('adds, changes and removes accounts and fiscal years in dialogs', async () => {
    const { page } = await open('#/settings')
    await page.getByRole('button', { name: 'Edit account bank-1' }).click()
    await fill(page.getByRole('dialog'), { Name: 'بانک پاسارگاد' }, 'Save')
    await page.getByRole('cell', { name: 'بانک پاسارگاد' }).waitFor()

    await page.getByRole('button', { name: 'Add fiscal year' }).click()
    await fill(page, { 'First day': '2031-03-21', 'Last day': '2031-01-01' }, 'Add')
    await page.getByRole('alert').filter({ hasText: 'Must not be before "First day"' }).waitFor()
    await fill(page, { 'Last day': '2032-03-19' }, 'Add')
    await page.getByText('۱ فروردین ۱۴۱۰').waitFor()

    await page.getByRole('button', { name: 'Add fiscal year' }).click()
    await fill(page, { 'First day': '2031-03-21', 'Last day': '2032-03-19' }, 'Add')
    await page.getByRole('alert').filter({ hasText: 'This fiscal year is already registered' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard changes' }).click()

    await client().create(order('1', { date: '2031-03-21', payment: { method: 'cash' } }))
    await client().create(order('2', { date: '2031-03-21', ...SHORT }))
    const row = page.getByRole('row').filter({ hasText: '۱ فروردین ۱۴۱۰' })
    const dialog = page.getByRole('dialog')
    const close = row.getByRole('button', { name: 'Close or remove 21 Mar 2031' })
    await close.click()
    await dialog.getByText('It contains: 2 orders (1 in review), 1 receipt.').waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(await dialog.textContent()).not.toContain('It includes today')
    await dialog
      .getByText('Stores can still register refunds of finalized invoices, and payments without a date.')
      .waitFor()
    await fill(dialog, {}, 'Close the year')
    await row.getByText('Closed', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Close or remove 21 Mar 2026' }).click()
    await dialog.getByText('It contains no documents. It includes today: new orders of stores').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Close or remove 21 Mar 2027' }).click()
    await dialog.getByText('It contains no documents.').waitFor()
    await fill(dialog, {}, 'Remove')
    await page.getByText('Removed 21 Mar 2027').waitFor()
    expect((await client().list('fiscal-years')).map(({ closed }) => closed)).toEqual([false, false, true])

    await page.evaluate('location.hash = "#/orders"')
    await page.getByLabel('Fiscal year').selectOption('2031–2032 (closed)')
    await page.getByRole('link', { name: '2', exact: true }).waitFor()
    await page.evaluate('location.hash = "#/settings"')
    await row.getByRole('button', { name: 'Reopen 21 Mar 2031' }).click()
    await fill(dialog, {}, 'Reopen')
    await close.waitFor()
  })

  test('warns that invoices have no seller until one is saved', async () => {
    await client().create(order('1001'))
    const { page } = await open('#/orders/1001?source=api')
    const warning = page.getByText('The printed invoice has no seller')
    await warning.waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.emulateMedia({ media: 'print' })
    expect(await warning.isVisible()).toBe(false)
    await page.getByText('Buyerمشتری متفرقهNo contact details', { exact: true }).waitFor()
    await page.emulateMedia({ media: 'screen' })
    await warning.getByRole('link', { name: 'settings' }).click()
    const form = page.getByRole('form', { name: 'Seller' })
    await fill(form, { Name: 'Sara & Sons', 'Postal code': '123' }, 'Save seller')
    await form.getByText('Must have 10 digits', { exact: true }).waitFor()
    await fill(form, { 'Postal code': '۱۲۳۴۵۶۷۸۹۰', 'National ID': '140012345678' }, 'Save seller')
    await form.getByText('Must have 11 digits for a company or 10 digits for a person').waitFor()
    await fill(form, { 'Postal code': '1234567890', 'National ID': '۱۰۳۸۰۲۸۴۷۹۰' }, 'Save seller')
    await page.getByText('Saved. Invoices show this seller.').waitFor()
    const { body } = await client().panel('seller')
    expect(body).toMatchObject({ name: 'Sara & Sons', postalCode: '1234567890', phone: '' })
    await page.goBack()
    await page.getByText('Sara & Sons').waitFor()
    expect(await warning.count()).toBe(0)
  })

  test('shows a fault on every page until it ends, and sets up examples, stock and settings, asking before a loss', async () => {
    const { page, errors } = await open('#/testing')
    await page.getByRole('button', { name: 'Create 20 example orders' }).click()
    const confirm = async (name: string, loss: string) => {
      await page.getByRole('button', { name }).click()
      const dialog = page.getByRole('dialog', { name: `${name}?` })
      await dialog.getByText(`${loss} This cannot be undone.`).waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await page.getByRole('button', { name }).click()
      await fill(dialog, {}, name)
      await dialog.waitFor({ state: 'detached' })
    }
    await page.getByRole('button', { name: 'Empty the stock' }).click()
    await page.getByText('The stock of every product becomes 0').waitFor()
    await page.keyboard.press('Escape')
    expect(await client().stock('SKU-2')).toBeGreaterThan(0)
    await confirm('Empty the stock', 'becomes 0, and its current stock is lost.')
    expect(await client().stock('SKU-2')).toBe(0)
    await confirm('Stock 100 of each product', 'becomes 100, and its current stock is lost.')
    await page.getByText('100 of each product are in stock').waitFor()
    const { body: preset } = await client().panel('settings')
    await client().settings({ taxRate: 8.5, defaultCustomer: null, pricesIncludeTax: true })
    await confirm('Restore the default settings', 'and the current ones are lost.')
    await page.getByText('The default settings are restored').waitFor()
    expect((await client().panel('settings')).body).toEqual(preset)
    await page.getByLabel('Fault', { exact: true }).selectOption('Error responses')
    await page.getByLabel('Applies to').selectOption('Read an order')
    await fill(page, { 'Retry-After': '2', 'Number of requests': '2' }, 'Add fault')
    const banner = page.getByRole('region', { name: 'The service fails on purpose' })
    await banner.getByText(/Read an order · requests left: 2 · until .* \(in 1 min\)|in \d+ sec/).waitFor()
    await page.getByRole('link', { name: 'Products' }).click()
    expect((await client().read('example-1')).headers.get('retry-after')).toBe('2')
    await banner.getByText('requests left: 1').waitFor()
    await banner.getByRole('button', { name: 'End' }).click()
    await banner.waitFor({ state: 'detached' })
    expect((await client().read('example-1')).status).toBe(200)
    expect(await client().stock('SKU-3')).toBe(100)
    expect(errors).toEqual([])
  })

  test('registers, tests and removes an address, and shows and resends its deliveries', async () => {
    const receiver = await startReceiver(attempt => (attempt === 1 ? 503 : 200))
    const { page, errors } = await open('#/webhooks')
    await page.getByRole('button', { name: 'Register an address' }).click()
    await fill(page.getByRole('dialog'), { Address: receiver.url }, 'Register')
    await page.getByText(/^[0-9a-f]{64}$/).waitFor()
    await client().create(order('2001'))
    await client().act('2001', 'pay', { method: 'cash' })

    const delivery = page.getByRole('listitem').filter({ hasText: 'Order 2001' })
    await delivery.getByText('Pending').waitFor()
    await delivery.getByText(/next attempt in \d s/).waitFor()
    await delivery.getByText('1 attempt').click()
    await delivery.getByText('answer 503').waitFor()
    await delivery.getByRole('button', { name: 'Resend' }).click()

    await delivery.getByText('Delivered').waitFor()
    await delivery.getByText('2 attempts').waitFor()
    await delivery.getByText('answer 200').waitFor()
    await page.getByText('Sent again: HTTP 200').waitFor()
    expect(receiver.received).toHaveLength(2)
    const signature = String(receiver.received[1]?.headers['x-service-signature'])
    await delivery.getByText('Headers, signature and payload').click()
    await delivery.locator('pre').getByText(signature).waitFor()

    await page.getByRole('button', { name: `Test ${receiver.url}` }).click()
    await page.getByRole('region', { name: 'Test webhook' }).getByText('HTTP 200').waitFor()
    expect(receiver.received).toHaveLength(3)
    await page.getByRole('button', { name: `Remove ${receiver.url}` }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('No address is registered').waitFor()
    expect(errors).toEqual([])
    await receiver.close()
  })
}
