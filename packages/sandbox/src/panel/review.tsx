import { Field, type FieldProps, Form, type Values } from '@order-relay/web/form.tsx'
import { decimal, formatDate, serial } from '@order-relay/web/format.ts'
import { messageOf, Refusal, request } from '@order-relay/web/http.ts'
import { translateMessage } from '@order-relay/web/messages.ts'
import { Code, Name } from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { STATUS_NAMES } from '@order-relay/web/status.tsx'
import type { HTMLAttributes } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { act, type SchemaData } from './api.ts'
import { t } from './persian.ts'
import { accountOptions, bookedAs, PAYMENT_METHODS } from './pieces.tsx'

type Order = SchemaData<'OrderDetail'>

/** Applies the fixes selected in the form. */
const fix = async ({ obstacles, shortages }: Order, values: Values) => {
  const stocks = shortages.map((_, index) => values.number(`stock-${index}`))
  for (const [index, { sku }] of shortages.entries()) {
    const path = `/panel/products/${encodeURIComponent(sku)}`
    await request('PUT', path, { stock: stocks[index] }).catch(error => {
      throw new Refusal(messageOf(error), { field: `stock-${index}` })
    })
  }
  const isIn = (kind: string) => obstacles.some(each => each.kind === kind)
  const settings = {
    ...(isIn('finalization') && values.isOn('finalization') && { automaticFinalization: true }),
    ...(isIn('account') && { orderPaymentReceivingAccount: values.text('account') }),
  }
  if (Object.keys(settings).length > 0) await request('PUT', '/panel/settings', settings)
}

const HeldPayments = ({ held_payments: held }: Order) =>
  held.map(({ amount, method, date, reference, account }, index) => (
    <p key={String(index)}>
      {t('{held}: {method}, {date}. It is registered automatically once the invoice is finalized.', {
        held: (
          <strong>
            {amount === null
              ? t('A payment is held')
              : t('A payment of {amount} rials is held', { amount: decimal(amount) })}
          </strong>
        ),
        method: PAYMENT_METHODS[method].toLowerCase(),
        date: formatDate(date),
      })}{' '}
      {account === null
        ? t('In a bank account it is booked as {type}, in a cash box as cash.', { type: bookedAs(method) })
        : t('It is booked to {account}.', { account: <Name>{account.name}</Name> })}{' '}
      {reference && t('Reference: {reference}', { reference: <Code>{reference}</Code> })}
    </p>
  ))

type Accounts = SchemaData<'AccountList'>['accounts']

/** The fields that fix an order in place. */
const fixesOf = ({ shortages, obstacles }: Order, accounts: Accounts): FieldProps[] => {
  const everywhere = (
    <>
      {t('This applies to all orders.')} <a href={linkTo(['settings'])}>{t('Settings')}</a>
    </>
  )
  const fixes: Record<Order['obstacles'][number]['kind'], FieldProps[]> = {
    stock: shortages.map(({ sku, name, needed, available }, index) => ({
      ...{ name: `stock-${index}`, label: t('Stock of {code}', { code: sku }) },
      ...{ kind: 'number', value: needed },
      help: (
        <>
          {t('Needed: {needed}, in stock: {available}.', {
            needed: decimal(needed),
            available: decimal(available),
          })}{' '}
          <Name>{name}</Name> · <a href={linkTo(['products'])}>{t('Products')}</a>
        </>
      ),
    })),
    finalization: [
      {
        ...{ name: 'finalization', label: t('Turn on automatic finalization') },
        ...{ kind: 'switch', value: true },
        help: (
          <>
            {t('It is off, so every invoice stays a draft.')} {everywhere}
          </>
        ),
      },
    ],
    account: [
      {
        ...{ name: 'account', label: t('Order payment receiving account') },
        options: accountOptions(accounts),
        help: (
          <>
            {t('None is selected, so the held payment cannot be registered.')} {everywhere}
          </>
        ),
      },
    ],
    // A fiscal year is added in the settings.
    year: [],
  }
  return obstacles.flatMap(({ kind }) => fixes[kind])
}

/** Numbers between words, unlike those in codes. */
const NUMBERS = /(?<= )\d[\d.,]*/g

/** Whether two reasons are the same except for quantities, which change with every order. */
const isSameReason = (one: string, other: string) => one.replace(NUMBERS, '') === other.replace(NUMBERS, '')

type ReviewProps = { order: Order; accounts: Accounts; retries: number; onRetried: () => void }

/** Why the order waits, and a form that fixes it. */
export const Review = ({ order, accounts, retries, onRetried }: ReviewProps) => {
  const { obstacles, error, review_reason } = order
  const reason = obstacles.map(({ message }) => message).join('. ')
  const isReady = obstacles.length === 0
  const submit = async (values: Values) => {
    await fix(order, values)
    await act(order, 'retry')
    onRetried()
  }
  return (
    <section class="notice" data-tone="wait" aria-labelledby="review-title">
      <h2 id="review-title">{STATUS_NAMES.needs_review}</h2>
      <p class="strong">
        <Name>
          {!isReady
            ? translateMessage(reason)
            : review_reason === null
              ? t('Ready to retry.')
              : t('Moved back to review: {reason}', { reason: review_reason })}
        </Name>
      </p>
      {!isSameReason(error ?? '', reason) && (!isReady || review_reason === null) && (
        <p class="small">
          {t('Last reason: {reason}', { reason: <Name>{translateMessage(error ?? '')}</Name> })}
        </p>
      )}
      <HeldPayments {...order} />
      <p>
        {t(
          isReady
            ? 'A retry finalizes invoice {invoice}, takes its goods from stock, and a webhook is sent.'
            : 'Until the cause above is fixed, a retry changes nothing. Then it finalizes invoice {invoice}, takes its goods from stock, and a webhook is sent.',
          { invoice: order.invoice_number },
        )}
      </p>
      <Form
        label={t('Fix and retry')}
        class="sided"
        action={isReady ? t('Retry') : t('Fix and retry')}
        submit={submit}
      >
        {fixesOf(order, accounts).map(field => (
          <Field key={field.name} {...field} />
        ))}
      </Form>
      {retries > 0 && (
        <Outcome key={retries}>
          <p class="strong" role="status">
            {t('Retried, and it still needs review. The reason above is current.')}
          </p>
        </Outcome>
      )}
    </section>
  )
}

/** The outcome of a retry; takes focus for screen readers. */
const Outcome = ({ children, ...attributes }: HTMLAttributes<HTMLElement>) => {
  const element = useRef<HTMLElement>(null)
  useLayoutEffect(() => element.current?.focus(), [])
  return (
    <section {...attributes} id="outcome" tabIndex={-1} ref={element} aria-label={t('Outcome')}>
      {children}
    </section>
  )
}

/** The outcome of a successful retry. */
export const Finalized = ({ status, invoice_number, receipt_number }: Order) => (
  <Outcome class="notice" data-tone="good">
    <p>
      <strong>{t('The order is now {status}: ', { status: STATUS_NAMES[status].toLowerCase() })}</strong>
      {t(
        receipt_number === null
          ? 'invoice {invoice} is finalized.'
          : 'invoice {invoice} is finalized, receipt {receipt} is registered.',
        { invoice: serial(invoice_number), receipt: serial(receipt_number ?? '') },
      )}
    </p>
  </Outcome>
)
