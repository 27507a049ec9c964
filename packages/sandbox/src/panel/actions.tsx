import { today } from '@order-relay/web/date-input.tsx'
import { ask } from '@order-relay/web/dialog.tsx'
import { Field } from '@order-relay/web/form.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { decimal, sum } from '@order-relay/web/format.ts'
import { queryOf, request } from '@order-relay/web/http.ts'
import { attempt, toast } from '@order-relay/web/notices.ts'
import { Button } from '@order-relay/web/pieces.tsx'
import { useResources } from '@order-relay/web/resources.ts'
import { STATUS_NAMES } from '@order-relay/web/status.tsx'
import { panelPayment, panelReturn, repayment, review } from '../panel-requests.ts'
import { bookingIn, payingFrom } from './account-hints.ts'
import { type Action, newStatus, newWarnings, resultsOf } from './action.ts'
import { act, orderOf, orderPath, type SchemaData } from './api.ts'
import { askToCorrect, CORRECTED } from './correct.tsx'
import { issuesOf } from './issues.ts'
import { type Accounts, MoneyFields } from './money.tsx'
import { t } from './persian.ts'
import { creditOf, numbersOf } from './pieces.tsx'
import { describeGoods, describePrevention, lastOpenDay, preventionsOf } from './prevention.ts'
import { Rehearsed } from './rehearsed.tsx'
import { openRows, ReturnFields } from './return-fields.tsx'
import { REVERSE_PAYMENT, REVERSE_REPAYMENT, REVERSE_RETURN } from './reversals.ts'

type Order = SchemaData<'OrderDetail'>

const goodsOf = ({ rows, returns }: Order) =>
  returns
    .at(-1)
    ?.rows.filter(({ quantity }) => Number(quantity) > 0)
    .map(({ row, quantity }) =>
      t('{quantity} × {name}', { quantity: decimal(quantity), name: rows[row - 1]?.name ?? '' }),
    )
    .join(t(', ')) ?? ''

const paymentOf = ({ text, date, required }: Values) => ({
  method: text('method'),
  account: required('account'),
  reference: text('reference'),
  date: date('date'),
  note: text('note'),
})

