import { attentionTexts, type Language, type Words } from './cases.ts'
import type { Connection } from './connections.ts'
import { META_KEY, type OrderChange } from './shop.ts'
import { isPaid, type ShopOrder } from './shop-order.ts'
import type { OrderState } from './state.ts'

/** Text as HTML. */
export const escaped = (text: string) =>
  text.replaceAll(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)

const numbered = (number: number | null | undefined) =>
  number === null || number === undefined ? '' : ` ${number}`

type Result = NonNullable<OrderState['result']>

const STATUS: Readonly<Record<string, (result: Result) => Words>> = {
  invoiced: result => ({
    en: `Accounting service: invoice${numbered(result.invoice_number)} created.`,
    fa: `حسابداری: فاکتور${numbered(result.invoice_number)} صادر شد.`,
  }),
  paid: result => ({
    en: `Accounting service: payment registered, invoice${numbered(result.invoice_number)}, receipt${numbered(result.receipt_number)}.`,
    fa: `حسابداری: دریافت ثبت شد، فاکتور${numbered(result.invoice_number)}، رسید${numbered(result.receipt_number)}.`,
  }),
  refunded: result => ({
    en: `Accounting service: return${numbered(result.return_number)} registered.`,
    fa: `حسابداری: برگشت از فروش${numbered(result.return_number)} ثبت شد.`,
  }),
  needs_review: result => ({
    en: `Accounting service: the invoice needs review by an accountant. ${result.error ?? ''}`.trim(),
    fa: `حسابداری: فاکتور منتظر بررسی حسابدار است. ${result.error ?? ''}`.trim(),
  }),
}

/** A note in the shop: its meaning, for which it is written only once, and its text as HTML. */
export type Note = { meaning: string; text: string }

/** The notes that an order should have: its state in the accounting service, and the required action. */
const notesOf = (
  { result, attention }: Pick<OrderState, 'result' | 'attention'>,
  language: Language,
): Note[] => {
  const notes: Note[] = []
  const add = (meaning: string, text: string) => notes.push({ meaning, text: escaped(text) })
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

/** Setting one of these marks an order as paid. */
const PAID = ['processing', 'completed']

/**
 * The shop's status for a status of the accounting service. It is set once, so that a later change in the shop remains,
 * and it neither reactivates an order that is no longer sold nor marks an order as paid.
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

/** What the shop should show about an order but does not. Pure. */
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
