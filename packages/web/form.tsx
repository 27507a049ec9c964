import { type Signal, signal, useSignal } from '@preact/signals'
import {
  type ComponentChildren,
  createContext,
  type TargetedEvent,
  type TargetedFocusEvent,
  type TargetedInputEvent,
  type TargetedSubmitEvent,
} from 'preact'
import { useContext, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { DateInput } from './date-input.tsx'
import { type Values, valuesOf } from './form-values.ts'
import { decimal, decimalSignIn, exactNumber, withoutRials } from './format.ts'
import type { Refusal } from './http.ts'
import { hideToast } from './notices.ts'
import { t } from './persian.ts'
import { controlOf, inWords } from './problems.ts'

/** The unsaved changes of a form, by field name. */
export type Draft = Record<string, string | boolean>

type FormState = {
  draft: Signal<Draft>
  /** A problem with a field names it. At most one problem concerns the whole form and names none. */
  problems: Signal<readonly Refusal[]>
  /** Whether it is being submitted. */
  busy: Signal<boolean>
  /** The expected result of submitting it, shown next to its button. */
  outcome: Signal<{ text: string; isCurrent: boolean } | undefined>
  /** Called before the form is submitted. False while the reader has not seen the result of submitting these values. */
  confirmation: { current: ((values: Values) => Promise<boolean>) | undefined }
}

export const FormContext = createContext<FormState>({
  draft: signal({}),
  problems: signal([]),
  busy: signal(false),
  outcome: signal(undefined),
  confirmation: { current: undefined },
})

type OutcomeProps = {
  children: string
  /** Whether it is the result of what the fields contain now. */
  isCurrent: boolean
}

/** Shows the expected result of submitting the form next to its button, where it stays in view. */
export const Outcome = ({ children, isCurrent }: OutcomeProps) => {
  const { outcome } = useContext(FormContext)
  useLayoutEffect(() => {
    outcome.value = { text: children, isCurrent }
  }, [children, isCurrent])
  return null
}

/** The first problem of each field. */
const problemsIn = (form: HTMLFormElement, check: NonNullable<FormProps['check']>) => {
  const typed: Refusal[] = []
  const ruled = check(valuesOf(form, typed))
  const firsts = new Map<string | undefined, Refusal>()
  for (const problem of [...typed, ...ruled].map(each => inWords(each, form)))
    if (!firsts.has(problem.field)) firsts.set(problem.field, problem)
  return [...firsts.values()]
}

export type FormProps = {
  label?: string
  class?: string
  /** The class of an additional element around the fields, such as one that scrolls. */
  body?: string
  /** The label of the submit button. */
  action: string
  /** Marks an action that cannot be undone. */
  tone?: 'bad' | undefined
  submit: (values: Values) => Promise<unknown>
  /**
   * Reads all fields, so that all invalid ones are marked at once.
   *
   * @returns the problems that the rules of the service find
   */
  check?: ((values: Values) => readonly Refusal[]) | undefined
  /** Keeps unsaved changes after the form is closed. */
  draft?: Signal<Draft>
  buttons?: ComponentChildren
  children: ComponentChildren
}

/** A form that shows errors next to their fields and cannot be submitted twice concurrently. */
export const Form = ({ label, class: kind, action, tone, submit, draft: kept, ...rest }: FormProps) => {
  const { body, buttons, check, children } = rest
  const own = useSignal<Draft>({})
  const draft = kept ?? own
  const problems = useSignal<readonly Refusal[]>([])
  const busy = useSignal(false)
  const outcome = useSignal<FormState['outcome']['value']>(undefined)
  const confirmation: FormState['confirmation'] = useRef(undefined)
  // A new value would render all fields, and reset text that an input event has not stored in the draft yet.
  const state = useMemo(() => ({ draft, problems, busy, outcome, confirmation }), [draft])

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
    problems.value = problems.value.filter(({ field }) => ![undefined, target.name].includes(field))
  }
  const onSubmit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    if (busy.value) return
    busy.value = true
    hideToast()
    try {
      problems.value = check === undefined ? [] : problemsIn(form, check)
      if (problems.value.length === 0) {
        const values = valuesOf(form)
        if ((await confirmation.current?.(values)) !== false) await submit(values)
      }
    } catch (error) {
      problems.value = [inWords(error, form)]
    }
    const controls = problems.value.flatMap(({ field }) => controlOf(form, field) ?? [])
    for (const control of controls) control.closest('details')?.setAttribute('open', '')
    const [first] = [...form.elements].filter(control => controls.includes(control))
    if (first instanceof HTMLElement) first.focus()
    busy.value = false
  }
  return (
    <FormContext.Provider value={state}>
      <form
        onInput={onInput}
        onSubmit={onSubmit}
        class={kind}
        aria-label={label}
        aria-busy={busy.value}
        noValidate
      >
        {body === undefined ? children : <div class={body}>{children}</div>}
        <div class="foot">
          {outcome.value !== undefined && (
            <p class="outcome strong" role="status" aria-busy={!outcome.value.isCurrent}>
              {outcome.value.text}
            </p>
          )}
          <p class="error" role="alert">
            {problems.value.find(({ field }) => field === undefined)?.message}
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
  /** A text below the control that depends on its value. */
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

/** A typed amount of whole rials; undefined if it has a decimal point, which may be meant to separate thousands. */
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
  const { draft, problems } = useContext(FormContext)
  const { suffix, readOnly = false, autofocus = false, suggestions, below } = rest
  const error = problems.value.find(({ field }) => field === name)?.message
  const id = `field-${name}`
  const isNumber = kind === 'number' || kind === 'rials'
  const saved = isNumber && typeof value !== 'boolean' ? decimal(value ?? '') : value
  const present = draft.value[name] ?? saved ?? options?.[0]?.[0] ?? ''
  const shared = {
    id,
    name,
    autofocus,
    'aria-invalid': error !== undefined || undefined,
    'aria-describedby': help === undefined ? `${id}-error` : `${id}-help ${id}-error`,
  }
  const typed = {
    ...shared,
    readOnly,
    value: String(present),
    autocomplete: 'off',
    dir: kind === 'text' ? 'auto' : 'ltr',
    onFocus: (event: TargetedFocusEvent<HTMLInputElement>) => autofocus && event.currentTarget.select(),
  } as const
  return (
    <div class={`field ${kind === 'rials' ? 'number rials' : kind}`}>
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
