import { SearchBox } from '@order-relay/web/filters.tsx'
import { ask } from '@order-relay/web/form.tsx'
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
import { change, productsOf, type SchemaData } from './api.ts'
import { t } from './persian.ts'

type Product = SchemaData<'Product'>

const STOCK = { name: 'stock', label: t('Stock'), kind: 'number' } as const

/** @param product the one to change; none adds one */
const askForProduct = (product?: Product) =>
  ask({
    title: product === undefined ? t('Add a product') : t('Edit {code}', { code: product.sku }),
    action: product === undefined ? t('Add') : t('Save'),
    fields: [
      {
        ...{ name: 'sku', label: t('Code (SKU)'), help: t('What stores send as the SKU of an item.') },
        ...{ value: product?.sku ?? '', readOnly: product !== undefined },
      },
      { name: 'name', label: t('Name'), value: product?.name ?? '' },
      { ...STOCK, value: product?.stock ?? 0, autofocus: product !== undefined },
      {
        ...{ name: 'price', label: t('Price in rials'), kind: 'number', value: product?.price ?? '' },
        help: t('An optional list price for corrections; orders have their own prices.'),
      },
    ],
    submit: async values => {
      const [sku, name, stock] = [values.required('sku'), values.required('name'), values.number('stock')]
      const price = values.text('price') === '' ? null : values.number('price')
      const path = `products/${encodeURIComponent(sku)}`
      const saved = await change<Product>('PUT', path, { name, stock, price })
      toast(t('Saved {code}: {stock} in stock', { code: sku, stock: decimal(saved.stock) }))
    },
  })

const COLUMNS: Column<Product>[] = [
  { label: t('Code'), kind: 'breaks', cell: ({ sku }) => <Code>{sku}</Code> },
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
        <Button kind="primary" onClick={() => askForProduct()}>
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
