import { expect, test } from '@jest/globals'
import { fill, type OpenAt } from '@order-relay/test-support/browser.ts'
import type { Locator } from 'playwright-core'
import { type Client, eventually, order, row, SHORT, upTo } from './world.ts'

/** Whether an element is in view and nothing covers it. */
const isUncovered = (shown: Locator) =>
  shown.evaluate(element => {
    const { x, y, width, height } = element.getBoundingClientRect()
    return [y + 2, y + height - 2].every(at =>
      element.contains(element.ownerDocument.elementFromPoint(x + width / 2, at)),
    )
  })

const becomesUncovered = (shown: Locator) =>
  eventually(
    () => isUncovered(shown),
    isIt => isIt,
  )

const SIZES = [
  { width: 1360, height: 860 },
  { width: 390, height: 844 },
]

/** Forms and dialogs, and what can be typed in them. */
export const formTests = (openAt: OpenAt, client: () => Client) => {
  const openOrder = (id: string, options?: Parameters<OpenAt>[1]) =>
    openAt(`${client().url}/#/orders/${id}?source=api`, { locale: 'fa-IR', ...options })

  test.each(SIZES)(
    'in a long dialog, title, outcome, calendar and buttons are in view at $width × $height',
    async viewport => {
      const items = upTo(6).map(index => row('SKU-1', 1, index * 1000))
      await client().create(order('1', { items }))
      const { page, errors } = await openOrder('1', { viewport })
      await page.getByRole('button', { name: 'اصلاح سفارش' }).click()
      const dialog = page.getByRole('dialog')
      const inView = [
        dialog.getByText(/^جمع کل جدید: .*۲۳٬۱۰۰/),
        dialog.getByRole('heading', { name: 'اصلاح سفارش' }),
        dialog.getByRole('button', { name: 'اصلاح سفارش' }),
      ]
      for (const shown of inView) await becomesUncovered(shown)
      await dialog.getByRole('button', { name: 'انتخاب از تقویم' }).click()
      await becomesUncovered(dialog.getByRole('button', { name: 'امروز' }))
      await page.keyboard.press('Escape')
      await dialog.getByLabel('علت').fill('x')
      for (const shown of inView) await becomesUncovered(shown)
      await page.keyboard.press('Escape')
      await becomesUncovered(dialog.getByRole('button', { name: 'ادامه ویرایش' }))
      await becomesUncovered(dialog.getByRole('button', { name: 'حذف تغییرات' }))
      expect(errors).toEqual([])
    },
  )

  test('a retry of many orders scrolls between its title and its result', async () => {
    for (const number of upTo(15)) await client().create(order(String(number), SHORT))
    await client().product('SKU-3', { stock: 12 })
    const { page } = await openAt(`${client().url}/#/orders`, { viewport: { width: 390, height: 844 } })
    await page.getByRole('button', { name: 'Retry all that are ready…' }).click()
    const dialog = page.getByRole('dialog')
    await becomesUncovered(dialog.getByRole('heading', { name: 'Retry orders: 15' }))
    await becomesUncovered(dialog.getByText('6 will be invoiced. 9 will stay in review'))
    await dialog.getByRole('checkbox').last().uncheck()
    await becomesUncovered(dialog.getByText('6 will be invoiced. 8 will stay in review'))
    await becomesUncovered(dialog.getByRole('heading', { name: 'Retry orders: 14' }))
    await fill(dialog, {}, 'Retry')
    await dialog.waitFor({ state: 'detached' })
  })
}
