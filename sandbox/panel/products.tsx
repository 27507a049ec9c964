import { ask } from '../../web/form.tsx'
import { decimal } from '../../web/format.ts'
import { toast } from '../../web/notices.ts'
import { Button, buttons, Chip, Code, type Column, Name, Table } from '../../web/pieces.tsx'
import { PageHead, page } from '../../web/shell.tsx'
import { type Answer, change, PRODUCTS } from './api.ts'

type Product = Answer<'Product'>

const STOCK = { name: 'stock', label: 'Stock', kind: 'number' } as const

/** @param product the one to change; none adds one */
const askForProduct = (product?: Product) =>
  ask({
    title: product === undefined ? 'Add a product' : `Edit ${product.sku}`,
    action: product === undefined ? 'Add' : 'Save',
    fields: [
      {
        ...{ name: 'sku', label: 'Code (SKU)', help: 'What stores send as the SKU of an item.' },
        ...{ value: product?.sku ?? '', readOnly: product !== undefined },
      },
      { name: 'name', label: 'Name', value: product?.name ?? '' },
      { ...STOCK, value: product?.stock ?? 0, autofocus: product !== undefined },
    ],
    submit: async values => {
      const [sku, name, stock] = [values.required('sku'), values.required('name'), values.number('stock')]
      const saved = await change<Product>('PUT', `products/${encodeURIComponent(sku)}`, { name, stock })
      toast(`Saved ${sku}: ${decimal(saved.stock)} in stock`)
    },
  })

const COLUMNS: Column<Product>[] = [
  { label: 'Code', cell: ({ sku }) => <Code>{sku}</Code> },
  { label: 'Name', cell: ({ name }) => <Name>{name}</Name> },
  {
    label: 'Stock',
    kind: 'number',
    cell: ({ stock }) => (
      <span>
        {stock <= 0 && <Chip tone="wait">None left</Chip>} {decimal(stock)}
      </span>
    ),
  },
  buttons<Product>('Edit', ({ sku }) => `Edit ${sku}`, askForProduct),
]

/** Products with their stock. */
export const Products = page(
  { title: () => 'Products', reads: () => ({ list: PRODUCTS }) },
  ({ list: { products } }) => (
    <>
      <PageHead title="Products">
        <Button kind="primary" onClick={() => askForProduct()}>
          Add product
        </Button>
      </PageHead>
      <Table caption="Products and stock" columns={COLUMNS} rows={products} keyOf={({ sku }) => sku} />
    </>
  ),
)
