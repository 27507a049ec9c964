import { ask, type FieldProps, type Values } from '../../web/form.tsx'
import { decimal, exactNumber } from '../../web/format.ts'
import { toast } from '../../web/notices.ts'
import { Button } from '../../web/pieces.tsx'
import { type Answer, act } from './api.ts'
import { PAYMENT_METHODS, STATUS_NAMES, type Status } from './pieces.tsx'

type Order = Answer<'OrderDetail'>

type Action = {
  name: string
  label: string
  statuses: readonly Status[]
  effect: (order: Order) => string
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

const WEBHOOK = 'A webhook is sent to every registered URL.'

const ACTIONS: readonly Action[] = [
  {
    name: 'pay',
    label: 'Register payment',
    statuses: ['invoiced'],
    effect: ({ total }) =>
      `A receipt of ${decimal(total)} rials is registered, and the order is paid. ${WEBHOOK}`,
    fields: () => [
      { name: 'method', label: 'Method', options: Object.entries(PAYMENT_METHODS) },
      { name: 'reference', label: 'Reference' },
    ],
    bodyOf: values => ({ method: values.text('method'), reference: values.text('reference') }),
  },
  {
    name: 'reverse-payment',
    label: 'Reverse payment',
    statuses: ['paid'],
    effect: ({ receipt_number }) =>
      `Receipt ${receipt_number} is cancelled, and the order is invoiced again. ${WEBHOOK}`,
  },
  {
    name: 'return',
    label: 'Register return',
    statuses: ['invoiced', 'paid'],
    effect: ({ receipt_number }) =>
      [
        'All goods go back to stock, and the order is refunded.',
        receipt_number !== null && `Receipt ${receipt_number} stays as it is.`,
        WEBHOOK,
      ]
        .filter(Boolean)
        .join(' '),
    fields: () => [{ name: 'reason', label: 'Reason' }],
    bodyOf: values => ({ reason: values.text('reason') }),
  },
  {
    name: 'review',
    label: 'Move back to review',
    statuses: ['invoiced', 'paid', 'refunded'],
    effect: ({ receipt_number, return_number }) =>
      [
        'The invoice is a draft again.',
        return_number === null
          ? 'Its goods go back to stock.'
          : `Sales return ${return_number} is cancelled.`,
        receipt_number !== null && `Receipt ${receipt_number} is cancelled and its payment held.`,
        WEBHOOK,
      ]
        .filter(Boolean)
        .join(' '),
    fields: () => [{ name: 'error', label: 'What to review' }],
    bodyOf: values => ({ error: values.required('error') }),
  },
  {
    name: 'correct',
    label: 'Correct order',
    statuses: ['needs_review', 'invoiced', 'paid'],
    effect: ({ status, total }) =>
      status === 'paid'
        ? `The invoice is priced again. The total must stay ${decimal(total)} rials while the order is paid.`
        : `The invoice is priced again, at ${decimal(total)} rials until now. If the total changes, a webhook is sent.`,
    fields: order => [
      ...itemsOf(order).flatMap(({ name, quantity, unit_price }, index) => [
        number(`items[${index}].quantity`, `Quantity of ${name}`, quantity),
        number(`items[${index}].unit_price`, `Unit price of ${name}`, unit_price),
      ]),
      number('shipping', 'Shipping', shippingOf(order)),
      number('discount', 'Order discount', order.totals.orderDiscount),
      { name: 'mobile', label: 'Mobile number of the customer', value: mobileOf(order) },
    ],
    bodyOf: correctionOf,
  },
]

const askTo = ({ name, label, effect, fields, bodyOf }: Action, order: Order) =>
  ask({
    title: `${label}: ${order.external_id}`,
    action: label,
    text: effect(order),
    fields: fields?.(order) ?? [],
    submit: async values => {
      const { status, total } = await act(order, name, bodyOf?.(values, order))
      toast(`Order ${order.external_id}: ${STATUS_NAMES[status]}, ${decimal(total)} rials`)
    },
  })

/** What the accountant can do with an order in its status, besides fixing and retrying it. */
export const Actions = ({ order }: { order: Order }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields, not buttons.
  <div class="row" role="group" aria-label="Actions">
    {ACTIONS.filter(({ statuses }) => statuses.includes(order.status)).map(action => (
      <Button key={action.name} onClick={() => askTo(action, order)}>
        {action.label}
      </Button>
    ))}
  </div>
)
