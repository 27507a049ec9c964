/** @import { Context, Product, View } from '../types.d.ts' */

import { getProducts, putProduct } from '../api.js'
import { byId, h } from '../dom.js'
import { ask, field, onSubmit, requireNumber, requireText, textOf } from '../form.js'
import { decimal } from '../format.js'
import { toast } from '../notices.js'
import { cell, empty, name, pageHead, table } from '../pieces.js'

/**
 * The product being edited in place, by its sku.
 *
 * @type {string | undefined}
 */
let editing

/** @param {string} sku */
const editButtonId = sku => `edit-${sku}`

/** @param {Context} context @param {Product} product */
const startEditing = (context, product) => {
  editing = product.sku
  context.redraw()
  const stock = byId('editing-stock')
  if (stock instanceof HTMLInputElement) {
    stock.focus()
    stock.select()
  }
}

/** @param {Context} context @param {string} sku */
const stopEditing = (context, sku) => {
  editing = undefined
  context.redraw()
  byId(editButtonId(sku)).focus()
}

/** @param {Product} product @param {Context} context */
const shownRow = (product, context) =>
  h(
    'tr',
    { role: 'row', 'data-key': product.sku },
    h('th', { role: 'rowheader', scope: 'row', class: 'code' }, name(product.sku)),
    cell('Name', name(product.name), 'cell-name'),
    cell(
      'Stock',
      h(
        'span',
        {},
        product.stock <= 0 && [h('span', { class: 'chip chip-needs_review' }, 'None left'), ' '],
        decimal(product.stock),
      ),
      'number',
    ),
    cell(
      'Actions',
      h(
        'button',
        {
          type: 'button',
          class: 'button small',
          id: editButtonId(product.sku),
          'aria-label': `Edit ${product.sku}`,
          onclick: () => startEditing(context, product),
        },
        'Edit',
      ),
      'cell-actions',
    ),
  )

/** @param {Product} product @param {Context} context */
const editedRow = (product, context) => {
  const save = onSubmit(async form => {
    const saved = await putProduct(product.sku, {
      name: requireText(form, 'name', 'a name'),
      stock: requireNumber(form, 'stock', 'the stock'),
    })
    await context.reload()
    stopEditing(context, product.sku)
    toast(`Saved ${saved.sku}: ${decimal(saved.stock)} in stock`)
  })
  const onkeydown = (/** @type {Event} */ event) => {
    if (event instanceof KeyboardEvent && event.key === 'Escape') stopEditing(context, product.sku)
  }
  return h(
    'tr',
    { role: 'row', 'data-key': `${product.sku}/edit`, class: 'editing' },
    h('th', { role: 'rowheader', scope: 'row', class: 'code' }, name(product.sku)),
    h(
      'td',
      { role: 'cell', colspan: 3 },
      h(
        'form',
        {
          class: 'inline-form',
          novalidate: true,
          onsubmit: save,
          onkeydown,
          'aria-label': `Edit ${product.sku}`,
        },
        field({ id: 'editing-name', label: 'Name' }, attributes =>
          h('input', { ...attributes, name: 'name', dir: 'auto', autocomplete: 'off', value: product.name }),
        ),
        field({ id: 'editing-stock', label: 'Stock', kind: 'narrow' }, attributes =>
          h('input', {
            ...attributes,
            name: 'stock',
            inputmode: 'decimal',
            autocomplete: 'off',
            value: product.stock,
          }),
        ),
        h(
          'div',
          { class: 'actions' },
          h('button', { type: 'submit', class: 'button primary' }, 'Save'),
          h(
            'button',
            { type: 'button', class: 'button', onclick: () => stopEditing(context, product.sku) },
            'Cancel',
          ),
        ),
        h('p', { class: 'form-error', role: 'alert' }),
      ),
    ),
  )
}

/** @param {Context} context */
const addProduct = context =>
  ask({
    title: 'Add a product',
    action: 'Add',
    fields: [
      field(
        { id: 'add-sku', label: 'Code (sku)', help: 'What stores send as the sku of an item.' },
        attributes => h('input', { ...attributes, name: 'sku', autocomplete: 'off' }),
      ),
      field({ id: 'add-name', label: 'Name' }, attributes =>
        h('input', { ...attributes, name: 'name', dir: 'auto', autocomplete: 'off' }),
      ),
      field({ id: 'add-stock', label: 'Stock' }, attributes =>
        h('input', { ...attributes, name: 'stock', inputmode: 'decimal', autocomplete: 'off', value: 0 }),
      ),
    ],
    submit: async form => {
      const sku = requireText(form, 'sku', 'a code')
      const product = {
        name: textOf(form, 'name') || sku,
        stock: requireNumber(form, 'stock', 'the stock'),
      }
      await putProduct(sku, product)
      await context.reload()
      toast(`Added ${sku}`)
    },
  })

/**
 * Products with their stock, edited in place.
 *
 * @type {View<Product[]>}
 */
export const productsView = {
  depends: ['product'],
  title: () => 'Products',
  enter: () => {
    editing = undefined
  },
  load: getProducts,
  draw: (products, context) => [
    pageHead(
      'Products',
      h(
        'button',
        { type: 'button', class: 'button primary', onclick: () => addProduct(context) },
        'Add product',
      ),
    ),
    products.length === 0
      ? empty(
          'No products yet',
          h('p', {}, 'Stores can only sell what is listed here: an order with another sku is refused.'),
        )
      : table({
          caption: 'Products and stock',
          kind: 'stacks',
          columns: [
            { label: 'Code' },
            { label: 'Name' },
            { label: 'Stock', kind: 'number' },
            { label: 'Actions' },
          ],
          rows: products.map(product =>
            product.sku === editing ? editedRow(product, context) : shownRow(product, context),
          ),
        }),
  ],
}
