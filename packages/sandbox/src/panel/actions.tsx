import { ask, type FieldProps, type Values } from '@order-relay/web/form.tsx'
import { decimal, exactNumber, serial } from '@order-relay/web/format.ts'
import { toast } from '@order-relay/web/notices.ts'
import { Button } from '@order-relay/web/pieces.tsx'
import { STATUS_NAMES, type Status } from '@order-relay/web/status.tsx'
import { act, type SchemaData } from './api.ts'
import { t } from './persian.ts'
import { PAYMENT_METHODS } from './pieces.tsx'

type Order = SchemaData<'OrderDetail'>

type Action = {
  name: string
  label: string
  statuses: readonly Status[]
  /** In sentences. */
  effect: (order: Order) => readonly (string | false)[]
  fields?: (order: Order) => FieldProps[]
  bodyOf?: (values: Values, order: Order) => object
}

const number = (name: string, label: string, value: string | number) =>
  ({ name, label, value, kind: 'number' }) as const

const itemsOf = ({ rows }: Order) => rows.filter(({ kind }) => kind === 'item')

const mobileOf = ({ customer }: Order) => customer?.mobile ?? ''

const shippingOf = ({ rows }: Order) => rows.find(({ kind }) => kind === 'shipping')?.unit_price ?? '0'

const correctionOf = (values: Values, order: Order) => ({
  items: itemsOf(order).map(({ sku, name, discount }, index) => ({
    ...{ sku, name, discount: exactNumber(discount) },
    quantity: values.number(`items[${index}].quantity`),
    unit_price: values.number(`items[${index}].unit_price`),
  })),
  shipping: values.number('shipping'),
  discount: values.number('discount'),
  // The customer of an order without a mobile number may have been chosen by its settings at the time.
  ...(values.text('mobile') !== mobileOf(order) && { customer: { mobile: values.text('mobile') } }),
})

const receiptOf = (number: number | null) => ({ receipt: number === null ? '' : serial(number) })

const WEBHOOK = t('A webhook is sent to every registered URL.')

const ACTIONS: readonly Action[] = [
  {
    name: 'pay',
    label: t('Register payment'),
    statuses: ['invoiced'],
    effect: ({ total }) => [
      t('A receipt of {total} rials is registered, and the order is paid.', { total: decimal(total) }),
      WEBHOOK,
    ],
    fields: ({ date }) => [
      { name: 'method', label: t('Method'), options: Object.entries(PAYMENT_METHODS) },
      { name: 'reference', label: t('Reference') },
      { name: 'date', label: t('Date'), kind: 'date', value: date },
    ],
    bodyOf: ({ text, date }) => ({
      ...{ method: text('method'), reference: text('reference'), date: date('date') },
    }),
  },
  {
    name: 'reverse-payment',
    label: t('Reverse payment'),
    statuses: ['paid'],
    effect: ({ receipt_number }) => [
      t('Receipt {receipt} is cancelled, and the order is invoiced again.', receiptOf(receipt_number)),
      WEBHOOK,
    ],
  },
  {
    name: 'return',
    label: t('Register return'),
    statuses: ['invoiced', 'paid'],
    effect: ({ receipt_number }) => [
      t('All goods go back to stock, and the order is refunded.'),
      receipt_number !== null && t('Receipt {receipt} stays as it is.', receiptOf(receipt_number)),
      WEBHOOK,
    ],
    fields: () => [{ name: 'reason', label: t('Reason') }],
    bodyOf: values => ({ reason: values.text('reason') }),
  },
  {
    name: 'review',
    label: t('Move back to review'),
    statuses: ['invoiced', 'paid', 'refunded'],
    effect: ({ receipt_number, return_number }) => [
      t('The invoice is a draft again.'),
      return_number === null
        ? t('Its goods go back to stock.')
        : t('Sales return {number} is cancelled.', { number: serial(return_number) }),
      receipt_number !== null &&
        t('Receipt {receipt} is cancelled and its payment held.', receiptOf(receipt_number)),
      WEBHOOK,
    ],
    fields: () => [{ name: 'error', label: t('What to review') }],
    bodyOf: values => ({ error: values.required('error') }),
  },
  {
    name: 'correct',
    label: t('Correct order'),
    statuses: ['needs_review', 'invoiced', 'paid'],
    effect: ({ status, total }) => [
      t(
        status === 'paid'
          ? 'The invoice is repriced. The total must stay {total} rials while the order is paid.'
          : 'The invoice is repriced, currently {total} rials.',
        { total: decimal(total) },
      ),
    ],
    fields: order => [
      ...itemsOf(order).flatMap(({ name, quantity, unit_price }, index) => [
        number(`items[${index}].quantity`, t('Quantity of {name}', { name: String(name) }), quantity),
        number(`items[${index}].unit_price`, t('Unit price of {name}', { name: String(name) }), unit_price),
      ]),
      number('shipping', t('Shipping'), shippingOf(order)),
      number('discount', t('Order discount'), order.totals.orderDiscount),
      { name: 'mobile', label: t('Mobile number of the customer'), value: mobileOf(order) },
    ],
    bodyOf: correctionOf,
  },
]

const askTo = ({ name, label, effect, fields, bodyOf }: Action, order: Order) =>
  ask({
    title: t('{action}: {order}', { action: label, order: order.external_id }),
    action: label,
    text: effect(order).filter(Boolean).join(' '),
    fields: fields?.(order) ?? [],
    submit: async values => {
      const { status, total } = await act(order, name, bodyOf?.(values, order))
      toast(
        t('Order {order}: {status}, {total} rials', {
          ...{ order: order.external_id, status: STATUS_NAMES[status], total: decimal(total) },
        }),
      )
    },
  })

/** The accountant's actions on an order in its status, besides fixing and retrying it. */
export const Actions = ({ order }: { order: Order }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields, not buttons.
  <div class="row" role="group" aria-label={t('Actions')}>
    {ACTIONS.filter(({ statuses }) => statuses.includes(order.status)).map(action => (
      <Button key={action.name} onClick={() => askTo(action, order)}>
        {action.label}
      </Button>
    ))}
  </div>
)
