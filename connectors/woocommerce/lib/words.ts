import type { Connection } from './connections.ts'
import { META_KEY, type OrderChange } from './shop.ts'
import { isPaid, type ShopOrder } from './shop-order.ts'
import type { Attention, OrderState } from './state.ts'

export const LANGUAGES = ['en', 'fa'] as const
export type Language = (typeof LANGUAGES)[number]

/** Without the elements of a page: the shop shows notes as HTML. */
const plain = (text: string) => text.replaceAll(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)

const numbered = (number: number | null | undefined) =>
  number === null || number === undefined ? '' : ` ${number}`

type Result = NonNullable<OrderState['result']>

const STATUS: Readonly<Record<string, (result: Result) => Record<Language, string>>> = {
  invoiced: result => ({
    en: `Accounting: invoice${numbered(result.invoice_number)} created.`,
    fa: `حسابداری: فاکتور${numbered(result.invoice_number)} صادر شد.`,
  }),
  paid: result => ({
    en: `Accounting: payment registered, invoice${numbered(result.invoice_number)}, receipt${numbered(result.receipt_number)}.`,
    fa: `حسابداری: دریافت ثبت شد، فاکتور${numbered(result.invoice_number)}، رسید${numbered(result.receipt_number)}.`,
  }),
  refunded: result => ({
    en: `Accounting: return${numbered(result.return_number)} registered.`,
    fa: `حسابداری: برگشت از فروش${numbered(result.return_number)} ثبت شد.`,
  }),
  needs_review: result => ({
    en: `Accounting: the invoice waits for an accountant. ${result.error ?? ''}`.trim(),
    fa: `حسابداری: فاکتور منتظر بررسی حسابدار است. ${result.error ?? ''}`.trim(),
  }),
}

/** What an attention means, and what to do: one sentence each. */
const ATTENTION: Readonly<Record<Attention['code'], (detail: string) => Record<Language, string>>> = {
  currency: detail => ({
    en: `The currency ${detail} cannot be invoiced: register the invoice by hand.`,
    fa: `سفارش با واحد پول ${detail} فاکتور نمی‌شود؛ فاکتور را دستی ثبت کنید.`,
  }),
  no_items: () => ({
    en: 'The order has no items: add items, or cancel it.',
    fa: 'سفارش کالایی ندارد؛ کالا اضافه کنید یا سفارش را لغو کنید.',
  }),
  no_sku: detail => ({
    en: `"${detail}" has no SKU: enter the accounting's product code as its SKU.`,
    fa: `کالای «${detail}» شناسه ندارد؛ کد کالا در حسابداری را به‌عنوان شناسهٔ آن وارد کنید.`,
  }),
  bad_quantity: detail => ({
    en: `The quantity of "${detail}" is not greater than zero: correct the row.`,
    fa: `تعداد «${detail}» بزرگ‌تر از صفر نیست؛ ردیف را اصلاح کنید.`,
  }),
  bad_amount: detail => ({
    en: `The amount of "${detail}" is negative: enter the discount as a coupon or a negative fee.`,
    fa: `مبلغ «${detail}» منفی است؛ تخفیف را به‌صورت کد تخفیف یا کارمزد منفی وارد کنید.`,
  }),
  rows_and_total: detail => ({
    en: `The rows differ from the total by ${detail} rials: click "Recalculate" in the order.`,
    fa: `جمع ردیف‌ها با مبلغ کل ${detail} ریال اختلاف دارد؛ در سفارش «محاسبهٔ مجدد» را بزنید.`,
  }),
  discount_too_large: () => ({
    en: 'Negative fees exceed the items: register the invoice by hand.',
    fa: 'کارمزدهای منفی از جمع کالاها بیشتر است؛ فاکتور را دستی ثبت کنید.',
  }),
  too_large: () => ({
    en: 'The amounts are too large: register the invoice by hand.',
    fa: 'مبلغ‌ها بیش از حد بزرگ است؛ فاکتور را دستی ثبت کنید.',
  }),
  tax_rounding: detail => ({
    en: `The invoice would differ by ${detail} rials: switch on "Prices include tax" in the accounting.`,
    fa: `فاکتور ${detail} ریال اختلاف خواهد داشت؛ در حسابداری «قیمت‌ها شامل مالیات است» را روشن کنید.`,
  }),
  create_refused: detail => ({
    en: `The accounting refused the order: ${detail}. Correct the order; it is then sent again.`,
    fa: `حسابداری سفارش را نپذیرفت: ${detail}. سفارش را اصلاح کنید تا دوباره فرستاده شود.`,
  }),
  payment_refused: detail => ({
    en: `The accounting refused the payment: ${detail}. Register the receipt by hand.`,
    fa: `حسابداری پرداخت را نپذیرفت: ${detail}. رسید را دستی ثبت کنید.`,
  }),
  refund_refused: detail => ({
    en: `The accounting refused the return: ${detail}. Register the return by hand.`,
    fa: `حسابداری برگشت را نپذیرفت: ${detail}. برگشت از فروش را دستی ثبت کنید.`,
  }),
  edited: () => ({
    en: 'The order was edited after its invoice: correct the invoice in the accounting.',
    fa: 'سفارش پس از صدور فاکتور ویرایش شده است؛ فاکتور را در حسابداری اصلاح کنید.',
  }),
  cancelled: () => ({
    en: 'The order was cancelled after its invoice: register the return in the accounting if the goods came back.',
    fa: 'سفارش پس از صدور فاکتور لغو شده است؛ اگر کالا برگشته، برگشت از فروش را در حسابداری ثبت کنید.',
  }),
  partial_refund: detail => ({
    en: `${detail} of the order was refunded: register the return of these items in the accounting.`,
    fa: `${detail} از مبلغ سفارش مسترد شده است؛ برگشت همان اقلام را در حسابداری ثبت کنید.`,
  }),
  relay_waits: detail => ({
    en: `The accounting cannot take the order yet: ${detail}. An accountant must remove the cause; it is then sent again.`,
    fa: `حسابداری هنوز سفارش را نپذیرفته است: ${detail}. حسابدار باید علت را برطرف کند تا دوباره فرستاده شود.`,
  }),
}

