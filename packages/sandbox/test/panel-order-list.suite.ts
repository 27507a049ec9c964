import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import type { OpenAt } from '@order-relay/test-support/browser.ts'
import type { Locator } from 'playwright-core'
import { type Client, eventually, order, row, SAFFRON } from './world.ts'

export const orderListTests = (openAt: OpenAt, client: () => Client) => {
  const open = (hash: string, options = {}) => openAt(`${client().url}/${hash}`, options)

  test('the command shown on the empty order list creates a first order', async () => {
    const { page } = await open('#/orders')
    const command = await page.getByText('curl').textContent()
    expect(await violationsOf(page)).toEqual([])
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await promisify(execFile)('sh', ['-c', command ?? ''])

    await page.getByRole('link', { name: '1001' }).click()
    await page.getByRole('heading', { name: 'Order 1001' }).waitFor()
    await page.getByText('سارا محمدی').waitFor()
  })

  test('retries selected orders, or all that are ready, after a preview', async () => {
    for (const [index, quantity] of [1, 2, 9].entries())
      await client().create(order(`o-${index}`, { ...SAFFRON, items: [row('SKU-3', quantity)] }))
    const { page, errors } = await open('#/orders')
    const posts: string[] = []
    page.on('request', request => request.method() === 'POST' && posts.push(request.url()))
    const retry = async (button: string, says: string) => {
      await page.getByRole('button', { name: button }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText(says).waitFor()
      expect(await violationsOf(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Retry' }).click()
    }
    await page.getByRole('button', { name: 'Retry all that are ready' }).click()
    await page.getByText('No order is ready to retry').waitFor()
    await client().product('SKU-3', { stock: 3 })
    await page.getByLabel('Select order o-0').check()
    await page.getByLabel('Select order o-2').check()
    await retry(
      'Retry 2 selected',
      '1 will be paid, with receipts of 1,100 rials. 1 will stay in review, for the reason in the table.',
    )
    await page.getByRole('heading', { name: 'Retried: 1 paid, 0 invoiced, 1 not' }).waitFor()
    await page.getByText('Result of each order').first().click()
    const left = 'o-2 api Insufficient stock: "SKU-3" needs 9, available 2'
    await page.getByRole('row', { name: left }).waitFor()
    await retry('Retry all that are ready', '1 will be paid, with receipts of 2,200 rials.')
    await page.getByRole('link', { name: 'Paid 2' }).waitFor()
    const results = page.getByRole('heading', { name: 'Retried:' })
    await results.waitFor()
    await page.getByRole('link', { name: 'Paid 2' }).click()
    await results.waitFor({ state: 'detached', timeout: 5000 })
    expect(posts).toHaveLength(5)
    expect(errors).toEqual([])
  })

  test('a bulk retry excludes orders that the user clears, and at first those that the accountant moved back to review', async () => {
    for (const id of ['own', 'one', 'two'])
      await client().create(order(id, id === 'own' ? {} : { ...SAFFRON, items: [row('SKU-3', 1)] }))
    await client().act('own', 'review', { error: 'مشتری انصراف داد' })
    await client().product('SKU-3', { stock: 2 })
    const { page, errors } = await open('#/orders')
    await page.getByText('Moved back to review: \u2068مشتری انصراف داد\u2069').waitFor()
    await page.getByRole('button', { name: 'Retry all that are ready' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Retry orders: 2' }).waitFor()
    await dialog.getByText('2 will be paid, with receipts of 2,200 rials. The goods of').waitFor()
    expect(await dialog.getByRole('row').allTextContents()).toEqual([
      'OrderCustomerTotalResult',
      ' one apiسارا محمدی1,100Paid',
      ' two apiسارا محمدی1,100Paid',
      ' own apiMoved back to review: مشتری انصراف دادمشتری متفرقه2,200Left out',
    ])
    expect(await dialog.getByLabel('Retry order own').isChecked()).toBe(false)
    expect(await violationsOf(page)).toEqual([])
    await dialog.getByLabel('Retry order one').uncheck()
    await dialog.getByLabel('Retry order two').uncheck()
    await dialog.getByRole('button', { name: 'Retry' }).click()
    await dialog.getByText('Select at least one order').waitFor()
    await dialog.getByLabel('Retry order two').check()
    await dialog.getByText('1 will be paid, with receipts of 1,100 rials.').waitFor()
    await dialog.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('heading', { name: 'Retried: 1 paid, 0 invoiced, 0 not' }).waitFor()
    const statuses = await Promise.all(
      ['own', 'one', 'two'].map(async id => (await client().read(id)).body.status),
    )
    expect(statuses).toEqual(['needs_review', 'needs_review', 'paid'])
    expect(errors).toEqual([])
  })

  test('a long dialog opens at its top, and its title and buttons stay in view', async () => {
    for (let index = 0; index < 120; index += 1)
      await client().create(order(`b-${index}`, { items: [row('SKU-3', 1)] }))
    await client().product('SKU-3', { stock: 70 })
    const { page, errors } = await open('#/orders')
    const dialog = page.getByRole('dialog')
    const isSeen = (part: Locator) =>
      part.evaluate(element => {
        const { left, top, width, height } = element.getBoundingClientRect()
        const seen = element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2)
        return seen !== null && element.contains(seen)
      })
    const heading = dialog.getByRole('heading')
    const button = dialog.getByRole('button', { name: 'Retry' })
    const status = dialog.getByRole('status')
    for (const [width, height] of [
      [1360, 860],
      [320, 640],
    ] as const) {
      await page.setViewportSize({ width, height })
      await page.getByRole('button', { name: 'Retry all that are ready' }).click()
      await status.getByText('70 will be invoiced. 50 will stay in review, for the reason').waitFor()
      expect(await Promise.all([heading, status, button].map(isSeen))).toEqual([true, true, true])
      const last = dialog.getByLabel('Retry order b-119')
      await last.focus()
      expect(await Promise.all([heading, last, button].map(isSeen))).toEqual([true, true, true])
      await last.uncheck()
      await dialog.getByRole('heading', { name: 'Retry orders: 119' }).waitFor()
      expect(await violationsOf(page)).toEqual([])
      await page.keyboard.press('Escape')
      await dialog.getByRole('button', { name: 'Discard changes' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    expect(errors).toEqual([])
  })

  test('a bulk retry names the orders for which the stock does not suffice, and is limited to the filter of the list', async () => {
    for (const [id, source, quantity] of [
      ['one', 'shop', 2],
      ['two', 'shop', 3],
      ['three', 'shop', 1],
      ['other', 'api', 1],
    ] as const)
      await client().create(order(id, { source, ...SAFFRON, items: [row('SKU-3', quantity)] }))
    await client().product('SKU-3', { stock: 4 })
    const { page, errors } = await open('#/orders?source=shop')
    await page.getByRole('button', { name: 'Retry all that are ready' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Retry orders: 3' }).waitFor()
    const says = (text: string) => dialog.getByText(text).waitFor()
    await says(
      'Only orders that match the filter of the list: Store: shop. 2 will be paid, with receipts of 3,300 rials. 1 will stay in review, for the reason in the table. The goods',
    )
    const results = () => dialog.getByRole('row').locator('td:last-child').allTextContents()
    const short = (available: number) => `Insufficient stock: "SKU-3" needs 3, available ${available}`
    expect(await results()).toEqual(['Paid', short(2), 'Paid'])
    expect(await violationsOf(page)).toEqual([])
    // The second gets the goods of the first.
    await dialog.getByLabel('Retry order one').uncheck()
    await says('2 will be paid, with receipts of 4,400 rials. The goods')
    expect(await results()).toEqual(['Left out', 'Paid', 'Paid'])
    await dialog.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('heading', { name: 'Retried: 2 paid, 0 invoiced, 0 not' }).waitFor()
    expect(await client().stock('SKU-3')).toBe(0)
    expect((await client().read('other')).body.status).toBe('needs_review')
    expect(errors).toEqual([])
  })

  test('finds orders by status, store, date and customer, and sorts, totals and exports them', async () => {
    await client().create(order('first', { source: 'bulk', date: '2026-01-02' }))
    await client().create(order('one', { customer: { mobile: '09120000001', name: 'علی' } }))
    const { page } = await open('#/orders')
    const rows = page.locator('tbody').getByRole('row')
    const search = page.getByLabel('Search by order')
    const held = Promise.withResolvers<void>()
    await page.route('**/panel/sums?q=*', route => held.promise.then(() => route.continue()))
    await search.fill('علي')
    const found = await eventually(
      () => rows.allTextContents(),
      texts => texts.length === 1,
    )
    expect(found).toEqual([expect.stringContaining('علی')])
    held.resolve()
    await page.getByRole('link', { name: 'All 1' }).waitFor()

    await search.fill('')
    await page.getByLabel('Sort').selectOption('Earliest date first')
    await rows.first().getByText('first', { exact: true }).waitFor()
    await page.getByLabel('Last day').fill('2026-01-02')
    await page.getByRole('link', { name: 'All 1' }).waitFor()
    expect(await page.locator('.sums dd').allTextContents()).toEqual([
      '1',
      '2,000',
      '200',
      '2,200',
      '0',
      '0',
      '0',
      '200',
      '0',
      '2,200',
      '0',
      '0',
      '0',
    ])
    await page.getByLabel('Last day').fill('2026-13-02')
    await page.keyboard.press('Enter')
    await page
      .getByText(
        /"2026-13-02" is not a date: a year has only 12 months. Type year, month and day like \d{4}-\d\d-\d\d/,
      )
      .waitFor()
    await page.getByRole('link', { name: 'All 2' }).waitFor()
    await page.getByLabel('First day').fill('2026-01-03')
    await page.getByLabel('Last day').fill('2026-01-02')
    await page.getByText('The first day, 3 Jan 2026, is after the last day, 2 Jan 2026').waitFor()
    await page.getByLabel('First day').fill('')
    await page.getByRole('link', { name: 'All 2' }).waitFor()
    expect(page.url()).not.toMatch(/from|to=/)
    await page.getByLabel('Last day').fill('')
    await page.getByLabel('Last day').fill('2026-01-02')
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export CSV (for Excel)' }).click()
    expect((await download).url()).toContain('/panel/orders.csv?to=2026-01-02&sort=date')
    expect((await download).suggestedFilename()).toBe('orders-to-2026-01-02.csv')
    const byRow = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export invoice rows' }).click()
    expect((await byRow).suggestedFilename()).toBe('rows-to-2026-01-02.csv')
    await page.getByLabel('Store').selectOption('bulk')
    await page.getByRole('link', { name: 'first', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Paid 0' }).click()
    await page.getByText('No order matches').waitFor()
  })

  test('shows what is due of partly paid orders, and of every order in the list of amounts due', async () => {
    for (const id of ['1', '2', '3']) await client().create(order(id))
    await client().act('2', 'pay', { method: 'cash', amount: 500 })
    await client().act('3', 'return', { rows: [{ row: 1, quantity: 1 }] })
    const { page } = await open('#/orders')
    const parts = async () => page.locator('.orders .cause').allTextContents()
    await page.getByRole('link', { name: '3', exact: true }).waitFor()
    expect(await parts()).toEqual(['Due 1,100 · Returned 1,100', 'Due 1,700 · Received 500'])
    await page.getByLabel('Balance').selectOption('Due')
    await page.getByText('Due 2,200').waitFor()
    expect(await parts()).toEqual(['Due 1,100 · Returned 1,100', 'Due 1,700 · Received 500', 'Due 2,200'])
    const { page: persian } = await open('#/orders', { locale: 'fa-IR' })
    const line = persian.locator('.orders .cause', { hasText: 'برگشت' })
    // A middle dot would look like a zero.
    expect((await line.textContent())?.replace(/[\u2068\u2069]/g, '')).toMatch(/۱٬۱۰۰؛ .*۱٬۱۰۰$/)
  })

  test('the filter of stores shows their names on a phone', async () => {
    await client().create(order('1', { source: 'tea-and-coffee.example' }))
    const { page } = await open('#/orders', { locale: 'fa-IR', viewport: { width: 360, height: 760 } })
    await page.getByLabel('فروشگاه').waitFor()
    // The width of the filter, and the width that its longest name needs.
    const [width = 0, needed = 0] = await page.evaluate<number[]>(`
      [100, 'max-content'].map(width => {
        const select = document.querySelector('search select')
        if (width !== 100) select.style.width = width
        return select.offsetWidth
      })
    `)
    expect(width).toBeGreaterThanOrEqual(needed)
  })

  test('updates the list for many new orders with few requests, and Back restores the position', async () => {
    const { page } = await open('#/orders')
    let requests = 0
    page.on('request', request => {
      requests += Number(/\/panel\/(orders|sums)/.test(request.url()))
    })
    for (let index = 0; index < 60; index += 1) await client().create(order(`p-${index}`))
    await page.getByRole('link', { name: 'p-59', exact: true }).waitFor()
    expect(requests).toBeLessThan(30)

    const scrolled = () => page.evaluate<number>('Math.round(scrollY)')
    // The click scrolls to the link first.
    await page.evaluate("addEventListener('click', () => { place = scrollY }, { capture: true, once: true })")
    await page.getByRole('link', { name: 'p-15', exact: true }).click()
    await page.getByRole('heading', { name: 'Order p-15' }).waitFor()
    const place = await page.evaluate('Math.round(place)')
    expect(place).toBeGreaterThan(0)
    expect(await scrolled()).toBe(0)
    await page.goBack()
    await page.locator('a:focus', { hasText: 'p-15' }).waitFor()
    expect(await scrolled()).toBe(place)

    await page.getByRole('link', { name: 'Older' }).focus()
    // Scrolling may end after the link was followed.
    await page.evaluate('document.activeElement.click(); dispatchEvent(new Event("scrollend"))')
    await page.getByRole('link', { name: 'p-0', exact: true }).waitFor()
    expect(await page.locator('tbody').getByRole('row').count()).toBe(10)
    expect(await scrolled()).toBe(0)
  })

  test('a fiscal year is chosen with its days', async () => {
    await client().put('fiscal-years', {
      fiscalYears: [
        { from: '2025-03-21', to: '2026-03-20' },
        { from: '2027-01-01', to: '2027-12-31' },
      ],
    })
    await client().create(order('old', { date: '2025-03-21' }))
    await client().create(order('new', { date: '2027-01-01' }))
    for (const [locale, period, year] of [
      ['en-GB', 'Fiscal year', '2025–2026'],
      ['fa-IR', 'سال مالی', '۱۴۰۴'],
    ] as const) {
      const { page } = await open('#/orders', { locale })
      // The tax of a fiscal year after returns is the tax of its orders.
      const note = page.getByText(/^Returns count on the date of their order|به تاریخ سفارش آن حساب می‌شود/)
      expect(await note.getByRole('link').getAttribute('href')).toBe('#/documents?kind=return')
      await page.getByRole('link', { name: 'new', exact: true }).waitFor()
      await page.getByLabel(period).selectOption({ label: year })
      await page.getByRole('link', { name: 'new', exact: true }).waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'old', exact: true }).waitFor()
      expect(page.url()).toContain('from=2025-03-21&to=2026-03-20')
      await page.getByLabel(period).selectOption('/')
      await page.getByRole('link', { name: 'new', exact: true }).waitFor()
      expect(page.url()).not.toContain('from')
      await page.close()
    }
  })
}
