import { Field, type FieldProps, Form } from '@order-relay/web/form.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { decimal, serial } from '@order-relay/web/format.ts'
import { Refusal } from '@order-relay/web/http.ts'
import { separator } from '@order-relay/web/language.ts'
import { translateMessage } from '@order-relay/web/messages.ts'
import { LinkButton, Name } from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { STATUS_NAMES } from '@order-relay/web/status.tsx'
import type { HTMLAttributes } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { act, type SchemaData } from './api.ts'
import { HeldPayments } from './held-payments.tsx'
import type { Accounts } from './money.tsx'
import { t } from './persian.ts'
import { accountOptions, creditOf, numbersOf } from './pieces.tsx'

type Order = SchemaData<'OrderDetail'>

/** The result of a retry, and the entries of the history about the stock that was set with it. */
export type Retried = { order: Order; stocked: readonly string[] }

/** Contains the SKU, so that typed stock stays with its product when another shortage is resolved elsewhere. An id has no spaces. */
const stockField = (sku: string) => `stock-${encodeURIComponent(sku)}`

/** Retries the order with the stock and the settings in the form; if one of them is refused, nothing changes. */
const fixAndRetry = async (order: Order, values: Values): Promise<Retried> => {
  const { obstacles, shortages } = order
  const stock = shortages.map(({ sku }) => ({ sku, stock: values.number(stockField(sku)) }))
  const isIn = (kind: string) => obstacles.some(each => each.kind === kind)
  const settings = {
    ...(isIn('finalization') && values.isOn('automaticFinalization') && { automaticFinalization: true }),
    ...(isIn('account') && { orderPaymentReceivingAccount: values.text('orderPaymentReceivingAccount') }),
  }
  const after = await act(order, 'retry', { stock, settings }).catch(error => {
    const index = error instanceof Refusal && /^stock\[(\d+)\]/.exec(error.field ?? '')?.[1]
    const refused = index && stock[Number(index)]
    throw refused ? new Refusal(error.message, { field: stockField(refused.sku) }) : error
  })
  const entries = after.history.slice(order.history.length)
  return {
    order: after,
    stocked: entries.flatMap(({ kind, message }) => (kind === 'stocked' ? [message] : [])),
  }
}

/** The fields that fix an order in place. */
const fixesOf = ({ shortages, obstacles }: Order, accounts: Accounts['accounts']): FieldProps[] => {
  const everywhere = (
    <>
      {t('This applies to all orders.')} <a href={linkTo(['settings'])}>{t('Settings')}</a>
    </>
  )
  const fixes: Record<Order['obstacles'][number]['kind'], FieldProps[]> = {
    stock: shortages.map(({ sku, name, needed, available }) => ({
      name: stockField(sku),
      label: t('New stock of {code}', { code: sku }),
      kind: 'number',
      value: needed,
      help: (
        <>
          {t('Needed: {needed}, in stock: {available}.', {
            needed: decimal(needed),
            available: decimal(available),
          })}{' '}
          {t('This number replaces the stock, and the history says so.')} <Name>{name}</Name>
          {separator}
          <a href={linkTo(['products'])}>{t('Products')}</a>
        </>
      ),
    })),
    finalization: [
      {
        name: 'automaticFinalization',
        label: t('Turn on automatic finalization'),
        kind: 'switch',
        value: true,
        help: (
          <>
            {t('It is off, so every invoice stays a draft.')} {everywhere}
          </>
        ),
      },
    ],
    account: [
      {
        name: 'orderPaymentReceivingAccount',
        label: t('Order payment receiving account'),
        options: accountOptions(accounts),
        help: (
          <>
            {t('None is selected, so the held payment cannot be registered.')} {everywhere}
          </>
        ),
      },
    ],
    year: [],
  }
  return obstacles.flatMap(({ kind }) => fixes[kind])
}

