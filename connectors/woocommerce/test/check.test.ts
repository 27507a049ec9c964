import { describe, expect, test } from '@jest/globals'
import { startSandbox } from 'order-relay-sandbox'
import { sandboxAccounting } from '../check/accounting.ts'
import { type CheckReport, checkShop } from '../check/check.ts'
import { pageOf, sectionsOf } from '../check/report.ts'
import { type FakeShop, type FakeShopOptions, startFakeShop } from '../fake/shop.ts'
import { attentionTexts, CASES, caseText, causeText, LANGUAGES, rials } from '../lib/cases.ts'
import { readSettings, type Settings, settingsFile } from '../lib/settings.ts'
import { createShop } from '../lib/shop.ts'

const DAY = 86_400_000

/** Checks a fake shop with the orders that `prepare` creates, against a new sandbox. */
const checked = async (
  prepare: (shop: FakeShop) => unknown,
  {
    given = {},
    accounting = { pricesIncludeTax: true },
    ...options
  }: FakeShopOptions & { given?: Partial<Settings>; accounting?: Record<string, unknown> } = {},
): Promise<CheckReport> => {
  const sandbox = await startSandbox({ port: 0 })
  const fake = await startFakeShop(options)
  try {
    await fetch(`${sandbox.url}/panel/settings`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(accounting),
    })
    await prepare(fake)
    const { url, key, secret } = fake
    return await checkShop(createShop({ url, key, secret }), {
      url,
      given,
      accounting: await sandboxAccounting(sandbox.url),
      from: new Date(Date.now() - DAY),
      to: new Date(Date.now() + DAY),
    })
  } finally {
    await fake.close()
    await sandbox.close()
  }
}

const levelsOf = ({ findings }: CheckReport) =>
  Object.fromEntries(findings.map(({ code, level, count }) => [code, `${level} ${count}`]))

const taxed = { total: '100000', total_tax: '10000' }

describe('a check of a shop', () => {
  test('finds nothing to fix, and writes the settings that connect uses', async () => {
    const report = await checked(fake => {
      for (let index = 0; index < 101; index++) fake.create({ items: [{ sku: 'SKU-1', ...taxed }] })
      fake.create({ status: 'checkout-draft' })
    })
    expect(report).toMatchObject({
      orders: 102,
      invoices: 101,
      canConnect: true,
      differences: [],
    })
    expect(report.findings).toEqual([])
    expect(report.equal).toHaveLength(101)
    expect(report.equal[0]).toEqual({
      order: '1000',
      amount: '110,000 IRR',
      total: '110000',
      invoiceTotal: '110000',
      causes: [],
    })
    expect(report.total).toBe(String(101 * 110_000))
    expect(report.invoiceTotal).toBe(report.total)
    expect(report.payments).toContainEqual({
      gateway: 'zarinpal',
      title: 'ZARINPAL',
      method: 'online',
      orders: 101,
    })
    expect(readSettings(settingsFile(report.settings))).toEqual(report.settings)
  })

  test('lists the problems, most severe first', async () => {
    const report = await checked(
      fake => {
        fake.create({ items: [{ sku: null, name: 'Deleted', ...taxed }] })
        fake.create({ items: [{ sku: 'NEW-1', ...taxed }] })
        fake.create({ items: [{ sku: 'SKU-1', total: '100000' }], phone: '02112345678' })
        fake.create({ items: [{ sku: 'SKU-1', ...taxed }], total: '90000' })
        fake.create({ items: [{ sku: 'SKU-1', ...taxed }], phone: '' })
        fake.create({ status: 'wc-shipped' })
        const { id } = fake.create({ items: [{ sku: 'SKU-1', ...taxed }] })
        fake.refund(id, '50000')
        fake.addProduct({ id: 7, name: 'Shirt', sku: 'SHIRT', type: 'variable' }, [
          { id: 71, name: 'red', sku: 'SHIRT' },
          { id: 72, name: 'blue', sku: 'SKU-1' },
        ])
      },
      { accounting: { pricesIncludeTax: true, defaultCustomer: null } },
    )
    expect(levelsOf(report)).toEqual({
      no_sku: 'problem 1',
      unknown_sku: 'problem 1',
      shared_sku: 'problem 1',
      rows_and_total: 'problem 1',
      tax_differs: 'note 1',
      partial_refund: 'note 1',
      unmapped_status: 'note 1',
      no_customer: 'problem 2',
    })
    expect(report.canConnect).toBe(true)
    expect(report.differences).toHaveLength(5)
    expect(report.findings[0]?.level).toBe('problem')
    expect(report.findings.at(-1)?.level).toBe('note')
  })

  test('refuses to connect an accounting service whose prices exclude tax, and a currency without a factor', async () => {
    const withTax = await checked(fake => fake.create({ items: [{ sku: 'SKU-1', ...taxed }] }), {
      accounting: { pricesIncludeTax: false, taxRate: 10 },
    })
    expect(withTax).toMatchObject({ equal: [{ order: '1000' }], canConnect: false })
    expect(levelsOf(withTax)).toMatchObject({ prices_exclude_tax: 'stop 1' })
    expect(JSON.stringify(sectionsOf(withTax, 'en'))).not.toContain('(and')
    const inDollars = await checked(fake => fake.create(), { currency: 'USD' })
    expect(inDollars).toMatchObject({ equal: [], canConnect: false })
    expect(levelsOf(inDollars)).toEqual({ shop_currency: 'stop 1' })
  })

  test('lists an order in another currency with its amount and cause, and connects the shop', async () => {
    const report = await checked(fake => {
      fake.create({ items: [{ sku: 'SKU-1', ...taxed }] })
      fake.create({ currency: 'USD', items: [{ sku: 'SKU-1', total: '25' }] })
    })
    expect(report).toMatchObject({
      orders: 2,
      invoices: 1,
      equal: [{ order: '1000' }],
      total: '110000',
      canConnect: true,
    })
    expect(levelsOf(report)).toEqual({ currency: 'problem 1' })
    expect(report.findings[0]?.examples).toEqual(['1001: USD'])
    expect(report.differences).toEqual([{ order: '1001', amount: '25 USD', causes: ['currency'] }])
    expect(pageOf(report, 'en')).toContain('<td>25 USD</td>')
    expect(pageOf(report, 'fa')).toContain('<td><bdi>25 USD</bdi></td>')
  })

  test('lists each invoice beside the total of its order, in the currency of the shop and in rials', async () => {
    const report = await checked(
      fake => fake.create({ items: [{ sku: 'SKU-1', total: '1500', total_tax: '150' }] }),
      {
        currency: 'IRT',
      },
    )
    const equal = sectionsOf(report, 'en').find(({ heading }) => heading.startsWith('Invoices'))
    expect(equal?.table?.rows).toEqual([['1000', '16,500 (1,650 IRT)', '16,500']])
    expect(pageOf(report, 'fa')).toContain('(<bdi>1,650 IRT</bdi>)')
  })

  test('gives a different tax rate as the cause of a different total', async () => {
    const report = await checked(fake => fake.create({ items: [{ sku: 'SKU-1', ...taxed }] }), {
      accounting: { pricesIncludeTax: false, taxRate: 9 },
    })
    expect(report.differences).toMatchObject([
      { total: '110000', invoiceTotal: '109000', causes: ['tax_differs'] },
    ])
  })

  test.each<['included' | 'excluded' | 'off', string]>([
    ['included', 'prices include tax'],
    ['excluded', 'prices exclude tax'],
    ['off', 'taxes are turned off'],
  ])("names the shop's tax mode (%s) beside the mode of the accounting service", async (taxes, words) => {
    const accounting = { pricesIncludeTax: true, taxRate: 9 }
    const report = await checked(() => undefined, { taxes, accounting })
    expect(report.tax).toEqual({ shop: taxes, accounting: 'included', rate: 9 })
    const section = sectionsOf(report, 'en').find(({ heading }) => heading === 'Tax')
    expect(section?.table?.rows).toEqual([[words, 'prices include tax, 9%']])
  })

  test('sends the invoice of an order with a landline number to the default customer', async () => {
    const report = await checked(fake =>
      fake.create({ phone: '02112345678', items: [{ sku: 'SKU-1', ...taxed }] }),
    )
    expect(report).toMatchObject({ equal: [{ order: '1000' }], differences: [] })
    expect(levelsOf(report)).toEqual({ phone_omitted: 'note 1' })
  })

  test('reads every page of orders while new orders arrive', async () => {
    const report = await checked(fake => {
      for (let index = 0; index < 250; index++) fake.create({ items: [{ sku: 'SKU-1', ...taxed }] })
    })
    expect(report.orders).toBe(250)
  })
})

