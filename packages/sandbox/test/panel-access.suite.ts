import { beforeAll, expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { focused, type OpenAt } from '@order-relay/test-support/browser.ts'
import type { Page } from 'playwright-core'
import { order, row, startReceiver, useSandbox } from './world.ts'

/** Every page, with text that only this page shows. */
const VIEWS = [
  ['#/orders', 'retried', 'retried'],
  ['#/orders?q=nothing', 'No order matches', 'سفارشی با این مشخصات نیست'],
  ['#/orders/review?source=api', 'Set stock and retry', 'ثبت موجودی و قطعی کردن'],
  ['#/orders/paid?source=api', 'Card reader', 'کارتخوان'],
  ['#/orders/refunded?source=api', 'Sales return 1', 'برگشت از فروش ⁨۱⁩'],
  ['#/orders/changed?source=api', 'Corrected', 'اصلاح شد'],
  ['#/orders/parts?source=api', 'Partial return', 'برگشت بخشی از فروش'],
  ['#/documents', 'Sums by account', 'جمع هر حساب'],
  ['#/documents?q=nothing', 'No document matches', 'سندی با این مشخصات نیست'],
  ['#/refused', 'Products that do not exist', 'علت رد'],
  ['#/products', 'Add product', 'افزودن کالا'],
  ['#/products/SKU-1', 'Adjust stock', 'تعدیل موجودی'],
  ['#/customers', 'E-mail', 'ایمیل'],
  ['#/webhooks', 'Registered addresses', 'نشانی‌های ثبت‌شده'],
  ['#/testing', 'Intentional faults', 'خطاهای عمدی'],
  ['#/settings', 'Fiscal years', 'سال‌های مالی'],
] as const

/** Words in Latin letters from stores and accountants: ids, codes, names and addresses. */
const GIVEN =
  /retried|changed|API|CSV|JSON|review|parts|paid|refunded|api|SKU|R-1|walk-in|bank-1|cash-1|https?|hook|t=\d+,v1=[\da-f]{64}|\b[\da-f-]{36}\b/g

/** Other words in Latin letters on a page or for screen readers, except for the choice of English. */
const latinWords = async (page: Page) => {
  const text = await page.evaluate<string>(`[
    document.title,
    document.body.innerText,
    ...[...document.querySelectorAll('*')].flatMap(each =>
      ['aria-label', 'title', 'placeholder', 'data-label'].map(name => each.localName !== 'time' && each.getAttribute(name))),
  ].filter(Boolean).join('\\n')`)
  const words = text.replace(GIVEN, '').match(/\p{Script=Latin}+/gu) ?? []
  return words.filter(word => word !== 'English')
}

const LONG = 'ن'.repeat(40)
/** All actions of the accountant, so that they are in the history. */
const CHANGES = [
  ['correct', { discount: 100 }],
  ['review', { error: 'کالای اشتباه' }],
  ['retry', {}],
  ['reverse-payment', {}],
  ['correct', { shipping: 90 }],
  ['return', { reason: 'مشتری منصرف شد' }],
  ['review', { error: 'کالای اشتباه' }],
  ['retry', {}],
] as const

const PAID = { payment: { method: 'card', reference: 'R-1' }, discount: 100, shipping: 50 }

const go = async (page: Page, hash: string, words: string) => {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
  await page.getByText(words).first().waitFor()
}

/** Tests that share a sandbox with one order of each kind, long names and amounts. */
export const accessTests = (openAt: OpenAt) => {
  const sandbox = useSandbox()
  beforeAll(async () => {
    const { create, register, retry, product, refund, post, put, act } = sandbox()
    const receiver = await startReceiver()
    await register(receiver.url)
    await create(order('paid', { ...PAID, customer: { mobile: '09120000001', name: LONG } }))
    await create(order('refunded', PAID))
    await refund('refunded', { reason: 'مشتری منصرف شد' })
    const short = [row('SKU-3', 1, 900_719_925_474_099)]
    await create(order('retried', { items: short }))
    await product('SKU-3', { stock: 1 })
    await retry('retried')
    await receiver.until(1)
    await receiver.close()
    await create(order('parts', { discount: 100, shipping: 50 }))
    await act('parts', 'pay', { method: 'cash', amount: 500 })
    await act('parts', 'return', { rows: [{ row: 1, quantity: 0.5 }] })
    await create(order('changed', PAID))
    for (const [action, body] of CHANGES) expect((await act('changed', action, body)).status).toBe(200)
    await put('seller', {
      name: 'فروشگاه نمونه',
      economicCode: '411111111111',
      nationalId: '10380284790',
      phone: '021',
    })
    await act('parts', 'repay', { method: 'transfer' })
    await create(order('9001', { items: [row('SKU-9', 1)] }))
    await create(order('review', { ...PAID, items: short }))
    // Shown on every page.
    await post('faults', { kind: 'slow', operation: 'removeWebhook', seconds: 3600 })
  })

  test.each(['en', 'fa-IR'])(
    'every page is accessible in %s, in light and dark mode, and fits a phone',
    async locale => {
      const isPersian = locale === 'fa-IR'
      // Without transitions, during which contrast would be measured.
      const { page, errors } = await openAt(sandbox().url, { locale, reducedMotion: 'reduce' })
      /** The problems of a page, including Latin words on Persian pages. */
      const wrong = async () => [...(await violationsOf(page)), ...(isPersian ? await latinWords(page) : [])]
      for (const [hash, words, persian] of VIEWS) {
        await go(page, hash, isPersian ? persian : words)
        const found = await wrong()
        await page.emulateMedia({ colorScheme: 'dark' })
        found.push(...(await violationsOf(page, ['color-contrast'])))
        await page.emulateMedia({ colorScheme: 'light' })
        await page.setViewportSize({ width: 320, height: 740 })
        const width = await page.evaluate('document.documentElement.scrollWidth')
        if (hash.includes('/review')) found.push(...(await violationsOf(page)))
        await page.setViewportSize({ width: 1280, height: 800 })
        expect({ hash, found, width }).toEqual({ hash, found: [], width: 320 })
      }
      for (const hash of ['#/orders/paid?source=api', '#/products', '#/settings']) {
        await go(page, hash, VIEWS.find(([each]) => each === hash)?.[isPersian ? 2 : 1] ?? '')
        for (const button of await page.locator('main button:not([type=submit], .small)').all()) {
          await button.click()
          await page.getByRole('dialog').waitFor()
          expect(await wrong()).toEqual([])
          await page.keyboard.press('Escape')
        }
      }
      expect(await page.locator('html').getAttribute('dir')).toBe(isPersian ? 'rtl' : 'ltr')
      expect(errors).toEqual([])
    },
  )

  test('prints only the invoice', async () => {
    const { page } = await openAt(`${sandbox().url}/#/orders/paid?source=api`)
    await page.getByRole('heading', { name: 'Invoice' }).waitFor()
    await page.emulateMedia({ media: 'print' })
    // A4 without margins.
    await page.setViewportSize({ width: 680, height: 1000 })

    expect(await page.getByRole('heading', { name: 'Invoice' }).isVisible()).toBe(true)
    expect(await page.getByRole('heading', { name: 'Receipt' }).isVisible()).toBe(false)
    for (const text of [
      ...['فروشگاه نمونه', 'All amounts are in rials.'],
      'In words: two thousand one hundred forty-five rials',
    ])
      expect([text, await page.getByText(text).isVisible()]).toEqual([text, true])
    expect(await page.getByText('Signature of the buyer').isVisible()).toBe(true)
    for (const hidden of ['nav', '.page-head', '.columns', '.live']) {
      expect([hidden, await page.locator(hidden).isVisible()]).toEqual([hidden, false])
    }
    const width = await page.evaluate<number>(
      'document.querySelector(".invoice-rows").getBoundingClientRect().right',
    )
    expect(width).toBeLessThanOrEqual(680)
  })

  test('prints a receipt alone', async () => {
    const { page } = await openAt(`${sandbox().url}/#/orders/paid?source=api`)
    await page.getByRole('heading', { name: 'Invoice' }).waitFor()
    await page.evaluate(
      'window.print = () => { window.printed = document.querySelector(".invoice").dataset.printed }',
    )
    await page.getByRole('button', { name: 'Print Receipt 1' }).click()
    expect(await page.evaluate('window.printed')).toBe('receipt-1')
    await page.emulateMedia({ media: 'print' })
    for (const text of [
      ...['Receipt 1', 'فروشگاه نمونه', 'Signature of the buyer'],
      ...[/^Sales invoice \d+ of .+, order paid$/, /^two thousand one hundred forty-five rials$/],
    ])
      expect([text, await page.locator('.invoice').getByText(text).first().isVisible()]).toEqual([text, true])
    for (const hidden of ['.invoice-rows', '.totals', '.in-words', '.document button'])
      expect([hidden, await page.locator(hidden).first().isVisible()]).toEqual([hidden, false])
    await page.evaluate('dispatchEvent(new Event("afterprint"))')
    await page.locator('.invoice-rows').waitFor()
    expect(await page.locator('[data-printed]').count()).toBe(0)
  })

  // Last: it finalizes the order in review.
  test('an order can be opened and finalized with the keyboard only', async () => {
    const { page, errors } = await openAt(sandbox().url)
    await page.getByText('review').first().waitFor()
    const press = (key: string) => page.keyboard.press(key)
    const tabTo = async (wanted: string) => {
      for (let presses = 0; presses < 40 && (await focused(page)) !== wanted; presses += 1) await press('Tab')
      expect(await focused(page)).toBe(wanted)
    }

    await press('Tab')
    expect(await focused(page)).toBe('skip')
    await press('Enter')
    expect(await focused(page)).toBe('main')
    await press('/')
    expect(await focused(page)).toMatch(/^Search by order/)
    await tabTo('changed')
    await press('ArrowUp')
    expect(await focused(page)).toBe('review')
    await press('Enter')
    await page.locator('h1:focus', { hasText: 'Order review' }).waitFor()
    expect(await page.title()).toBe('(1) Order review · Accounting sandbox')
    const orders = page.getByRole('link', { name: 'Orders 1 need review' })
    expect(await orders.getAttribute('aria-current')).toBe('page')
    await page.locator('[id="field-stock-SKU-3"]').waitFor()
    await tabTo('field-stock-SKU-3')
    await page.keyboard.type('4')
    await press('Enter')
    await page.locator('#outcome:focus').waitFor()
    await page.getByText('The order is now paid').waitFor()
    expect(errors).toEqual([])
  })
}
