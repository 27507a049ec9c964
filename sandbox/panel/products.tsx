import { ask } from '../../web/form.tsx'
import { decimal } from '../../web/format.ts'
import { toast } from '../../web/notices.ts'
import { Button, buttons, Chip, Code, type Column, Name, Table } from '../../web/pieces.tsx'
import { PageHead, page } from '../../web/shell.tsx'
import { type Answer, change, PRODUCTS } from './api.ts'

type Product = Answer<'Product'>

const putProduct = (sku: string, product: object) =>
  change<Product>('PUT', `products/${encodeURIComponent(sku)}`, product)

const addProduct = () =>
  ask({
    title: 'Add a product',
    action: 'Add',
    fields: [
      { name: 'sku', label: 'Code (SKU)', help: 'What stores send as the SKU of an item.' },
      { name: 'name', label: 'Name' },
      { name: 'stock', label: 'Stock', kind: 'number', value: 0 },
    ],
    submit: async values => {
      const sku = values.required('sku')
      const { name } = await putProduct(sku, {
        name: values.text('name') || sku,
        stock: values.number('stock'),
      })
      toast(`Added ${name}`)
    },
  })

const editProduct = ({ sku, name, stock }: Product) =>
  ask({
    title: `Edit ${sku}`,
    action: 'Save',
    fields: [
      { name: 'name', label: 'Name', value: name },
      { name: 'stock', label: 'Stock', kind: 'number', value: stock, autofocus: true },
    ],
    submit: async values => {
      const saved = await putProduct(sku, { name: values.required('name'), stock: values.number('stock') })
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
  buttons('Edit', ({ sku }) => `Edit ${sku}`, editProduct),
]

/** Products with their stock. */
export const Products = page(
  { title: () => 'Products', reads: () => ({ list: PRODUCTS }) },
  ({ list: { products } }) => (
    <>
      <PageHead title="Products">
        <Button kind="primary" onClick={addProduct}>
          Add product
        </Button>
      </PageHead>
      <Table caption="Products and stock" columns={COLUMNS} rows={products} keyOf={({ sku }) => sku} />
    </>
  ),
)
