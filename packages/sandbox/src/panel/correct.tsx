import { ask } from '@order-relay/web/dialog.tsx'
import { Field } from '@order-relay/web/form.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { decimal } from '@order-relay/web/format.ts'
import { Refusal, request } from '@order-relay/web/http.ts'
import { Button } from '@order-relay/web/pieces.tsx'
import type { Status } from '@order-relay/web/status.tsx'
import { type Signal, signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { adjustableIn } from '../held.ts'
import { correction as correctionRules } from '../panel-requests.ts'
import { act, type Key, orderPath, type SchemaData } from './api.ts'
import { type Corrected, correctionOf, type Line, linesOf, mobileOf, shippingOf } from './correction.ts'
import { LineFields, newLine, number, type Product, unknownProducts } from './correction-rows.tsx'
import { heldAt, keptDates } from './held-payments.tsx'
import { issuesOf } from './issues.ts'
import { t } from './persian.ts'
import { customerName } from './pieces.tsx'
import { Rehearsed } from './rehearsed.tsx'
import { nameOfYear } from './sums.tsx'

type Order = SchemaData<'OrderDetail'>
type FiscalYear = SchemaData<'FiscalYear'>

/** The statuses in which an order can be corrected. */
export const CORRECTED: readonly Status[] = ['needs_review', 'invoiced', 'paid']

/** Says who the invoice is booked to, if it is another customer. */
const customerAt = (after: Order, before: Order, mobile: string) => {
  if (after.customer?.code === before.customer?.code) return false
  const nameOf = (order: Order) => customerName(order.customer?.name ?? '')
  const about = { customer: nameOf(after), old: nameOf(before) }
  return mobile === ''
    ? t(
        'Without a mobile number, the invoice is booked to the default customer, {customer}, instead of {old}.',
        about,
      )
    : t('The invoice is booked to {customer} instead of {old}.', about)
}

/** Says that the invoice moves to another fiscal year. */
const yearAt = (after: Order, before: Order, years: readonly FiscalYear[]) => {
  const [year, old] = [after, before].map(({ date }) =>
    years.find(({ from, to }) => from <= date && date <= to),
  )
  return (
    year !== undefined &&
    old !== undefined &&
    year !== old &&
    t('The invoice moves from fiscal year {old} to {year}.', { old: nameOfYear(old), year: nameOfYear(year) })
  )
}

/** The service names fields by the position of the item. */
const withIds = (error: Refusal, lines: readonly Line[]) => {
  const field = error.field?.replace(/^items\[(\d+)\]/, (_, index) => `items[${lines[index]?.id}]`)
  return new Refusal(error.message, { status: error.status, field })
}

type CorrectionProps = Corrected & {
  /** The held payments that are dated outside the open fiscal years. */
  outside: Order['held_payments']
  products: readonly Product[]
  years: readonly FiscalYear[]
  lines: Signal<readonly Line[]>
}

/** The order as a correction would leave it. */
const dryRun = (order: Order, correction: object, lines: readonly Line[]) =>
  request<Order>('POST', orderPath(order, '/correct'), { ...correction, dryRun: true }).catch(error => {
    throw error instanceof Refusal ? withIds(error, lines) : error
  })

/** The fields of a correction, with the resulting total as the service computes it. */
const Correction = ({ order, heldAs, outside, products, years, lines }: CorrectionProps) => {
  const addRow = useRef<HTMLParagraphElement>(null)
  const held = adjustableIn(order.held_payments)
  // The id of a removed row is not used again: the form still has what was typed in its fields.
  const nextId = useRef(Math.max(-1, ...lines.value.map(({ id }) => id)) + 1)
  const rehearse = async (values: Values) => {
    const after = await dryRun(order, correctionOf(values, lines.value, { order, heldAs }), lines.value)
    const total = t('New total: {total} rials', { total: decimal(after.total) })
    const customer = customerAt(after, order, values.text('mobile'))
    return [`${total}.`, ...heldAt(after, order), customer, yearAt(after, order, years)]
      .filter(Boolean)
      .join(' ')
  }
  return (
    <Rehearsed rehearse={rehearse} of={lines.value}>
      {lines.value.map((line, index) => (
        <LineFields
          key={line.id}
          {...line}
          position={index + 1}
          products={products}
          {...(lines.value.length > 1 && {
            onRemove: () => {
              addRow.current?.querySelector('button')?.focus()
              lines.value = lines.value.filter(({ id }) => id !== line.id)
            },
          })}
        />
      ))}
      <p ref={addRow}>
        <Button
          kind="small"
          onClick={() => {
            lines.value = [...lines.value, newLine(nextId.current)]
            nextId.current += 1
          }}
        >
          {t('Add row')}
        </Button>
      </p>
      <div class="pairs">
        <Field {...number('shipping', t('Shipping'), shippingOf(order), 'rials')} />
        <Field {...number('discount', t('Order discount'), order.totals.orderDiscount, 'rials')} />
        <Field name="date" label={t('Date')} kind="date" value={order.date} />
        {heldAs !== undefined && (
          <Field name="paymentDate" label={t('Date of the held payment')} kind="date" value={heldAs} />
        )}
        {outside.length > 1 && <p class="small muted">{keptDates(outside, order)}</p>}
        {held && (
          <Field
            name="heldPayment"
            label={t('Amount of the held payment')}
            // After an earlier correction, it keeps paying the whole invoice unless the accountant decides otherwise.
            value={held.amount !== null || held.total === order.total ? 'received' : 'invoice'}
            options={[
              ['received', t('{amount} rials, as it came in', { amount: decimal(held.total) })],
              ['invoice', t('The whole invoice, with its new total')],
            ]}
            help={t(
              'Matters only if the new total differs from the amount that came in. Can be changed until the invoice is finalized.',
            )}
          />
        )}
        <Field name="mobile" label={t('Mobile number of the customer')} value={mobileOf(order)} />
        <Field
          name="customer-name"
          label={t('Name of a new customer')}
          help={t('If the mobile number is known, the order is booked to the customer who has it.')}
        />
        <Field name="reason" label={t('Reason')} help={t('Optional; for the history.')} />
      </div>
    </Rehearsed>
  )
}

type Calendar = {
  years: readonly FiscalYear[]
  /** Whether a document is dated in an open fiscal year. */
  isOpen: (document: { date: string }) => boolean
}

/** Asks for the corrected rows of an order. */
export const askToCorrect = async (key: Key, { years, isOpen }: Calendar, onDone: (order: Order) => void) => {
  // The page may not show the latest change yet.
  const [order, { products }] = await Promise.all([
    request<Order>('GET', orderPath(key)),
    request<SchemaData<'ProductList'>>('GET', '/panel/products'),
  ])
  const outside = order.held_payments.filter(payment => !isOpen(payment))
  const heldAs = outside.length === 1 ? outside[0]?.date : undefined
  const before = linesOf(order)
  const lines = signal(before)
  const total = decimal(order.total)
  ask({
    title: t('{action}: {order}', { action: t('Correct order'), order: order.external_id }),
    action: t('Correct order'),
    text:
      order.status === 'paid'
        ? t('The invoice is repriced. The total must stay {total} rials while the order is paid.', { total })
        : t('The invoice is repriced, currently {total} rials.', { total }),
    content: (
      <Correction
        order={order}
        heldAs={heldAs}
        outside={outside}
        products={products}
        years={years}
        lines={lines}
      />
    ),
    isEdited: () => lines.value !== before,
    check: values => [
      ...issuesOf(correctionRules, correctionOf(values, lines.value, { order, heldAs })).map(issue =>
        withIds(issue, lines.value),
      ),
      ...unknownProducts(values, lines.value, products),
    ],
    submit: async values => {
      const correction = correctionOf(values, lines.value, { order, heldAs })
      const corrected = await act(order, 'correct', correction).catch(error => {
        throw error instanceof Refusal ? withIds(error, lines.value) : error
      })
      onDone(corrected)
    },
  })
}
