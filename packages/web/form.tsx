import { type Signal, signal, useSignal } from '@preact/signals'
import {
  type ComponentChildren,
  createContext,
  type TargetedEvent,
  type TargetedFocusEvent,
  type TargetedInputEvent,
  type TargetedSubmitEvent,
} from 'preact'
import { useContext, useLayoutEffect } from 'preact/hooks'
import { exactDate } from './calendar.ts'
import { DateInput, notDate } from './date-input.tsx'
import { decimal, decimalSignIn, exactNumber, hasSlash, isMisgrouped, withoutRials } from './format.ts'
import { messageOf, Refusal } from './http.ts'
import { translateMessage } from './messages.ts'
import { hideToast } from './notices.ts'
import { t } from './persian.ts'

/** The unsaved changes of a form, by field name. */
export type Draft = Record<string, string | boolean>

type FormState = {
  draft: Signal<Draft>
  problem: Signal<Refusal | undefined>
  /** Whether it is being submitted. */
  busy: Signal<boolean>
  /** What submitting it would do, shown next to its button. */
  outcome: Signal<string | undefined>
}

export const FormContext = createContext<FormState>({
  draft: signal({}),
  problem: signal(undefined),
  busy: signal(false),
  outcome: signal(undefined),
})

/** Shows what submitting the form would do next to its button, which stays in view. */
export const Outcome = ({ children }: { children: string }) => {
  const { outcome } = useContext(FormContext)
  useLayoutEffect(() => {
    outcome.value = children
  }, [children])
  return null
}

/** The values of a form when it is submitted. */
export type Values = ReturnType<typeof valuesOf>

export const valuesOf = (form: HTMLFormElement) => {
  const data = new FormData(form)
  const text = (field: string) => String(data.get(field) ?? '').trim()
  const required = (field: string) => {
    if (text(field) === '') throw new Refusal(t('Fill in this field'), { field })
    return text(field)
  }
  const numberIn = (field: string, typed: string) => {
    const number = exactNumber(typed)
    if (number !== undefined) return number
    if (hasSlash(typed)) {
      const example = decimal('2.5')
      throw new Refusal(t('"{typed}" is not a number. Type decimals like {example}.', { typed, example }), {
        field,
      })
    }
    throw new Refusal(
      isMisgrouped(typed)
        ? t('"{typed}" is not a number: separators make groups of three digits', { typed })
        : t('"{typed}" is not a number', { typed }),
      { field },
    )
  }
  const number = (field: string) => numberIn(field, required(field))
  const rials = (field: string) => {
    const typed = required(field)
    const sign = decimalSignIn(typed)
    if (sign === undefined) return numberIn(field, withoutRials(typed))
    throw new Refusal(
      t(
        '"{typed}" has a decimal point, and rials have no fractions: "{sign}" separates decimals, not thousands. Type thousands like {example}.',
        {
          ...{ typed, sign, example: decimal(5_000_000) },
        },
      ),
      { field },
    )
  }
  return {
    text,
    isOn: (field: string) => data.has(field),
    /** The bytes of a body, of its file if one is chosen, in base64, since JSON has only text. */
    base64: async (field: string) => {
      const file = data.get(`${field}-file`)
      const isChosen = file instanceof File && file.size > 0
      const bytes = await (isChosen ? file : new Blob([data.get(field) ?? ''])).arrayBuffer()
      return btoa(Array.from(new Uint8Array(bytes), byte => String.fromCharCode(byte)).join(''))
    },
    /** @throws Refusal when nothing is typed */
    required,
    /** @throws Refusal when it is not a number */
    number,
    /** @throws Refusal when it is not a whole number, or has a point that may separate thousands */
    rials,
    /** A number whose digits beyond the sixteenth do not matter. @throws Refusal if it is not a number */
    count: (field: string) => Number(JSON.stringify(number(field))),
    /** @throws Refusal when it is not a date */
    date: (field: string) => {
      const date = exactDate(required(field))
      if (date !== undefined) return date
      throw new Refusal(notDate(text(field), labelOf(controlOf(form, field)) ?? field), { field })
    },
  }
}

const controlOf = (form: HTMLFormElement, name: string | undefined) =>
  [...form.elements].find(control => name !== undefined && control.getAttribute('name') === name)

const labelOf = (control: Element | undefined) =>
  control instanceof HTMLInputElement ? control.labels?.[0]?.textContent : undefined

