import { setImmediate } from 'node:timers/promises'
import { jalaliOf } from '@order-relay/web/calendar.ts'
import { decimalFrom } from '../decimal.ts'
import type { SpreadsheetQuery } from '../panel-queries.ts'
import { sum, taxed } from '../pricing.ts'
import type { Receipt } from '../store/documents.ts'
import type { InvoiceRow } from '../store/invoice-rows.ts'
import type { Store } from '../store/open.ts'
import type { ListedOrder } from '../store/orders.ts'
import { balanceOf, describeObstacles, type OBSTACLES, obstaclesNow, rowDiscountsOf } from './documents.ts'
import { LABELS } from './orders.ts'

type Language = SpreadsheetQuery['language']
export type Cell = string | number | bigint | null

/** The columns with their Persian names. */
const COLUMNS = {
  source: 'فروشگاه',
  external_id: 'شماره سفارش',
  date: 'تاریخ',
  customer_name: 'نام مشتری',
  mobile: 'موبایل',
  status: 'وضعیت',
  invoice_number: 'شماره فاکتور',
  receipt_number: 'شماره رسید دریافت',
  return_number: 'شماره برگشت از فروش',
  reference: 'شماره پیگیری',
  method: 'روش دریافت',
  discount: 'تخفیف بدون مالیات (ریال)',
  shipping: 'هزینه ارسال بدون مالیات (ریال)',
  net: 'مبلغ خالص (ریال)',
  tax: 'مالیات و عوارض (ریال)',
  total: 'جمع کل (ریال)',
  received: 'دریافت‌شده (ریال)',
  returned: 'برگشت از فروش (ریال)',
  repaid: 'عودت وجه (ریال)',
  balance: 'مانده (ریال)',
  error: 'علت نیاز به بررسی',
  // At the end, since scripts read the other columns by position.
  national_id: 'شناسه ملی / کد ملی',
  economic_code: 'کد اقتصادی',
  returned_tax: 'مالیات و عوارض برگشت (ریال)',
  draft_total: 'جمع پیش‌نویس (ریال)',
  held: 'وجه معلق (ریال)',
}

const NO_OBSTACLE = { en: 'Nothing prevents finalization', fa: 'مانعی برای قطعی شدن نیست' }

type Obstacles = ReturnType<typeof obstaclesNow>

const shortagesIn = ({ shortages }: Obstacles) =>
  shortages
    .map(({ sku, name, needed, available }) => `«${name}» (${sku}) نیاز ${needed}، موجود ${available}`)
    .join('؛ ')

const CAUSES: Record<(typeof OBSTACLES)[number], string> = {
  stock: 'کمبود موجودی',
  finalization: 'قطعی‌سازی خودکار خاموش است',
  account: 'حساب دریافت وجه انتخاب نشده است',
  year: 'خارج از سال‌های مالی باز',
}

/** The payment methods as in the panel. */
export const METHODS: Record<Receipt['method'], string> = {
  online: 'پرداخت اینترنتی',
  transfer: 'حواله بانکی',
  card: 'کارت بانکی',
  pos: 'کارتخوان',
  cash: 'نقدی',
}

/**
 * Spreadsheets interpret text that begins like this as a formula, unless an apostrophe precedes it. Some skip invisible
 * characters and treat full-width signs as equivalent.
 */
const FORMULA = /^([\t\r]|[\s\p{C}]*[=+\-@＝＋－＠])/u

