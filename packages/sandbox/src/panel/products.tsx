import { ask } from '@order-relay/web/form.tsx'
import { decimal } from '@order-relay/web/format.ts'
import { toast } from '@order-relay/web/notices.ts'
import { Button, buttons, Chip, Code, type Column, Name, Table } from '@order-relay/web/pieces.tsx'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { change, PRODUCTS, type SchemaData } from './api.ts'
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
    ],
    submit: async values => {
      const [sku, name, stock] = [values.required('sku'), values.required('name'), values.number('stock')]
      const saved = await change<Product>('PUT', `products/${encodeURIComponent(sku)}`, { name, stock })
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
  buttons<Product>([t('Edit'), ({ sku }) => t('Edit {code}', { code: sku }), askForProduct]),
]

/** Products with their stock. */
export const Products = page(
  { title: () => t('Products'), reads: () => ({ list: PRODUCTS }) },
  ({ list: { products } }) => (
    <>
      <PageHead>
        <Button kind="primary" onClick={() => askForProduct()}>
          {t('Add product')}
        </Button>
      </PageHead>
      <Table caption={t('Products and stock')} columns={COLUMNS} rows={products} keyOf={({ sku }) => sku} />
    </>
  ),
)
