import { ask } from '@order-relay/web/dialog.tsx'
import { Field, type FieldProps, FormContext } from '@order-relay/web/form.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { decimal } from '@order-relay/web/format.ts'
import { Refusal, request } from '@order-relay/web/http.ts'
import { isolated, listed } from '@order-relay/web/language.ts'
import { Button, Name } from '@order-relay/web/pieces.tsx'
import type { Status } from '@order-relay/web/status.tsx'
import { type Signal, signal } from '@preact/signals'
import type { TargetedEvent } from 'preact'
import { useContext, useRef } from 'preact/hooks'
import { correction as correctionRules } from '../panel-requests.ts'
import { normalized } from '../search.ts'
import { act, type Key, orderPath, type SchemaData } from './api.ts'
import { type Corrected, correctionOf, type Line, linesOf, mobileOf, shippingOf } from './correction.ts'
import { heldAt, isWhole } from './held-payments.tsx'
import { issuesOf } from './issues.ts'
import { t } from './persian.ts'
import { customerName } from './pieces.tsx'
import { Rehearsed } from './rehearsed.tsx'
import { nameOfYear } from './sums.tsx'

type Order = SchemaData<'OrderDetail'>
type Product = SchemaData<'Product'>
type FiscalYear = SchemaData<'FiscalYear'>

/** The statuses in which an order can be corrected. */
export const CORRECTED: readonly Status[] = ['needs_review', 'invoiced', 'paid']

const newLine = (id: number): Line => ({
  id,
  sku: '',
  name: '',
  quantity: 1,
  unit_price: '',
  discount: 0,
})

const comparable = (text: string) => normalized(text).trim()

/** The products whose code or name contains a text, in Arabic or Persian spelling, as in the list of products. */
const matching = (typed: string, products: readonly Product[]) =>
  products.filter(({ sku, name }) => comparable(`${sku} ${name}`).includes(comparable(typed)))

/** The product with this code, or else the only one with this name, or with this text in its code or name. */
const productFor = (typed: string, products: readonly Product[]) => {
  const found = products.find(({ sku }) => sku === typed)
  if (found !== undefined || typed === '') return found
  const matches = matching(typed, products)
  const named = matches.filter(({ name }) => comparable(name) === comparable(typed))
  const candidates = named.length > 0 ? named : matches
  return candidates.length === 1 ? candidates[0] : undefined
}

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

/** Maximum number of suggested products. Typing finds the others. */
const CHOICES = 100

/** Maximum number of matching products to name. */
const NAMED = 3

/** Why a text does not identify one product. */
const unclear = (typed: string, products: readonly Product[]) => {
  const matches = matching(typed, products)
  if (matches.length === 0) return t('No product has this code or name')
  const names = listed(matches.slice(0, NAMED).map(({ sku, name }) => `${isolated(name)} (${isolated(sku)})`))
  return matches.length > NAMED
    ? t('{count} {count|product matches|products match}: {names} and others', {
        count: matches.length,
        names,
      })
    : t('{count} {count|product matches|products match}: {names}', { count: matches.length, names })
}

const number = (
  name: string,
  label: string,
  value: string | number,
  kind: FieldProps['kind'] = 'number',
): FieldProps => ({ name, label, value, kind })

type LineProps = Line & { position: number; products: readonly Product[]; onRemove?: () => void }