const quotedLabel = (control: Element | undefined) => {
  const label = labelOf(control)
  return label == null ? undefined : `"${label}"`
}

/** An amount at the end of a rule, with separators. Mobile numbers, dates and fractions have none. */
const grouped = (rule: string) =>
  rule.replace(/(?<![\d.-])[1-9]\d{3,}$/, digits => BigInt(digits).toLocaleString('en'))

/** The problem in the form's terms: the rule next to the field, and labels instead of names. */
const inWords = (error: unknown, form: HTMLFormElement) => {
  if (!(error instanceof Refusal)) return new Refusal(messageOf(error))
  const { field, message } = error
  // The service may name a part of a field's value.
  const known = [field, field?.split(/[.[]/)[0], field?.split('.').at(-1)].find(name => controlOf(form, name))
  if (known === undefined) return new Refusal(messageOf(error))
  const rule = message
    .replace(/^Field "[^"]*" is missing$/, t('Fill in this field'))
    .replace(/^Field "[^"]*" is (?:".*"|[^:]*): /s, '')
    .replace(/"([^"]+)"/g, (whole, name) => quotedLabel(controlOf(form, name)) ?? whole)
  return new Refusal(
    translateMessage(grouped(rule)).replace(/^./, first => first.toUpperCase()),
    { field: known },
  )
}

/** The problem with the row or the label of its field, for readers who do not see it next to the field. */
export const namedProblem = (error: unknown, form: HTMLFormElement) => {
  const { field, message } = inWords(error, form)
  const control = controlOf(form, field)
  const row = control?.closest('fieldset')?.querySelector('legend')?.textContent
  const name = row ?? labelOf(control)
  return name == null ? message : t('{field}: {problem}', { field: name, problem: message })
}

export type FormProps = {
  label?: string
  class?: string
  /** The class of an element around the fields, for one that scrolls. */
  body?: string
  /** The label of the submit button. */
  action: string
  /** Marks an action that cannot be undone. */
  tone?: 'bad' | undefined
  submit: (values: Values) => Promise<unknown>
  /** Keeps unsaved changes after the form is closed. */
  draft?: Signal<Draft>
  buttons?: ComponentChildren
  children: ComponentChildren
}

/** A form that shows errors next to their fields and cannot be submitted twice concurrently. */
export const Form = ({ label, class: kind, action, tone, submit, draft: kept, ...rest }: FormProps) => {
  const { body, buttons, children } = rest
  const own = useSignal<Draft>({})
  const draft = kept ?? own
  const problem = useSignal<Refusal | undefined>(undefined)
  const busy = useSignal(false)
  const outcome = useSignal<string | undefined>(undefined)

  const onInput = ({ target }: TargetedInputEvent<HTMLFormElement>) => {
    if (
      !(
        target instanceof HTMLInputElement ||
        target instanceof HTMLSelectElement ||
        target instanceof HTMLTextAreaElement
      )
    )
      return
    const value = target.type === 'checkbox' ? 'checked' in target && target.checked : target.value
    // A secret is kept only in its field.
    if (target.type !== 'password') draft.value = { ...draft.value, [target.name]: value }
    // An error of the whole form may be resolved, too.
    if ([undefined, target.name].includes(problem.value?.field)) problem.value = undefined
  }
  const onSubmit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    if (busy.value) return
    busy.value = true
    problem.value = undefined
    hideToast()
    try {
      await submit(valuesOf(form))
    } catch (error) {
      problem.value = inWords(error, form)
      const control = controlOf(form, problem.value.field)
      control?.closest('details')?.setAttribute('open', '')
      if (control instanceof HTMLElement) control.focus()
    }
    busy.value = false
  }
  return (
    <FormContext.Provider value={{ draft, problem, busy, outcome }}>
      <form {...{ onInput, onSubmit }} class={kind} aria-label={label} aria-busy={busy.value} noValidate>
        {body === undefined ? children : <div class={body}>{children}</div>}
        <div class="foot">
          {outcome.value !== undefined && (
            <p class="outcome strong" role="status">
              {outcome}
            </p>
          )}
          <p class="error" role="alert">
            {problem.value?.field === undefined && problem.value?.message}
          </p>
          <div class="row">
            <button type="submit" class="button primary" data-tone={tone}>
              {action}
            </button>
            {buttons}
          </div>
        </div>
      </form>
    </FormContext.Provider>
  )
}

