import { exactDate } from '@order-relay/web/calendar.ts'
import { decimal, formatDate, isDecimal, serial } from '@order-relay/web/format.ts'
import { isolated, listed } from '@order-relay/web/language.ts'
import { translateMessage } from '@order-relay/web/messages.ts'
import { linkTo } from '@order-relay/web/route.ts'
import { normalizeMobile } from '../mobile.ts'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'

export type Refused = SchemaData<'RefusalList'>['refusals'][number]

type Cause = Pick<Refused, 'code' | 'message' | 'field' | 'missing'>

/** The fields of an order that an accountant knows by another name. */
const FIELDS: Readonly<Record<string, string>> = {
  date: t('Date'),
  'payment.date': t('Date of the payment'),
  'payment.method': t('Method'),
  shipping: t('Shipping'),
  discount: t('Order discount'),
  items: t('Items'),
  'customer.mobile': t('Mobile number of the customer'),
}

const ROW_FIELDS: Readonly<Record<string, string>> = {
  sku: t('Product'),
  quantity: t('Quantity'),
  unit_price: t('Unit price'),
  discount: t('Discount'),
}

/** A field in the accountant's terms; others have the name in the request. */
const fieldName = (field: string) => {
  const [, index, name = ''] = /^items\[(\d+)\]\.(\w+)$/.exec(field) ?? []
  const inRow = ROW_FIELDS[name]
  if (index === undefined || inRow === undefined) return FIELDS[field] ?? field
  return t('{field} in row {row}', { field: inRow, row: serial(Number(index) + 1) })
}

const isAmount = (field: string) => /(^|\.)(shipping|discount|quantity|unit_price)$/.test(field)

/** A value that the store sent: a text as it is, a number or a date like others of the page. */
const shownValue = (text: string, field: string) => {
  const value = text.replace(/^"(.*)"$/, '$1')
  if (exactDate(value) === value) return formatDate(value)
  if (value === text && isAmount(field)) return decimal(value.replaceAll(',', ''))
  return isDecimal(text) || normalizeMobile(value) === value ? serial(value) : value
}

/** Whether the order has no mobile number, so that only a default customer can be its customer. */
const lacksMobile = ({ code, message }: Pick<Cause, 'code' | 'message'>) =>
  code === 'no_customer' && / is missing: /.test(message)

/** The reason of a refusal. The service names the field, then its value, then the rule. */
export const reasonOf = ({ field, message, code, missing }: Cause) => {
  // The service stops at the first one, and some may have been added since.
  if (code === 'unknown_sku' && missing.length > 0) {
    return t('Products that do not exist: {products}', {
      products: listed(missing.map(({ sku }) => isolated(sku))),
    })
  }
  if (lacksMobile({ code, message }))
    return t('The order has no mobile number, and no default customer is selected.')
  if (field !== null && / is missing$/.test(message))
    return t('{field} is missing', { field: fieldName(field) })
  const [, value, rule] = /^Field "[^"]*" is (".*"|[^:]*): (.*)$/s.exec(message) ?? []
  if (field === null || value === undefined || rule === undefined) return translateMessage(message)
  return t('{field} "{value}": {problem}', {
    field: fieldName(field),
    value: shownValue(value, field),
    problem: translateMessage(rule),
  })
}

/** The service does not know whether a relay connects the store, nor what the store has withdrawn there. */
const RESENT = t(
  'The store has to send the order again. If a relay connects the store, it may do so itself within a week of the first refusal, but not if the store has withdrawn the order.',
)

const SETTINGS_LINK = <a href={linkTo(['settings'])}>{t('Settings').toLowerCase()}</a>

/** The accountant's remedy; undefined if only the store can correct the order. */
const remedyOf = (cause: Pick<Cause, 'code' | 'message'>) => {
  const settings = { settings: SETTINGS_LINK }
  switch (cause.code) {
    case 'unknown_sku':
      return t('Add the product if you sell it, otherwise tell the store.')
    case 'no_customer':
      if (lacksMobile(cause)) return t('Select a default customer in the {settings}.', settings)
      return t(
        'Select a default customer or turn on automatic customer creation in the {settings}.',
        settings,
      )
    case 'outside_fiscal_years':
      return t(
        'Add or reopen the fiscal year in the {settings} if the date is right, otherwise tell the store.',
        settings,
      )
    default:
      return undefined
  }
}

/** Whether the store sent a Jalali date, which no fiscal year contains: the interface has Gregorian dates. */
const isJalaliDate = (message: string) => {
  const [, date] = / is "?(\d{4}-\d\d-\d\d)"?: /.exec(message) ?? []
  return date !== undefined && exactDate(date) !== date
}

/** What the accountant can do about the current cause, or whom to tell. */
export const Remedy = ({ current }: Pick<Refused, 'current'>) => {
  const isStores = current !== null && isJalaliDate(current.message)
  const remedy = current === null ? t('The cause is gone.') : isStores ? undefined : remedyOf(current)
  if (remedy === undefined) return t('Tell the store, which has to correct the order and send it again.')
  return (
    <>
      {remedy} {RESENT}
    </>
  )
}
