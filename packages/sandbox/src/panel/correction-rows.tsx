import { Field, type FieldProps, FormContext } from '@order-relay/web/form.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { decimal } from '@order-relay/web/format.ts'
import { Refusal } from '@order-relay/web/http.ts'
import { dash, isolated, listed } from '@order-relay/web/language.ts'
import { Button, Name } from '@order-relay/web/pieces.tsx'
import type { TargetedEvent, TargetedKeyboardEvent } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'
import { normalized } from '../search.ts'
import type { SchemaData } from './api.ts'
import type { Line } from './correction.ts'
import { t } from './persian.ts'

export type Product = SchemaData<'Product'>

export const newLine = (id: number): Line => ({
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

export const number = (
  name: string,
  label: string,
  value: string | number,
  kind: FieldProps['kind'] = 'number',
): FieldProps => ({ name, label, value, kind })

type LineProps = Line & {
  position: number
  products: readonly Product[]
  onRemove?: () => void
}

/** The problems of new items whose product is not known, so that their prices cannot be filled in. */
export const unknownProducts = (values: Values, lines: readonly Line[], products: readonly Product[]) =>
  lines.flatMap(({ id }) => {
    const field = `items[${id}].sku`
    const typed = values.text(field)
    const isPriced = values.text(`items[${id}].unit_price`) !== ''
    return typed === '' || isPriced || products.some(({ sku }) => sku === typed)
      ? []
      : [new Refusal(unclear(typed, products), { field })]
  })

/** The fields of one item. A new one takes the focus. */
export const LineFields = ({ id, position, products, onRemove, ...line }: LineProps) => {
  const fieldset = useRef<HTMLFieldSetElement>(null)
  const of = (field: string) => `items[${id}].${field}`
  const { draft } = useContext(FormContext)
  const chosen = String(draft.value[of('sku')] ?? line.sku).trim()
  const product = products.find(({ sku }) => sku === chosen)
  const givenPrice = useRef(decimal(line.unit_price))
  const inputOf = (field: string) =>
    fieldset.current?.querySelector<HTMLInputElement>(`[name="${of(field)}"]`) ?? null
  useLayoutEffect(() => {
    if (line.sku === '') inputOf('sku')?.focus()
  }, [])
  const onChange = ({ target }: TargetedEvent<HTMLFieldSetElement>) => {
    if (!(target instanceof HTMLInputElement && target.name === of('sku'))) return
    const typed = target.value.trim()
    const found = productFor(typed, products)
    if (found !== undefined && found.sku !== target.value) {
      target.value = found.sku
      target.dispatchEvent(new Event('input', { bubbles: true }))
    }
    const input = inputOf('unit_price')
    if (found === undefined || input === null) return
    // A price that the accountant typed stays.
    if (input.value !== '' && input.value !== givenPrice.current) return
    givenPrice.current = found.price == null ? '' : decimal(found.price)
    input.value = givenPrice.current
    input.dispatchEvent(new Event('input', { bubbles: true }))
  }
  // Enter would otherwise submit the form before the price that is filled in is visible.
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLFieldSetElement>) => {
    const { key, target } = event
    if (key !== 'Enter' || !(target instanceof HTMLInputElement && target.name === of('sku'))) return
    event.preventDefault()
    // Leaving the field triggers its change event.
    if (productFor(target.value.trim(), products) !== undefined) inputOf('quantity')?.focus()
  }
  return (
    <fieldset ref={fieldset} class="line" onChange={onChange} onKeyDown={onKeyDown}>
      <legend class="small muted">{t('Row {number}', { number: position })}</legend>
      <Field
        name={of('sku')}
        label={t('Product')}
        value={line.sku}
        suggestions={(product ? products : matching(chosen, products))
          .slice(0, CHOICES)
          .map(({ sku, name }) => [sku, `${sku}${dash}${isolated(name)}`] as const)}
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