const LineFields = ({ id, position, products, onRemove, ...line }: LineProps) => {
  const of = (field: string) => `items[${id}].${field}`
  const { draft } = useContext(FormContext)
  const chosen = String(draft.value[of('sku')] ?? line.sku).trim()
  const product = products.find(({ sku }) => sku === chosen)
  const givenPrice = useRef(decimal(line.unit_price))
  const onChange = ({ target, currentTarget }: TargetedEvent<HTMLFieldSetElement>) => {
    if (!(target instanceof HTMLInputElement && target.name === of('sku'))) return
    const typed = target.value.trim()
    const found = productFor(typed, products)
    if (found !== undefined && found.sku !== target.value) {
      target.value = found.sku
      target.dispatchEvent(new Event('input', { bubbles: true }))
    }
    const price = found?.price
    const input = currentTarget.querySelector<HTMLInputElement>(`[name="${of('unit_price')}"]`)
    if (price == null || input === null) return
    // A price that the accountant typed stays.
    if (input.value !== '' && input.value !== givenPrice.current) return
    givenPrice.current = decimal(price)
    input.value = givenPrice.current
    input.dispatchEvent(new Event('input', { bubbles: true }))
  }
  return (
    <fieldset class="line" onChange={onChange}>
      <legend class="small muted">{t('Row {number}', { number: position })}</legend>
      <Field
        name={of('sku')}
        label={t('Product')}
        value={line.sku}
        suggestions={(product ? products : matching(chosen, products))
          .slice(0, CHOICES)
          .map(({ sku, name }) => [sku, `${sku} · ${isolated(name)}`] as const)}
        help={
          product ? (
            <Name>{product.name}</Name>
          ) : chosen === '' ? (
            t('Type the code or the name of a product.')
          ) : (
            unclear(chosen, products)
          )
        }
      />
      <Field {...number(of('quantity'), t('Quantity'), line.quantity)} />
      <Field {...number(of('unit_price'), t('Unit price'), line.unit_price, 'rials')} />
      <Field {...number(of('discount'), t('Discount'), line.discount, 'rials')} />
      {onRemove && (
        <Button kind="small" label={t('Remove row {number}', { number: position })} onClick={onRemove}>
          {t('Remove')}
        </Button>
      )}
    </fieldset>
  )
}

type CorrectionProps = Corrected & {
  products: readonly Product[]
  years: readonly FiscalYear[]
  lines: Signal<readonly Line[]>
}

/** The fields of a correction, with the resulting total as the service computes it. */
const Correction = ({ order, heldAs, products, years, lines }: CorrectionProps) => {
  // The id of a removed row is not used again: the form still has what was typed in its fields.
  const nextId = useRef(Math.max(-1, ...lines.value.map(({ id }) => id)) + 1)
  const rehearse = async (values: Values) => {
    const body = { ...correctionOf(values, lines.value, { order, heldAs }), dryRun: true }
    const after = await request<Order>('POST', orderPath(order, '/correct'), body).catch(error => {
      throw error instanceof Refusal ? withIds(error, lines.value) : error
    })
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
              lines.value = lines.value.filter(({ id }) => id !== line.id)
            },
          })}
        />
      ))}
      <p>
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
        {order.held_payments.filter(isWhole).map(held => (
          <Field
            key="heldPayment"
            name="heldPayment"
            label={t('Amount of the held payment')}
            // After an earlier correction, it keeps paying the whole invoice unless the accountant decides otherwise.
            value={held.total === order.total ? 'received' : 'invoice'}
            options={[
              ['received', t('{amount} rials, as it came in', { amount: decimal(held.total) })],
              ['invoice', t('The whole invoice, with its new total')],
            ]}
            help={t('Matters only if the new total differs from the amount that came in.')}
          />
        ))}
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
  const heldAs = order.held_payments.find(payment => !isOpen(payment))?.date
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
    content: <Correction order={order} heldAs={heldAs} products={products} years={years} lines={lines} />,
    isEdited: () => lines.value !== before,
    check: values =>
      issuesOf(correctionRules, correctionOf(values, lines.value, { order, heldAs })).map(issue =>
        withIds(issue, lines.value),
      ),
    submit: async values => {
      const correction = correctionOf(values, lines.value, { order, heldAs })
      const corrected = await act(order, 'correct', correction).catch(error => {
        throw error instanceof Refusal ? withIds(error, lines.value) : error
      })
      onDone(corrected)
    },
  })
}