const ACTIONS: readonly Action[] = [
  {
    name: 'pay',
    label: t('Register payment'),
    statuses: ['invoiced'],
    effect: ({ balance }, sent) => [
      balance === '0'
        ? t('Nothing is due: registering a receipt of 0 rials marks the order as paid.')
        : t('{due} rials are due. A smaller amount is a partial payment, and the order stays invoiced.', {
            due: decimal(balance),
          }),
      sent,
    ],
    content: ({ balance }, money, date) => (
      <MoneyFields money={money} date={date} amount={balance} hint={bookingIn} />
    ),
    rules: panelPayment,
    bodyOf: (values, { balance }) => ({
      // An order with no amount due gets a receipt of zero.
      ...(balance !== '0' && { amount: values.rials('amount') }),
      ...paymentOf(values),
    }),
    resultOf: newWarnings,
  },
  REVERSE_PAYMENT,
  {
    name: 'repay',
    label: t('Register repayment'),
    statuses: ['paid', 'refunded'],
    isPossible: ({ balance }) => balance.startsWith('-'),
    effect: (order, sent) => [
      t('The buyer has a credit of {credit} rials.', { credit: decimal(creditOf(order)) }),
      sent !== '' && t('The status of the order does not change, and no webhook is sent.'),
    ],
    isPaidOut: true,
    content: (order, money, date) => (
      <MoneyFields money={money} date={date} amount={creditOf(order)} hint={payingFrom} agrees />
    ),
    rules: repayment,
    bodyOf: values => ({ amount: values.rials('amount'), ...paymentOf(values) }),
    doneOf: ({ external_id: order, repayments }) =>
      t('Order {order}: {amount} rials repaid', {
        order,
        amount: decimal(repayments.at(-1)?.amount ?? '0'),
      }),
  },
  REVERSE_REPAYMENT,
  {
    name: 'return',
    label: t('Register return'),
    statuses: ['invoiced', 'paid'],
    effect: ({ receipts }, sent) => [
      t('The goods go back to stock. Once all of the order is returned, it is refunded.'),
      receipts.length > 0 && t('Receipts do not change.'),
      sent,
    ],
    content: (order, _, date) => <ReturnFields order={order} date={date} />,
    rules: panelReturn,
    bodyOf: (values, order) => ({
      reason: values.text('reason'),
      // Today is that of the service.
      ...(values.date('date') !== today() && { date: values.date('date') }),
      ...(values.text('scope') !== 'all' && {
        rows: openRows(order).map(({ row }, index) => {
          const name = `rows[${index}].quantity`
          return { row, quantity: values.text(name) === '' ? 0 : values.number(name) }
        }),
        // A correction may have renumbered the rows.
        unchangedSince: order.updated_at,
      }),
    }),
    resultOf: resultsOf(
      ({ returned }, before) =>
        t('Amount of the return: {amount} rials', { amount: decimal(sum(returned, `-${before.returned}`)) }),
      newStatus,
    ),
    doneOf: after =>
      t('Order {order}: {goods} returned, {amount} rials', {
        order: after.external_id,
        goods: goodsOf(after),
        amount: decimal(after.returns.at(-1)?.amount ?? '0'),
      }),
  },
  REVERSE_RETURN,
  {
    name: 'review',
    label: t('Move back to review'),
    statuses: ['invoiced', 'paid', 'refunded'],
    effect: ({ status, receipts, returns }, sent) => [
      t('The invoice is a draft again.'),
      status !== 'refunded' && t('Its goods go back to stock.'),
      returns.length > 0 &&
        t('Sales {count|return|returns} {numbers} {count|is|are} cancelled.', {
          count: returns.length,
          numbers: numbersOf(returns),
        }),
      receipts.length > 0 &&
        t(
          '{count|Receipt|Receipts} {numbers} {count|is|are} cancelled and {count|its payment|their payments} held.',
          { count: receipts.length, numbers: numbersOf(receipts) },
        ),
      sent,
    ],
    fields: () => [{ name: 'error', label: t('What to review') }],
    rules: review,
    bodyOf: values => ({ error: values.required('error') }),
    rehearsalOf: () => ({ error: '–' }),
    resultOf: newWarnings,
  },
]

/** Reports the result of an action, and what is still due if a part has been received or returned. */
const done = ({ external_id: order, status, total, balance }: Order) => {
  const about = { order, status: STATUS_NAMES[status], total: decimal(total) }
  toast(
    balance === total || balance === '0' || balance.startsWith('-')
      ? t('Order {order}: {status}, {total} rials', about)
      : t('Order {order}: {status}, {balance} of {total} rials due', { ...about, balance: decimal(balance) }),
  )
}

type EffectProps = Pick<Action, 'effect'> & { order: Order; sent: string }

/** The effect on the order as it is now: someone else may change it while the dialog is open. */
const Effect = ({ effect, order, sent }: EffectProps) => {
  const { data } = useResources({ order: orderOf(order) })
  return effect(data?.order ?? order, sent)
    .filter(Boolean)
    .join(' ')
}

/** The accounts with what each cash box can pay on a day. */
const withFunds = async (money: Accounts, date: string): Promise<Accounts> => ({
  ...money,
  ...(await request<SchemaData<'AccountList'>>('GET', `/panel/accounts${queryOf({ from: date })}`)),
})