/** The button is named by what it changes before the retry. */
const actionFor = ({ obstacles }: Order) => {
  const isIn = (...kinds: string[]) => obstacles.some(({ kind }) => kinds.includes(kind))
  const [setsStock, setsSettings] = [isIn('stock'), isIn('finalization', 'account')]
  if (setsStock && setsSettings) return t('Set stock, change settings and retry')
  if (setsStock) return t('Set stock and retry')
  return setsSettings ? t('Change settings and retry') : t('Retry')
}

/** Only a fiscal year finalizes the order, so that nothing else is changed before. */
const MissingYear = () => (
  <p>
    {t(
      'Add or reopen the fiscal year of this date first or, if the date is wrong, correct the order. Then retry it here.',
    )}{' '}
    <LinkButton href={linkTo(['settings'], { section: 'fiscal-years' })}>{t('Fiscal years')}</LinkButton>
  </p>
)

/** Numbers between words, unlike those in codes. */
const NUMBERS = /(?<= )\d[\d.,]*/g

/** The causes of the last attempt that are gone. Quantities, which change with every order, do not make another cause. */
const goneOf = ({ error, obstacles }: Order) => {
  const current = obstacles.map(({ message }) => message.replace(NUMBERS, ''))
  const causes = (error ?? '').split('. ')
  return causes.filter(cause => !current.includes(cause.replace(NUMBERS, ''))).join('. ')
}

type ReviewProps = {
  order: Order
  money: Accounts
  outcome: Retried | undefined
  /** Who is notified of a change of the status. */
  sent: string
  onRetried: (result: Retried) => void
}

/** Why the order waits, and a form that fixes it. */
export const Review = ({ order, money, outcome, sent, onRetried }: ReviewProps) => {
  const { obstacles, review_reason } = order
  const gone = goneOf(order)
  const reason = obstacles.map(({ message }) => message).join('. ')
  const isReady = obstacles.length === 0
  const submit = async (values: Values) => {
    onRetried(await fixAndRetry(order, values))
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
      {gone !== '' && (!isReady || review_reason === null) && (
        <p class="small">{t('Last reason: {reason}', { reason: <Name>{translateMessage(gone)}</Name> })}</p>
      )}
      <HeldPayments order={order} money={money} />
      <p>
        {t(
          isReady
            ? 'A retry finalizes invoice {invoice} and takes its goods from stock.'
            : 'Until the cause above is fixed, a retry changes nothing. Then it finalizes invoice {invoice} and takes its goods from stock.',
          { invoice: order.invoice_number },
        )}{' '}
        {sent}
      </p>
      {obstacles.some(({ kind }) => kind === 'year') ? (
        <MissingYear />
      ) : (
        <Form label={actionFor(order)} class="sided" action={actionFor(order)} submit={submit}>
          {fixesOf(order, money.accounts).map(field => (
            <Field key={field.name} {...field} />
          ))}
        </Form>
      )}
      {outcome && (
        <Outcome key={outcome.order.updated_at}>
          <Stocked {...outcome} />
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

const Stocked = ({ stocked }: Retried) =>
  stocked.map(message => <p key={message}>{translateMessage(message)}</p>)

/** The outcome of a successful retry. */
export const Finalized = ({ order, stocked }: Retried) => (
  <Outcome class="notice" data-tone="good">
    <Stocked order={order} stocked={stocked} />
    <p>
      <strong>
        {t('The order is now {status}: ', { status: STATUS_NAMES[order.status].toLowerCase() })}
      </strong>
      {t(
        order.receipts.length === 0
          ? 'invoice {invoice} is finalized.'
          : 'invoice {invoice} is finalized, {count|receipt|receipts} {numbers} {count|is|are} registered.',
        {
          invoice: serial(order.invoice_number),
          count: order.receipts.length,
          numbers: numbersOf(order.receipts),
        },
      )}{' '}
      {creditOf(order) !== '0' &&
        t('The buyer has a credit of {credit} rials.', { credit: decimal(creditOf(order)) })}
    </p>
  </Outcome>
)
