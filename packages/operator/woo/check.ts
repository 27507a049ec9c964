import { writeFile } from 'node:fs/promises'
import {
  type Accounting,
  exportedSkus,
  sandboxAccounting,
} from '@order-relay/woocommerce/check/accounting.ts'
import { type CheckReport, checkShop } from '@order-relay/woocommerce/check/check.ts'
import { pageOf, type Section, sectionsOf } from '@order-relay/woocommerce/check/report.ts'
import type { Language } from '@order-relay/woocommerce/lib/cases.ts'
import { readSettings, type Settings, settingsFile } from '@order-relay/woocommerce/lib/settings.ts'
import { createShop, type Shop } from '@order-relay/woocommerce/lib/shop.ts'
import type { Context } from '../core/context.ts'
import { cannot, messageOf, usageError } from '../core/errors.ts'
import { lines, type Report, table } from '../core/output.ts'
import { progress, readInput, readSecret } from '../core/terminal.ts'

export const KEY_VARIABLE = 'WOO_KEY'

/** The shop's address: HTTPS, or HTTP on this machine. */
const shopUrl = (text: string): string => {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`)
  const isLocal = url?.hostname === '127.0.0.1' || url?.hostname === 'localhost'
  if (url === null || (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)))
    throw usageError(
      'read the address of the shop',
      `it is "${text}"`,
      'expected one such as https://shop.example',
    )
  return url.href
}

/** Connects to a shop with the key of the variable, of standard input, or of a prompt. */
export const openShop = async (
  { terminal }: Pick<Context, 'terminal'>,
  address: string,
): Promise<{ shop: Shop; url: string; key: string; secret: string }> => {
  const url = shopUrl(address)
  const given = terminal.environment[KEY_VARIABLE] ?? (await readSecret(terminal, "the shop's key"))
  const [key = '', secret = ''] = given.split(':')
  if (key === '' || secret === '')
    throw cannot(
      "read the shop's key",
      'it is not a consumer key and secret, ck_…:cs_…',
      'create one in WooCommerce, Settings, Advanced, REST API',
    )
  return { shop: createShop({ url, key, secret }), url, key, secret }
}

type Given = {
  accounting?: string | undefined
  products?: string | undefined
  taxRate?: number | undefined
  pricesExcludeTax?: boolean | undefined
  defaultCustomer: boolean
}

/** The settings of the accounting service, from a sandbox or the options. */
const accountingOf = async (given: Given): Promise<Accounting> => {
  if (given.accounting !== undefined)
    return sandboxAccounting(given.accounting).catch(error => {
      throw cannot('read the settings of the accounting service', messageOf(error))
    })
  if (given.taxRate === undefined) {
    const remedy = "pass --tax-rate <percent>, or a sandbox's address with --accounting"
    throw usageError('check the shop', 'the tax rate of the accounting service is unknown', remedy)
  }
  const { products } = given
  return {
    taxRate: given.taxRate,
    pricesIncludeTax: given.pricesExcludeTax !== true,
    hasDefaultCustomer: given.defaultCustomer,
    skus:
      products === undefined
        ? undefined
        : await exportedSkus(products).catch(error => {
            throw cannot(`read "${products}"`, messageOf(error))
          }),
  }
}

const textOf = ({ heading, paragraphs = [], table: cells, listing }: Section): string =>
  lines(
    heading,
    '-'.repeat([...heading].length),
    // The direction mark before a negative number would be printed as an escape.
    cells !== undefined &&
      table(
        cells.headings,
        cells.rows.map(row => row.map(cell => cell.replaceAll('\u200e', ''))),
      ),
    paragraphs,
    listing === undefined ? [] : [listing.trimEnd()],
    '',
  )

export type CheckOptions = Given & {
  since: Date
  until?: Date | undefined
  settings?: string | undefined
  acceptDifferences?: boolean | undefined
  page?: string | undefined
  save?: string | undefined
  language: Language
}

/** @throws Failure if the file cannot be read, or is not valid */
export const settingsIn = async (file: string): Promise<Settings> => {
  const text = (await readInput(file)).toString()
  try {
    return readSettings(text)
  } catch (error) {
    throw cannot(`use "${file}"`, messageOf(error))
  }
}

/** `relay woo check`: what would become of a shop's orders. Reads only. */
export const check = async (context: Context, address: string, options: CheckOptions): Promise<Report> => {
  const { since: from, until: to = new Date(), page, save, language } = options
  const accounting = await accountingOf(options)
  const given = options.settings === undefined ? {} : await settingsIn(options.settings)
  const { shop, url } = await openShop(context, address)
  using reading = progress(context.terminal, 'orders read')
  const report = await checkShop(shop, {
    url,
    accounting,
    from,
    to,
    given,
    onOrder: () => reading.advance(),
  })
  if (page !== undefined) await writeFile(page, pageOf(report, language))
  if (save !== undefined) await writeFile(save, settingsFile(report.settings))
  return {
    data: report,
    text: lines(
      sectionsOf(report, language).map(textOf),
      page !== undefined && `The page is in ${page}.`,
      save !== undefined && `The settings are in ${save}.`,
    ).trimEnd(),
    ok: isFine(report, options.acceptDifferences),
  }
}

/** Whether the shop can be connected and every order becomes an invoice of the same total. */
const isFine = ({ findings, differences }: CheckReport, acceptsDifferences = false) =>
  !findings.some(
    ({ code, level }) => level === 'stop' && !(acceptsDifferences && code === 'prices_exclude_tax'),
  ) &&
  (differences.length === 0 || acceptsDifferences)