const askTo = async (action: Action, { order, money: given, sent, years }: ActionsProps) => {
  const {
    name,
    label,
    effect,
    fields: fieldsOf,
    content: contentOf,
    bodyOf,
    rules,
    rehearsalOf,
    resultOf,
    doneOf,
  } = action
  const fields = fieldsOf?.(order) ?? []
  const date = lastOpenDay(years, today())
  const money = action.isPaidOut ? await withFunds(given, date) : given
  const content = contentOf?.(order, money, date)
  const rehearse = async (values: Values) => {
    const body = { ...(rehearsalOf?.() ?? bodyOf?.(values, order)), dryRun: true }
    return resultOf?.(await request<Order>('POST', orderPath(order, `/${name}`), body), order) ?? ''
  }
  const rehearsed = (
    <Rehearsed rehearse={rehearse}>
      {fields.map(field => (
        <Field key={field.name} {...field} />
      ))}
      {content}
    </Rehearsed>
  )
  ask({
    title: t('{action}: {order}', { action: label, order: order.external_id }),
    action: label,
    text: <Effect effect={effect} order={order} sent={sent} />,
    ...(resultOf === undefined ? { fields, content } : { content: rehearsed }),
    check: values => issuesOf(rules, bodyOf?.(values, order)),
    submit: async values => {
      const after = await act(order, name, bodyOf?.(values, order))
      if (doneOf === undefined) done(after)
      else toast(doneOf(after, order))
    },
  })
}

type ActionsProps = {
  order: Order
  money: Accounts
  sent: string
  years: SchemaData<'FiscalYears'>['fiscalYears']
}

/** Why an order with returns cannot be corrected, and the first step; undefined if no step leads to a correction. */
const stepToCorrect = ({ actions, cancelReturns }: ReturnType<typeof preventionsOf>) => {
  if (actions.review === undefined)
    return t('Goods were returned, so the order cannot be corrected: move it back to review first.')
  if (cancelReturns === undefined)
    return t('Goods were returned, so the order cannot be corrected: reverse the return first.')
  if (cancelReturns.kind === 'short')
    return t(
      'Goods were returned, so the order cannot be corrected: once they are in stock again ({goods}), reverse the return.',
      { goods: describeGoods(cancelReturns.shortages) },
    )
  return cancelReturns.kind === 'repaid'
    ? t('Goods were returned, so the order cannot be corrected: reverse the repayment first.')
    : undefined
}

/** The accountant's actions on an order in its status, besides fixing and retrying it. */
export const Actions = ({ order, money, sent, years }: ActionsProps) => {
  const preventions = preventionsOf(order, years, today())
  const step = order.returns.length > 0 ? stepToCorrect(preventions) : undefined
  const isCorrectable = CORRECTED.includes(order.status)
  const correction = {
    label: t('Correct order'),
    prevention: order.returns.length > 0 ? preventions.cancelReturns : preventions.actions.correct,
    ask: () => askToCorrect(order, { years, isOpen: preventions.isOpen }, done),
  }
  const actions = [
    ...ACTIONS.filter(
      ({ statuses, isPossible }) => statuses.includes(order.status) && (isPossible?.(order) ?? true),
    ).map(action => ({
      label: action.label,
      prevention: preventions.actions[action.name],
      ask: () => attempt(() => askTo(action, { order, money, sent, years })),
    })),
    ...(isCorrectable && step === undefined ? [correction] : []),
  ]
  const prevented = Map.groupBy(
    actions.filter(({ prevention }) => prevention !== undefined),
    ({ prevention }) => prevention && describePrevention(prevention, ''),
  )
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields, not buttons.
    <div class="row" role="group" aria-label={t('Actions')}>
      {actions
        .filter(({ prevention }) => prevention === undefined)
        .map(({ label, ask }) => (
          <Button key={label} onClick={ask}>
            {label}
          </Button>
        ))}
      {step !== undefined && <p class="small muted">{step}</p>}
      {[...prevented.values()].map(group => {
        const [first] = group
        const labels = group.map(({ label }) => label).join(t(', '))
        return (
          first?.prevention && (
            <p key={first.label} class="small muted">
              {describePrevention(first.prevention, labels)}
            </p>
          )
        )
      })}
    </div>
  )
}
