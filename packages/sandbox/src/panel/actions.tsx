import { ask, Field, type FieldProps, type Values } from '@order-relay/web/form.tsx'
import { decimal, serial, sum } from '@order-relay/web/format.ts'
import { request } from '@order-relay/web/http.ts'
import { isolated } from '@order-relay/web/language.ts'
import { toast } from '@order-relay/web/notices.ts'
import { Button } from '@order-relay/web/pieces.tsx'
import { STATUS_NAMES, type Status } from '@order-relay/web/status.tsx'
import { act, orderPath, type SchemaData } from './api.ts'
import { askToCorrect, CORRECTED } from './correct.tsx'
import { t } from './persian.ts'
import { PAYMENT_METHODS } from './pieces.tsx'
import { Rehearsed } from './rehearsed.tsx'

type Order = SchemaData<'OrderDetail'>
type Account = SchemaData<'Account'>

type Action = {
  name: string
  label: string
  statuses: readonly Status[]
  isPossible?: (order: Order) => boolean
  /** In sentences. */
  effect: (order: Order) => readonly (string | false)[]
  /** @param account receives the payments */
  fields?: (order: Order, account: Account | undefined) => FieldProps[]
  bodyOf?: (values: Values, order: Order) => object
  /** Describes the order after a dry run of the action. */
  resultOf?: (after: Order, before: Order) => string
  /** Reports the result; by default, the status and what is due. */
  doneOf?: (after: Order) => string
}

/** The rows with goods that can be returned. */
const openRows = ({ rows }: Order) => rows.filter(({ left }) => Number(left) > 0)

const numbersOf = (documents: readonly { number: number }[]) =>
  documents.map(({ number }) => serial(number)).join(t(', '))

const bookingIn = (account: Account | undefined) => {
  if (account === undefined) return t('No receiving account is selected in the settings.')
  return account.kind === 'cash'
    ? t('Booked to {account} as a cash receipt.', { account: account.name })
    : t(
        'Booked to {account} as a card-reader receipt for card and card reader, otherwise as a transfer receipt.',
        { account: account.name },
      )
}

const goodsOf = ({ rows, returns }: Order) =>
  returns
    .at(-1)
    ?.rows.filter(({ quantity }) => Number(quantity) > 0)
    .map(({ row, quantity }) => `${decimal(quantity)} × ${isolated(rows[row - 1]?.name ?? '')}`)
    .join(t(', ')) ?? ''

const WEBHOOK = t('A webhook is sent to every registered URL.')