/** What somebody has to do, in one sentence, in each language. */
export const attentionTexts = ({ code, detail }: Attention): Record<Language, string> =>
  ATTENTION[code](detail)

/** A note of the shop: its meaning, by which it is written once, and its text as HTML. */
export type Note = { meaning: string; text: string }

/** The notes that an order should have now: its state in the accounting, and what somebody has to do. */
const notesOf = (
  { result, attention }: Pick<OrderState, 'result' | 'attention'>,
  language: Language,
): Note[] => {
  const notes: Note[] = []
  const add = (meaning: string, text: string) => notes.push({ meaning, text: plain(text) })
  const ofStatus = result === undefined ? undefined : STATUS[result.status]?.(result)
  if (result !== undefined && ofStatus !== undefined) {
    const { status, invoice_number, receipt_number, return_number, error } = result
    add(JSON.stringify([status, invoice_number, receipt_number, return_number, error]), ofStatus[language])
  }
  if (attention !== undefined)
    add(JSON.stringify([attention.code, attention.detail]), attentionTexts(attention)[language])
  return notes
}

/** The value of the order's metadata: its status, its numbers, and the version of the relay's message. */
const metaOf = ({ result, version }: Pick<OrderState, 'result' | 'version'>): string | undefined => {
  if (result === undefined) return undefined
  const { status, invoice_number = null, receipt_number = null, return_number = null } = result
  return JSON.stringify({ status, invoice_number, receipt_number, return_number, version })
}

/** Setting these marks an order as paid. */
const PAID = ['processing', 'completed']

/**
 * The shop's status for that of the accounting, which is set once: a later choice of the shop stays. It neither revives an
 * order that is no longer sold nor marks one as paid.
 */
const statusOf = (
  { result, shown }: OrderState,
  order: ShopOrder,
  { statuses, shopStatuses }: Connection['settings'],
): string | undefined => {
  const wanted =
    result === undefined
      ? undefined
      : Object.entries(shopStatuses).find(([each]) => each === result.status)?.[1]
  if (wanted === undefined || result?.status === shown) return undefined
  const isSold = [...statuses, ...Object.values(shopStatuses)].includes(order.status)
  return isSold && (isPaid(order) || !PAID.includes(wanted)) ? wanted : undefined
}

/** What the shop should show of an order and does not. Pure. */
export const missingOf = (
  state: OrderState,
  order: ShopOrder,
  { settings, language }: Pick<Connection, 'settings' | 'language'>,
): OrderChange & { notes: readonly Note[] } => {
  const meta = metaOf(state)
  const isWritten = order.meta_data.some(({ key, value }) => key === META_KEY && value === meta)
  const status = statusOf(state, order, settings)
  return {
    ...(meta !== undefined && !isWritten && { meta }),
    ...(status !== undefined && { status }),
    notes: notesOf(state, language).filter(({ meaning }) => !state.notes.includes(meaning)),
  }
}
