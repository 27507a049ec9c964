// What keeps an order in review, told from the state of the service rather than from the words of its error.

/** @import { Account, OrderDetail, Product, Settings } from './types.d.ts' */

import { add, decimalText, isLess, parseDecimal } from './decimal.js'

/** @typedef {{ sku: string, name: string, needed: string, stock: number }} Shortage */
/** @typedef {{ shortages: Shortage[], finalizationOff: boolean, accountMissing: boolean }} Causes */

const ZERO = { digits: 0n, scale: 0 }

/**
 * How much of each sku an order takes, rows of the same sku together.
 *
 * @param {OrderDetail} order
 */
const needsOf = order => {
  /** @type {Map<string, { name: string, needed: import('./decimal.js').Decimal }>} */
  const needs = new Map()
  for (const { sku, name, quantity } of order.rows) {
    if (sku === null) continue
    const before = needs.get(sku)?.needed ?? ZERO
    needs.set(sku, { name, needed: add(before, parseDecimal(quantity) ?? ZERO) })
  }
  return needs
}

/** @param {OrderDetail} order @param {Product[]} products @returns {Shortage[]} */
const shortagesOf = (order, products) => {
  const stocks = new Map(products.map(({ sku, stock }) => [sku, stock]))
  return [...needsOf(order)].flatMap(([sku, { name, needed }]) => {
    const stock = stocks.get(sku) ?? 0
    return isLess(parseDecimal(stock) ?? ZERO, needed)
      ? [{ sku, name, needed: decimalText(needed), stock }]
      : []
  })
}

/**
 * The usual causes of `needs_review` (spec: States and transitions) that hold for an order now.
 *
 * @param {OrderDetail} order
 * @param {{ products: Product[], settings: Settings, accounts: Account[] }} service
 * @returns {Causes}
 */
export const causesOf = (order, { products, settings }) => ({
  shortages: shortagesOf(order, products),
  finalizationOff: !settings.automaticFinalization,
  accountMissing: order.held_payment !== null && settings.orderPaymentReceivingAccount === null,
})

/** @param {Causes} causes */
export const isMended = ({ shortages, finalizationOff, accountMissing }) =>
  shortages.length === 0 && !finalizationOff && !accountMissing