describe('a report', () => {
  test.each(LANGUAGES)(
    'has all words in %s, and the page escapes what comes from the shop',
    async language => {
      const report = await checked(fake => fake.create({ items: [{ sku: '<b>', ...taxed }] }))
      const texts = JSON.stringify(sectionsOf(report, language))
      expect(texts).not.toMatch(/undefined|\{\w+\}/)
      const page = pageOf(report, language)
      expect(page).toContain(`lang="${language}"`)
      expect(page).toContain('&#60;b&#62;')
      expect(page).not.toContain('<b>')
    },
  )

  test.each(Object.entries(CASES))('has a problem and an action for %s', (_, texts) => {
    expect(texts.en).toMatch(/^[A-Z][^.]*\. [A-Z][^.]*\.$/)
    expect(texts.fa).toMatch(/^[\u0600-\u06ff][^.]*\. [\u0600-\u06ff][^.]*\.$/)
  })

  test('inserts the details after the first sentence, and amounts with their unit', () => {
    expect(caseText('no_sku', 'Hat, Shirt', 'en')).toBe(
      'A product has no SKU (Hat, Shirt). Enter its code from the accounting service as the SKU.',
    )
    expect(causeText('no_sku', 'en')).toBe('A product has no SKU.')
    expect(attentionTexts({ code: 'rows_and_total', detail: '-1' }).en).toMatch(/total \(-1 rial\)\. Open/)
    expect(attentionTexts({ code: 'edited', detail: '0a1b2c' }).en).not.toContain('0a1b2c')
    expect([rials('1', 'en'), rials('5000', 'en'), rials('5000', 'fa')]).toEqual([
      ...['1 rial', '5,000 rials', '۵٬۰۰۰ ریال'],
    ])
  })
})

test('the error about an invalid settings file contains the field and its value', () => {
  const text = 'source: shop\nshop: https://shop.example\ncurrency: USD\n'
  expect(() => readSettings(text)).toThrow('currency is "USD": must be one of IRR, IRT, IRHR, IRHT')
})

test('the check reports a shop that it cannot read', async () => {
  const fake = await startFakeShop()
  const { url, key, secret } = fake
  const settings = () => createShop({ url, key, secret }).gateways()
  await expect(createShop({ url, key, secret: 'wrong' }).gateways()).rejects.toMatchObject({ status: 401 })
  fake.setMaintenance(true)
  await expect(settings()).rejects.toMatchObject({ status: 503, retryAfter: 600 })
  await fake.close()
  await expect(settings()).rejects.toThrow('Cannot reach the shop')
})
