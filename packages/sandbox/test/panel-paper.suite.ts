import { expect, test } from '@jest/globals'
import type { OpenAt } from '@order-relay/test-support/browser.ts'
import type { Page } from 'playwright-core'
import { type Client, order, PAYMENT, row, SHORT, upTo } from './world.ts'

const LONG_AMOUNT = 1_234_567_890_123

/** The width of A4 without its margins, in pixels. */
const PAPER = { width: 718, height: 1000 }

const pagesOf = async (page: Page) =>
  (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type \/Page\b/g)?.length

/** The cells whose text is cut off or leaves the page, and the numbers that may wrap. */
const cutOffIn = (page: Page) =>
  page.locator('table :is(th, td):visible').evaluateAll((cells, width) => {
    const isCutOff = (cell: (typeof cells)[number]) => {
      const { left, right } = cell.getBoundingClientRect()
      return cell.scrollWidth > cell.clientWidth || left < -1 || right > width + 1
    }
    const mayWrap = (cell: (typeof cells)[number]) =>
      cell.matches('.number:not(thead *)') &&
      cell.ownerDocument.defaultView?.getComputedStyle(cell).whiteSpace !== 'nowrap'
    return cells.filter(cell => isCutOff(cell) || mayWrap(cell)).map(cell => cell.textContent)
  }, PAPER.width)

/** Invoices and lists on paper. */
export const paperTests = (openAt: OpenAt, client: () => Client) => {
  const open = async (hash: string, locale: string) => {
    const { page } = await openAt(`${client().url}/#/${hash}`, { locale, viewport: PAPER })
    await page.locator('table:visible').first().waitFor()
    await page.emulateMedia({ media: 'print' })
    return page
  }

  test.each(['fa-IR', 'en-US'])('amounts of 13 digits are printed in full in %s', async locale => {
    const { create, act, settings } = client()
    const items = [
      row('SKU-1', 1, LONG_AMOUNT),
      { ...row('SKU-2', 1, LONG_AMOUNT), discount: 123_456_789_012 },
    ]
    const long = { source: 'demo-shop', items, discount: LONG_AMOUNT - 1_000_000_000_000 }
    await create(
      order('1', { ...long, payment: { ...PAYMENT, reference: 'REFERENCE-1234567890-1234567890' } }),
    )
    await act('1', 'return?source=demo-shop', { rows: [{ row: 1, quantity: 1 }], reason: 'شکسته' })
    await settings({ pricesIncludeTax: true })
    await create(order('2', long))
    await create(order('3', { ...SHORT, source: 'demo-shop' }))
    for (const hash of ['orders/1?source=demo-shop', 'orders/2?source=demo-shop', 'orders', 'documents']) {
      const page = await open(hash, locale)
      expect([hash, await cutOffIn(page)]).toEqual([hash, []])
    }
  })

  test('an invoice of several pages has its sums once, and its number and the page numbers on each page', async () => {
    await client().create(order('1', { items: upTo(90).map(each => row('SKU-1', 1, each)) }))
    const page = await open('orders/1?source=api', 'fa-IR')
    expect(await pagesOf(page)).toBeGreaterThan(1)
    const styleOf = (name: string) =>
      page.evaluate<string>(`getComputedStyle(document.documentElement).getPropertyValue('${name}')`)
    expect(await page.evaluate('getComputedStyle(document.querySelector("tfoot")).display')).toBe(
      'table-row-group',
    )
    expect(await styleOf('--running-head')).toContain('فاکتور فروش شماره ۱')
    expect(await styleOf('--page-number')).toContain('counter(pages, persian)')
    await page.emulateMedia({ media: 'screen' })
    await page.getByRole('link', { name: 'سفارش‌ها' }).first().click()
    await page.locator('.orders').waitFor()
    expect(await styleOf('--running-head')).not.toContain('فاکتور')
  })

  test.each(['fa-IR', 'en-US'])(
    'an invoice of four rows with its settlement fits on one page in %s',
    async locale => {
      const { create, act, put } = client()
      const identity = { economicCode: '411111111111', nationalId: '10380284790', postalCode: '1234567890' }
      const address = 'تهران، خیابان ولیعصر، بالاتر از میدان ونک، کوچه سوم، پلاک ۱۲، واحد ۴'
      await put('seller', { name: 'فروشگاه نمونه', ...identity, address, phone: '021-88888888' })
      const items = [row('SKU-1', 4), row('SKU-2', 2), { ...row('SKU-1', 1), discount: 100 }, row('SKU-2', 1)]
      const customer = { mobile: '09123456789', name: 'سارا رضایی', email: 'sara@example.com' }
      await create(order('1', { items, customer, shipping: 500, discount: 50, payment: PAYMENT }))
      const [buyer] = await client().list('customers?q=09123456789')
      await put(`customers/${buyer?.code}`, { ...identity, address, phone: '021-88888888' })
      await act('1', 'return', { rows: [{ row: 1, quantity: 1 }] })
      await act('1', 'repay', { method: 'transfer', account: 'bank-1' })
      expect(await pagesOf(await open('orders/1?source=api', locale))).toBe(1)
    },
  )

  test.each([
    ['fa-IR', 'مانده ابتدای روز', 'مانده پایان روز'],
    ['en-US', 'Balance at the start of the day', 'Balance at the end of the day'],
  ])(
    'the sums of one day have the balances of that day, and no marker of a heading, in %s',
    async (locale, start, end) => {
      await client().create(order('1', { date: '2026-04-23', payment: { ...PAYMENT, date: '2026-04-23' } }))
      const page = await open('documents?from=2026-04-23&to=2026-04-23', locale)
      const sums = page.locator('.sums details')
      const labels = await sums.locator('table').first().locator('thead th').allTextContents()
      expect([labels[1], labels.at(-1)]).toEqual([start, end])
      const marker = await sums
        .locator('summary')
        .evaluate(summary => summary.ownerDocument.defaultView?.getComputedStyle(summary).listStyleType)
      expect(marker).toBe('none')
    },
  )

  test('the printed list of orders has title, seller, store, status, days and search', async () => {
    const { create, put, detail } = client()
    await put('seller', { name: 'فروشگاه نمونه' })
    for (const each of upTo(51))
      await create(order(`web ${each}`, { source: 'demo-shop', items: [row('SKU-1', 1)] }))
    const { date } = await detail('web 1', 'demo-shop')
    const day = new Intl.DateTimeFormat('fa-IR', { dateStyle: 'long' }).format(new Date(String(date)))
    const page = await open(`orders?source=demo-shop&status=invoiced&balance=due&q=web&from=${date}`, 'fa-IR')
    const paper = (await page.locator('main').innerText()).replace(/[\u2066-\u2069\u200e\u200f]/g, '')
    for (const text of [
      'فهرست سفارش‌ها',
      'فروشگاه نمونه',
      'demo-shop',
      'فاکتور شده',
      'مانده قابل دریافت',
      day,
      'web',
    ])
      expect(paper).toContain(text)
    expect(paper).toContain('این برگه فقط ۵۰ سفارش از این فهرست را دارد')
  })
}
