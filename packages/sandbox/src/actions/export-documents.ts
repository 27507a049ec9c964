import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { DocumentSpreadsheetQuery } from '../panel-queries.ts'
import type { DocumentKind, ListedDocument } from '../store/document-list.ts'
import type { Receipt } from '../store/documents.ts'
import type { Store } from '../store/open.ts'
import { type Cell, dayIn, EXPORTED_AT_ONCE, headOf, METHODS, rowOf } from './export.ts'

/** The columns with their Persian names. */
const COLUMNS = {
  kind: 'نوع سند',
  number: 'شماره سند',
  date: 'تاریخ',
  state: 'وضعیت',
  account: 'حساب',
  method: 'روش',
  reference: 'شماره پیگیری',
  amount: 'مبلغ (ریال)',
  net: 'مبلغ خالص برگشت (ریال)',
  tax: 'مالیات و عوارض برگشت (ریال)',
  cancelled_amount: 'مبلغ باطل‌شده (ریال)',
  reason: 'علت برگشت',
  invoice_number: 'شماره فاکتور',
  source: 'فروشگاه',
  external_id: 'شماره سفارش',
  customer_name: 'نام مشتری',
  national_id: 'شناسه ملی / کد ملی',
  economic_code: 'کد اقتصادی',
  // At the end, since scripts read the other columns by position.
  type: 'نوع رسید',
  registered_on: 'تاریخ ثبت',
  cancelled_on: 'تاریخ ابطال',
  cancel_reason: 'علت ابطال',
  received: 'دریافت (ریال)',
  returned: 'برگشت از فروش (ریال)',
  repaid: 'پرداخت (ریال)',
  money: 'گردش وجه با علامت (ریال)',
  note: 'شرح',
}

const KINDS: Record<DocumentKind, string> = {
  receipt: 'رسید دریافت',
  return: 'برگشت از فروش',
  repayment: 'رسید پرداخت',
}

/** The types of receipts as in the panel. */
const TYPES: Record<Receipt['type'], string> = { cash: 'نقدی', transfer: 'حواله', pos: 'کارتخوان' }

const inPersian = ({ kind, method, type, cancelled_at }: ListedDocument) => ({
  kind: KINDS[kind],
  method: method && METHODS[method],
  type: type && TYPES[type],
  state: cancelled_at === null ? 'معتبر' : 'باطل‌شده',
})

/** The amounts of cancelled documents are in a separate column, so that the other columns add up. */
const cellsOf = (
  document: ListedDocument,
  { language, calendar }: DocumentSpreadsheetQuery,
  { dayOf }: Clock,
) => {
  const { amount, net, tax, created_at, cancelled_at, date, account_name, account_code } = document
  const isCancelled = cancelled_at !== null
  const ofKind = (kind: DocumentKind) => (isCancelled || document.kind !== kind ? null : amount)
  const cells: Record<keyof typeof COLUMNS, Cell> = {
    ...document,
    state: isCancelled ? 'cancelled' : 'valid',
    date: dayIn(date, calendar),
    registered_on: dayIn(dayOf(created_at), calendar),
    cancelled_on: cancelled_at && dayIn(dayOf(cancelled_at), calendar),
    account: account_name ?? account_code,
    ...(isCancelled ? { amount: null, net: null, tax: null } : { amount, net, tax }),
    cancelled_amount: isCancelled ? amount : null,
    received: ofKind('receipt'),
    returned: ofKind('return'),
    repaid: ofKind('repayment'),
    // What accounts gain or lose: a return moves goods, not money.
    money: ofKind('receipt') ?? (ofKind('repayment') && -BigInt(amount)),
    ...(language === 'fa' && inPersian(document)),
  }
  return rowOf(COLUMNS, cells, language)
}

/** All matching documents as CSV, newest first, in parts like the export of orders. */
export async function* exportDocuments(
  query: DocumentSpreadsheetQuery,
  store: Store,
): AsyncGenerator<string> {
  const { language, calendar: _, ...filter } = query
  yield headOf(COLUMNS, language)
  let before: ListedDocument | undefined
  do {
    await setImmediate()
    const documents = store.documentList.page(filter, { before, limit: EXPORTED_AT_ONCE })
    yield documents.map(document => cellsOf(document, query, store.clock)).join('')
    before = documents.length === EXPORTED_AT_ONCE ? documents.at(-1) : undefined
  } while (before !== undefined)
}
