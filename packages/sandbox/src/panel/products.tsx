import { latinDigits } from '@order-relay/web/calendar.ts'
import { ask } from '@order-relay/web/dialog.tsx'
import { SearchBox } from '@order-relay/web/filters.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { decimal } from '@order-relay/web/format.ts'
import { toast } from '@order-relay/web/notices.ts'
import {
  Button,
  buttons,
  Chip,
  Code,
  type Column,
  Empty,
  LinkButton,
  Name,
  Table,
} from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { productChange } from '../panel-requests.ts'
import { change, productsOf, type SchemaData } from './api.ts'
import { issuesOf } from './issues.ts'
import { t } from './persian.ts'
import { changedIn } from './pieces.tsx'

type Product = SchemaData<'Product'>

const STOCK = { name: 'stock', label: t('Stock'), kind: 'number' } as const

/** @param hasCode whether the code is given: a typed one has Latin digits, because stores rarely send others */
const productOf = ({ required, number, rials, text }: Values, hasCode: boolean) => ({
  sku: hasCode ? required('sku') : latinDigits(required('sku')),
  product: {
    name: required('name'),
    stock: number('stock'),
    price: text('price') === '' ? null : rials('price'),
    ...(text('unit') !== '' && { unit: text('unit') }),
  },
})

type Change = { title: string; action: string; product: Product; hasCode: boolean; isNew?: boolean }

const askFor = ({ title, action, product, hasCode, isNew = false }: Change) =>
  ask({
    title,
    action,
    fields: [
      {
        name: 'sku',
        label: t('Code (SKU)'),
        help: t('What stores send as the SKU of an item. Persian digits are saved as Latin ones.'),
        value: product.sku,
        readOnly: hasCode,
      },
      { name: 'name', label: t('Name'), value: product.name },
      { ...STOCK, value: product.stock, autofocus: hasCode },
      {
        name: 'unit',
        label: t('Unit'),
        value: product.unit,
        help: t('How invoices count this product, for example in kilograms.'),
      },
      {
        name: 'price',
        label: t('Price in rials'),
        kind: 'rials',
        value: product.price ?? '',
        help: t('An optional list price for corrections; orders have their own prices.'),
      },
    ],
    check: values => issuesOf(productChange, productOf(values, hasCode).product),
    submit: async values => {
      const { sku, product: all } = productOf(values, hasCode)
      const path = `products/${encodeURIComponent(sku)}${isNew ? '?new=true' : ''}`
      const saved = await change<Product>('PUT', path, isNew ? all : changedIn(all, product))
      toast(t('Saved {code}: {stock} in stock', { code: sku, stock: decimal(saved.stock) }))
    },
  })

const NEW: Product = { sku: '', name: '', stock: 0, price: null, unit: '' }

const askForProduct = (product: Product) =>
  askFor({ title: t('Edit {code}', { code: product.sku }), action: t('Save'), product, hasCode: true })

/** Stores may have prices with fractions of a rial, list prices have none. */
const listPriceOf = ({ unit_price: price }: { unit_price: number }) =>
  Number.isInteger(price) ? price : null

/** @param item of an order that was refused without the product */
export const askToAddProduct = (item?: { sku: string; name: string; unit_price: number }) =>
  askFor({
    title: t('Add a product'),
    action: t('Add'),
    hasCode: item !== undefined,
    isNew: true,
    product: item === undefined ? NEW : { ...NEW, sku: item.sku, name: item.name, price: listPriceOf(item) },
  })

const COLUMNS: Column<Product>[] = [
  {
    label: t('Code'),
    kind: 'breaks',
    cell: ({ sku }) => (
      <a href={linkTo(['products', sku])}>
        <Code>{sku}</Code>
      </a>
    ),
  },
  { label: t('Name'), kind: 'breaks', cell: ({ name }) => <Name>{name}</Name> },
  {
    label: t('Stock'),
    kind: 'number',
    cell: ({ stock }) => (
      <span>
        {stock <= 0 && <Chip tone="wait">{t('Out of stock')}</Chip>} {decimal(stock)}
      </span>
    ),
  },
  { label: t('Unit'), kind: 'breaks', cell: ({ unit }) => <Name>{unit}</Name> },
  {
    label: t('Price'),
    kind: 'number',
    cell: ({ price }) => (price === null ? <span class="none">–</span> : decimal(price)),
  },
  buttons<Product>([t('Edit'), ({ sku }) => t('Edit {code}', { code: sku }), askForProduct]),
]

/** Products with their stock and price. */
export const Products = page(
  { title: () => t('Products'), reads: ({ query }) => ({ list: productsOf({ q: query.get('q') }) }) },
  ({ list: { products } }) => (
    <>
      <PageHead>
        <search data-keeps-focus>
          <SearchBox label={t('Search by name or code')} placeholder={t('Search products')} />
        </search>
        <Button kind="primary" onClick={() => askToAddProduct()}>
          {t('Add product')}
        </Button>
      </PageHead>
      <Table caption={t('Products and stock')} columns={COLUMNS} rows={products} keyOf={({ sku }) => sku}>
        <Empty title={t('No product matches')}>
          <LinkButton href={linkTo(['products'])}>{t('Show all products')}</LinkButton>
        </Empty>
      </Table>
    </>
  ),
)