const written = (value: Cell) => {
  if (typeof value !== 'string') return String(value ?? '')
  const text = value.replace(FORMULA, "'$&")
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The columns of names that may consist of digits. */
const NAMES: ReadonlySet<string> = new Set([
  'external_id',
  'customer_name',
  'mobile',
  'national_id',
  'economic_code',
  'reference',
  'postal_code',
  'sku',
])

/** Keeps the leading zero of mobile numbers and all digits of long numbers, which spreadsheets would drop or round. */
const writtenName = (value: Cell) =>
  typeof value === 'string' && /^(?:0\d+|\d{12,})$/.test(value) ? `"=""${value}"""` : written(value)

const lineOf = (cells: readonly string[]) => `${cells.join()}\r\n`

/** The names of the columns. The byte order mark identifies UTF-8 for spreadsheets. */
export const headOf = (columns: Record<string, string>, language: Language) =>
  `\uFEFF${lineOf(language === 'fa' ? Object.values(columns) : Object.keys(columns))}`

export const rowOf = <Name extends string>(
  columns: Record<Name, string>,
  cells: Record<Name, Cell>,
  language: Language,
) =>
  lineOf(
    (Object.keys(columns) as Name[]).map(name =>
      language === 'fa' && NAMES.has(name) ? writtenName(cells[name]) : written(cells[name]),
    ),
  )

/** The day in a sortable form. Digits stay Latin, since spreadsheets treat Persian digits as text. */
export const dayIn = (date: string, calendar: SpreadsheetQuery['calendar']) =>
  calendar === 'gregory'
    ? date
    : jalaliOf(date)
        .map(part => String(part).padStart(2, '0'))
        .join('/')

/** Of an order in review, the remaining causes or, without any, the accountant's text. */
const errorOf = (order: ListedOrder, language: Language, store: Store) => {
  if (order.status !== 'needs_review') return order.error
  const current = obstaclesNow(order, store)
  // The text of the last attempt may name causes that are gone.
  if (current.obstacles.length === 0) return order.review_reason ?? NO_OBSTACLE[language]
  if (language === 'en') return describeObstacles(current.obstacles)
  const causes = current.obstacles.map(({ kind }) =>
    kind === 'stock' ? `${CAUSES.stock}: ${shortagesIn(current)}` : CAUSES[kind],
  )
  return causes.join('؛ ')
}

/** The documents of an order: its result has no numbers until it is paid or returned as a whole. */
const documentsOf = ({ invoice_number }: ListedOrder, language: Language, store: Store) => {
  const joined = (values: Iterable<string | number>) => [...values].join(language === 'fa' ? '؛ ' : '; ')
  const receipts = store.receipts.list(invoice_number)
  const methods = receipts.map(({ method }) => (language === 'fa' ? METHODS[method] : method))
  return {
    receipt_number: joined(receipts.map(({ number }) => number)),
    reference: joined(receipts.map(({ reference }) => reference).filter(Boolean)),
    method: joined(new Set(methods)),
    return_number: joined(store.returns.list(invoice_number).map(({ number }) => number)),
  }
}

/**
 * The discount of a row and its share of the order discount, without tax like the net. Rounded by row, so that the exports of
 * orders and of rows have the same sums.
 */
export const netDiscountOf = (
  row: Pick<InvoiceRow, 'discount' | 'order_discount'>,
  { tax_rate, prices_include_tax }: ListedOrder,
) => {
  const discount = BigInt(sum([rowDiscountsOf([row]), row.order_discount]))
  return taxed(discount, { taxRate: decimalFrom(tax_rate), pricesIncludeTax: prices_include_tax === 1 }).net
}

/** The discounts of the rows, and the shipping, both without tax like the net. */
const partsOf = (order: ListedOrder, store: Store) => {
  const rows = store.invoiceRows.list(order.invoice_number)
  return {
    discount: rows.reduce((all, row) => all + netDiscountOf(row, order), 0n),
    shipping: rows.find(({ kind }) => kind === 'shipping')?.net ?? '0',
  }
}

/** The money columns of finalized invoices. The total of a draft has a separate column, so that sums agree with the panel. */
const moneyOf = (order: ListedOrder, store: Store) =>
  order.status === 'needs_review'
    ? {
        discount: null,
        shipping: null,
        net: null,
        tax: null,
        total: null,
        balance: null,
        draft_total: order.total,
      }
    : { ...partsOf(order, store), balance: balanceOf(order), draft_total: null }

const cellsOf = (order: ListedOrder, { language, calendar }: SpreadsheetQuery, store: Store) => {
  const returnRows = store.returnRows.list(order.invoice_number)
  const cells: Record<keyof typeof COLUMNS, Cell> = {
    ...order,
    date: dayIn(order.date, calendar),
    status: language === 'fa' ? LABELS[order.status] : order.status,
    ...documentsOf(order, language, store),
    returned_tax: sum(returnRows.map(({ tax }) => tax)),
    ...moneyOf(order, store),
    error: errorOf(order, language, store),
  }
  return rowOf(COLUMNS, cells, language)
}

type Exported = { from?: string | undefined; to?: string | undefined } & Pick<SpreadsheetQuery, 'calendar'>

/** The name of the file, with the days that the export is limited to, in its calendar. */
export const exportName = (content: string, { from, to, calendar }: Exported): string => {
  const dayOf = (date: string) => dayIn(date, calendar).replaceAll('/', '-')
  const days = [from && `from-${dayOf(from)}`, to && `to-${dayOf(to)}`].filter(Boolean)
  return `${[content, ...days].join('-')}.csv`
}

/** Small enough to barely delay other requests. */
export const EXPORTED_AT_ONCE = 500

/**
 * CSV (RFC 4180) of all matching orders, in parts so that other requests are answered in between. The orders and their
 * sequence are fixed at the start.
 */
export async function* partsOfExport(
  columns: Record<string, string>,
  query: SpreadsheetQuery,
  store: Store,
  linesOf: (order: ListedOrder) => string,
): AsyncGenerator<string> {
  const { sort, language, calendar: _, ...filter } = query
  const numbers = store.orders.numbers(filter, { sort, limit: -1 })
  yield headOf(columns, language)
  for (let start = 0; start < numbers.length; start += EXPORTED_AT_ONCE) {
    await setImmediate()
    const orders = store.orders.list(numbers.slice(start, start + EXPORTED_AT_ONCE))
    yield orders.map(linesOf).join('')
  }
}

/** All matching orders as CSV, one per line. */
export const exportOrders = (query: SpreadsheetQuery, store: Store): AsyncGenerator<string> =>
  partsOfExport(COLUMNS, query, store, order => cellsOf(order, query, store))
