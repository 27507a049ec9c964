import { shown } from '../decimal.ts'
import type { SpreadsheetQuery } from '../panel-queries.ts'
import { sum } from '../pricing.ts'
import type { Store } from '../store/open.ts'
import type { ListedOrder } from '../store/orders.ts'
import { rowDiscountsOf, rowsOf } from './documents.ts'
import { type Cell, dayIn, netDiscountOf, partsOfExport, rowOf } from './export.ts'
import { LABELS } from './orders.ts'

/** The columns with their Persian names. */
const COLUMNS = {
  invoice_number: 'شماره فاکتور',
  date: 'تاریخ',
  source: 'فروشگاه',
  external_id: 'شماره سفارش',
  status: 'وضعیت',
  customer_name: 'نام خریدار',
  mobile: 'موبایل',
  national_id: 'شناسه ملی / کد ملی',
  economic_code: 'کد اقتصادی',
  postal_code: 'کد پستی',
  address: 'نشانی',
  row: 'ردیف',
  sku: 'کد کالا',
  name: 'شرح',
  quantity: 'مقدار',
  unit: 'واحد',
  unit_price: 'مبلغ واحد بر مبنای قیمت سفارش (ریال)',
  gross: 'مبلغ کل بر مبنای قیمت سفارش (ریال)',
  row_discount: 'تخفیف ردیف بر مبنای قیمت سفارش (ریال)',
  order_discount: 'سهم از تخفیف سفارش بر مبنای قیمت سفارش (ریال)',
  net: 'مبلغ خالص (ریال)',
  tax_rate: 'نرخ مالیات و عوارض (درصد)',
  tax: 'مالیات و عوارض (ریال)',
  total: 'جمع کل (ریال)',
  returned: 'مقدار برگشتی',
  // At the end, since scripts read the other columns by position.
  prices_include_tax: 'قیمت‌های سفارش شامل مالیات',
  net_discount: 'تخفیف بدون مالیات (ریال)',
}

const INCLUDED = { en: ['no', 'yes'], fa: ['خیر', 'بله'] } as const

/** The rows of a finalized invoice; a draft has none, since it is not a document yet. */
const linesOf = (order: ListedOrder, { language, calendar }: SpreadsheetQuery, store: Store) => {
  if (order.status === 'needs_review') return ''
  return rowsOf(order, store)
    .map(row => {
      const row_discount = rowDiscountsOf([row])
      const cells: Record<keyof typeof COLUMNS, Cell> = {
        ...order,
        ...row,
        row: row.position + 1,
        row_discount,
        date: dayIn(order.date, calendar),
        status: language === 'fa' ? LABELS[order.status] : order.status,
        gross: sum([row.amount, row_discount]),
        total: sum([row.net, row.tax]),
        returned: shown(row.returned),
        prices_include_tax: INCLUDED[language][order.prices_include_tax],
        net_discount: netDiscountOf(row, order),
      }
      return rowOf(COLUMNS, cells, language)
    })
    .join('')
}

/** The rows of all matching finalized invoices as CSV. Their sums equal the amounts of the invoices. */
export const exportRows = (query: SpreadsheetQuery, store: Store): AsyncGenerator<string> =>
  partsOfExport(COLUMNS, query, store, order => linesOf(order, query, store))
