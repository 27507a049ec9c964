import { today } from '@order-relay/web/date-input.tsx'
import { serial } from '@order-relay/web/format.ts'
import { language } from '@order-relay/web/language.ts'
import { Chip, LinkButton, Name } from '@order-relay/web/pieces.tsx'
import { linkTo, linkWith, type Route, route } from '@order-relay/web/route.ts'
import { StatusChip } from '@order-relay/web/status.tsx'
import { bankReceipt } from '../booking.ts'
import type { Key, SchemaData } from './api.ts'
import { t } from './persian.ts'

/** The status of an order; in English with the service's own Persian label. */
export const OrderStatus = ({ status, status_display }: SchemaData<'OrderResult'>) => (
  <StatusChip status={status}>
    {language === 'en' && (
      <bdi lang="fa" dir="auto">
        {status_display}
      </bdi>
    )}
  </StatusChip>
)

/** @param section the part of the page to show, such as `receipt-5` */
export const linkToOrder = ({ source, external_id }: Key, section?: string) =>
  linkTo(['orders', external_id], { source, section })

/** Marks a date in the future, which only a store can give. */
export const Future = ({ date }: { date: string }) =>
  date > today() && <Chip tone="wait">{t('In the future')}</Chip>

export const StoreName = ({ source }: Pick<Key, 'source'>) => (
  <span class="small muted">
    <Name>{source}</Name>
  </span>
)

/** The name of a customer; customers without one are named by their mobile number. */
export const customerName = (name: string) => (/^\d+$/.test(name) ? serial(name) : name)

/** What invoices say about the seller or the buyer besides the name. */
export const IDENTITY = [
  ['economicCode', t('Economic code')],
  ['nationalId', t('National ID')],
  ['address', t('Postal address')],
  ['postalCode', t('Postal code')],
  ['phone', t('Phone')],
] as const

/** Who is notified of a change of the status; empty while no address is registered. */
export const sentTo = ({ webhooks }: SchemaData<'WebhookList'>) =>
  webhooks.length === 0 ? '' : t('If the status changes, a webhook is sent to every registered address.')

const STEP = 50

/** The number of rows requested by the address. */
export const limitOf = ({ query }: Route) => Number(query.get('limit')) || STEP

/** A link that extends a list whose length is in the address. */
export const ShowMore = ({ shown }: { shown: number }) => {
  const limit = limitOf(route.value)
  return (
    shown >= limit && (
      <p class="row" data-keeps-focus>
        <LinkButton href={linkWith({ limit: String(limit + STEP) })}>{t('Show more')}</LinkButton>
      </p>
    )
  )
}

export const numbersOf = (documents: readonly { number: number }[]) =>
  documents.map(({ number }) => serial(number)).join(t(', '))

/** The amount that is owed to the buyer. */
export const creditOf = ({ balance }: Pick<SchemaData<'OrderDetail'>, 'balance'>) =>
  balance.startsWith('-') ? balance.slice(1) : '0'

type Account = SchemaData<'Account'>

export const ACCOUNT_KINDS = { cash: t('Cash box'), bank: t('Bank account') } as const

/** Accounts to choose from. */
export const accountOptions = (accounts: readonly Account[]) =>
  accounts.map(({ code, name, kind }) => [code, `${name} (${ACCOUNT_KINDS[kind].toLowerCase()})`] as const)

export const PAYMENT_METHODS = {
  online: t('Online'),
  transfer: t('Bank transfer'),
  card: t('Card'),
  pos: t('Card reader'),
  cash: t('Cash'),
} as const

export const RECEIPT_TYPES = { cash: t('Cash'), transfer: t('Transfer'), pos: t('Card reader') } as const

/** How the service books a payment in a bank account (spec: business rule 6). */
export const bookedAs = (method: keyof typeof PAYMENT_METHODS) =>
  RECEIPT_TYPES[bankReceipt(method)].toLowerCase()

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** The values that differ from those that a form has shown, so that it does not undo what others have changed since. */
export const changedIn = (values: object, before: object): Record<string, unknown> => {
  const old = new Map<string, unknown>(Object.entries(before))
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => shown(value) !== shown(old.get(name))),
  )
}