export type FieldProps = {
  name: string
  label: string
  help?: ComponentChildren
  kind?: 'text' | 'number' | 'rials' | 'date' | 'switch' | 'secret' | 'body'
  value?: string | number | boolean | null
  suffix?: string
  readOnly?: boolean
  /** Takes focus when its dialog opens, its text selected. */
  autofocus?: boolean
  /** What follows from the value, below the control. */
  below?: ComponentChildren
  /** The values to choose from; without them, the value is typed freely. */
  options?: OptionsProps['options']
  /** Suggestions for a typed value. */
  suggestions?: OptionsProps['options'] | undefined
}

type OptionsProps = { options: readonly (readonly [value: string, text: string])[] }

/** The options of a `select`. */
export const Options = ({ options }: OptionsProps) =>
  options.map(([value, text]) => (
    <option key={value} value={value} dir="auto">
      {text}
    </option>
  ))

/** A typed amount of whole rials. A point may separate thousands, so an amount with one is not known. */
export const rialsIn = (typed: string) =>
  decimalSignIn(typed) === undefined ? exactNumber(withoutRials(typed)) : undefined

/** Groups the digits of a number once it is typed. */
const group = ({ currentTarget }: TargetedEvent<HTMLInputElement>, kind: FieldProps['kind']) => {
  const number = kind === 'rials' ? rialsIn(currentTarget.value) : exactNumber(currentTarget.value)
  if (number === undefined) return
  currentTarget.value = decimal(JSON.stringify(number))
  currentTarget.dispatchEvent(new Event('input', { bubbles: true }))
}

/** A labeled control with its help text and error. */
export const Field = ({ name, label, help, kind = 'text', value, options, ...rest }: FieldProps) => {
  const { draft, problem } = useContext(FormContext)
  const { suffix, readOnly = false, autofocus = false, suggestions, below } = rest
  const error = problem.value?.field === name ? problem.value.message : undefined
  const id = `field-${name}`
  const isNumber = kind === 'number' || kind === 'rials'
  const saved = isNumber && typeof value !== 'boolean' ? decimal(value ?? '') : value
  const present = draft.value[name] ?? saved ?? options?.[0]?.[0] ?? ''
  const shared = {
    ...{ id, name, autofocus, 'aria-invalid': error !== undefined || undefined },
    'aria-describedby': help === undefined ? `${id}-error` : `${id}-help ${id}-error`,
  }
  const typed = {
    ...{ ...shared, readOnly, value: String(present), autocomplete: 'off' },
    dir: kind === 'text' ? 'auto' : 'ltr',
    onFocus: (event: TargetedFocusEvent<HTMLInputElement>) => autofocus && event.currentTarget.select(),
  } as const
  return (
    <div class={`field ${isNumber ? 'number' : kind}`}>
      <div class="words">
        <label for={id}>{label}</label>
        {help !== undefined && (
          <p class="small muted" id={`${id}-help`}>
            {help}
          </p>
        )}
      </div>
      <div class="control">
        {options !== undefined && (
          <select {...shared} value={String(present)}>
            <Options options={options} />
          </select>
        )}
        {/* biome-ignore lint/a11y/useAriaPropsForRole: the state of a checkbox is its own. */}
        {kind === 'switch' && <input {...shared} type="checkbox" role="switch" checked={present === true} />}
        {kind === 'date' && <DateInput {...typed} />}
        {isNumber && (
          <input {...typed} type="text" inputMode="decimal" onChange={event => group(event, kind)} />
        )}
        {kind === 'text' && options === undefined && (
          <input {...typed} type="text" list={suggestions && `${id}-list`} />
        )}
        {suggestions && (
          <datalist id={`${id}-list`}>
            <Options options={suggestions} />
          </datalist>
        )}
        {kind === 'secret' && <input {...shared} type="password" autocomplete="off" dir="ltr" />}
        {kind === 'body' && (
          <>
            <textarea {...typed} onFocus={undefined} rows={4} spellcheck={false} />
            <input type="file" name={`${name}-file`} aria-label={t('Or a file: {label}', { label })} />
          </>
        )}
        {suffix && (
          <span class="suffix" aria-hidden="true">
            {suffix}
          </span>
        )}
        {below && <p class="small muted">{below}</p>}
        <p class="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      </div>
    </div>
  )
}
