import { readFile } from 'node:fs/promises'
import * as v from 'valibot'

/** What the check needs to know about the accounting service. */
export type Accounting = {
  /** In percent. */
  taxRate: number
  pricesIncludeTax: boolean
  /** Orders without a mobile number are booked to the default customer. */
  hasDefaultCustomer: boolean
  /** The codes of its products; undefined if unknown, since the interface cannot list them. */
  skus: ReadonlySet<string> | undefined
}

const panelSettings = v.looseObject({
  taxRate: v.number(),
  pricesIncludeTax: v.boolean(),
  defaultCustomer: v.nullable(v.string()),
})
const panelProducts = v.looseObject({ products: v.array(v.looseObject({ sku: v.string() })) })

const panel = async (url: string, path: string): Promise<unknown> => {
  const target = new URL(`panel/${path}`, url.endsWith('/') ? url : `${url}/`)
  const response = await fetch(target, { signal: AbortSignal.timeout(10_000) }).catch(cause => {
    throw new Error(`Cannot reach the sandbox at ${url}: start it with npx relay sandbox`, { cause })
  })
  if (!response.ok)
    throw new Error(`Cannot read ${target}: answered ${response.status}; expected the address of a sandbox`)
  return response.json()
}

/** Reads the settings and products of a sandbox. */
export const sandboxAccounting = async (url: string): Promise<Accounting> => {
  const settings = v.parse(panelSettings, await panel(url, 'settings'))
  const { products } = v.parse(panelProducts, await panel(url, 'products'))
  const { taxRate, pricesIncludeTax, defaultCustomer } = settings
  return {
    taxRate,
    pricesIncludeTax,
    hasDefaultCustomer: defaultCustomer !== null,
    skus: new Set(products.map(({ sku }) => sku)),
  }
}

/**
 * Reads the product codes of an export: the first column of each line, separated by commas, semicolons or tabs. A
 * heading such as `sku` or `کد کالا` is skipped.
 */
export const exportedSkus = async (file: string): Promise<ReadonlySet<string>> => {
  const lines = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '').split(/\r?\n/)
  const codes = lines.map(line => (line.split(/[,;\t]/)[0] ?? '').replace(/^"(.*)"$/, '$1').trim())
  const isHeading = /^(sku|(product )?code|کد.*)$/i.test(codes[0] ?? '')
  return new Set(codes.slice(isHeading ? 1 : 0).filter(code => code !== ''))
}