const ACTIONS: readonly Action[] = [
  {
    name: 'pay',
    label: t('Register payment'),
    statuses: ['invoiced'],
    effect: ({ balance }) => [
      t('{due} rials are due. A smaller amount is a partial payment, and the order stays invoiced.', {
        due: decimal(balance),
      }),
      t('Once the total is paid, a webhook is sent to every registered URL.'),
    ],
    fields: ({ date, balance }, account) => [
      { name: 'amount', label: t('Amount in rials'), kind: 'number', value: balance },
      {
        ...{ name: 'method', label: t('Method'), options: Object.entries(PAYMENT_METHODS) },
        help: bookingIn(account),
      },
      { name: 'reference', label: t('Reference') },
      { name: 'date', label: t('Date'), kind: 'date', value: date },
    ],
    bodyOf: ({ text, date, number }, { balance }) => ({
      // An order with no amount due gets a receipt of zero.
      ...(balance !== '0' && { amount: number('amount') }),
      ...{ method: text('method'), reference: text('reference'), date: date('date') },
    }),
  },
  {
    name: 'reverse-payment',
    label: t('Reverse payment'),
    statuses: ['invoiced', 'paid'],
    isPossible: ({ receipts }) => receipts.length > 0,
    effect: ({ receipts }) => [
      receipts.length === 1 && t('Receipt {receipt} is cancelled.', { receipt: numbersOf(receipts) }),
      t('An order whose receipts no longer cover its total is invoiced again, and a webhook is sent.'),
    ],
    fields: ({ receipts }) =>
      receipts.length === 1
        ? []
        : [
            {
              ...{ name: 'receipt', label: t('Receipt') },
              options: [
                ['', t('Select a receipt')],
                ['all', t('All receipts')],
                ...receipts.map(
                  ({ number, amount }) =>
                    [
                      String(number),
                      t('{receipt}: {amount} rials', { receipt: serial(number), amount: decimal(amount) }),
                    ] as const,
                ),
              ],
            },
          ],
    bodyOf: ({ required }, { receipts }) => {
      const chosen = receipts.length === 1 ? 'all' : required('receipt')
      return chosen === 'all' ? {} : { receipt: Number(chosen) }
    },
  },
  {
    name: 'return',
    label: t('Register return'),
    statuses: ['invoiced', 'paid'],
    effect: ({ receipts }) => [
      t(
        'The goods go back to stock. Once all of the order is returned, it is refunded, and a webhook is sent.',
      ),
      receipts.length > 0 && t('Receipts do not change.'),
    ],
    fields: order => [
      ...openRows(order).map(
        ({ name, left }, index): FieldProps => ({
          ...{ name: `rows[${index}].quantity`, label: t('Return of {name}', { name }) },
          ...{ kind: 'number', value: left, help: t('At most {left}', { left: decimal(left) }) },
        }),
      ),
      { name: 'reason', label: t('Reason') },
    ],
    bodyOf: (values, order) => ({
      reason: values.text('reason'),
      rows: openRows(order).map(({ row }, index) => ({
        row,
        quantity: values.number(`rows[${index}].quantity`),
      })),
    }),
    resultOf: ({ returned }, before) =>
      t('Amount of the return: {amount} rials', { amount: decimal(sum(returned, `-${before.returned}`)) }),
    doneOf: after =>
      t('Order {order}: {goods} returned, {amount} rials', {
        ...{ order: after.external_id, goods: goodsOf(after) },
        amount: decimal(after.returns.at(-1)?.amount ?? '0'),
      }),
  },
  {
    name: 'review',
    label: t('Move back to review'),
    statuses: ['invoiced', 'paid', 'refunded'],
    effect: ({ status, receipts, returns }) => [
      t('The invoice is a draft again.'),
      status !== 'refunded' && t('Its goods go back to stock.'),
      returns.length > 0 && t('Sales return {number} is cancelled.', { number: numbersOf(returns) }),
      receipts.length > 0 &&
        t('Receipt {receipt} is cancelled and its payment held.', { receipt: numbersOf(receipts) }),
      WEBHOOK,
    ],
    fields: () => [{ name: 'error', label: t('What to review') }],
    bodyOf: values => ({ error: values.required('error') }),
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

const askTo = (action: Action, order: Order, account: Account | undefined) => {
  const { name, label, effect, fields: fieldsOf, bodyOf, resultOf, doneOf } = action
  const fields = fieldsOf?.(order, account) ?? []
  const rehearse = async (values: Values) => {
    const body = { ...bodyOf?.(values, order), dryRun: true }
    return resultOf?.(await request<Order>('POST', orderPath(order, `/${name}`), body), order) ?? ''
  }
  const content = (
    <Rehearsed rehearse={rehearse}>
      <div class="pairs">
        {fields.map(field => (
          <Field key={field.name} {...field} />
        ))}
      </div>
    </Rehearsed>
  )
  ask({
    title: t('{action}: {order}', { action: label, order: order.external_id }),
    action: label,
    text: effect(order).filter(Boolean).join(' '),
    ...(resultOf === undefined ? { fields } : { content }),
    submit: async values => {
      const after = await act(order, name, bodyOf?.(values, order))
      if (doneOf === undefined) done(after)
      else toast(doneOf(after))
    },
  })
}

/** The accountant's actions on an order in its status, besides fixing and retrying it. */
export const Actions = ({ order, account }: { order: Order; account: Account | undefined }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields, not buttons.
  <div class="row" role="group" aria-label={t('Actions')}>
    {ACTIONS.filter(
      ({ statuses, isPossible }) => statuses.includes(order.status) && (isPossible?.(order) ?? true),
    ).map(action => (
      <Button key={action.name} onClick={() => askTo(action, order, account)}>
        {action.label}
      </Button>
    ))}
    {CORRECTED.includes(order.status) &&
      (order.returned === '0' ? (
        <Button onClick={() => askToCorrect(order, done)}>{t('Correct order')}</Button>
      ) : (
        <p class="small muted">
          {t('A part is returned, so the order cannot be corrected: move it back to review first.')}
        </p>
      ))}
  </div>
)
