import { useSignal } from '@preact/signals'
import type { ComponentChildren, TargetedInputEvent } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { exactDate } from './calendar.ts'
import { DateInput, notDate } from './date-input.tsx'
import { Options } from './form.tsx'
import { t } from './persian.ts'
import { LinkButton } from './pieces.tsx'
import { linkWith, type Route, replaceRoute, route } from './route.ts'

type FilterProps = { label: string; value: string; onChoose: (value: string) => void }

type ChoiceProps = FilterProps & Parameters<typeof Options>[0]

/** A filter with these values. */
export const Choice = ({ label, value, options, onChoose }: ChoiceProps) => (
  <select aria-label={label} value={value} onChange={event => onChoose(event.currentTarget.value)}>
    <Options options={options} />
  </select>
)

/** Binds a filter to this parameter of the address. */
export const parameter = (name: string, preset = '') => ({
  value: route.value.query.get(name) ?? preset,
  onChoose: (value: string) => replaceRoute(linkWith({ [name]: value })),
})

/** A filter by store; includes the chosen one even if it has no data yet. */
export const StoreChoice = ({ sources }: { sources: readonly string[] }) => {
  const { value, onChoose } = parameter('source')
  return (
    <Choice
      label={t('Store')}
      value={value}
      onChoose={onChoose}
      options={[
        ['', t('Any store')],
        ...[...new Set([...sources, value])].filter(Boolean).map(each => [each, each] as const),
      ]}
    />
  )
}

/** A filter by a complete number or id. */
export const TextChoice = ({ label, value, onChoose }: FilterProps) => (
  <input
    type="search"
    aria-label={label}
    placeholder={label}
    dir="auto"
    autocomplete="off"
    value={value}
    onChange={event => onChoose(event.currentTarget.value.trim())}
  />
)

type DayProps = FilterProps & {
  kind?: string
  /** The problem of a date, if any. */
  check?: (date: string) => string | false
  /** Says what ignores a date with a problem. */
  ignored?: string
}

/** What is typed in a filter by day, for as long as the address is the one that it led to. */
type DayDraft = { text: string; problem: string | false; at: Route }

const dayIn = (text: string) => (text.trim() === '' ? '' : exactDate(text))

/**
 * A filter by day. Text that is not an allowed date is reported and clears the filter, which would otherwise stay active
 * unseen.
 */
export const DayChoice = ({ label, value, onChoose, kind = '', ...rest }: DayProps) => {
  const { check = () => false, ignored = t('The list ignores this date.') } = rest
  const id = useId()
  const draft = useSignal<DayDraft | undefined>(undefined)
  const typed = draft.value?.at === route.value ? draft.value : undefined
  const problem = typed?.problem ?? false
  const apply = (date: string | undefined, text: string, problem: string | false) => {
    if (date !== undefined && date !== value) onChoose(date)
    draft.value = { text, problem, at: route.peek() }
  }
  const onInput = ({ currentTarget }: TargetedInputEvent<HTMLInputElement>) => {
    const text = currentTarget.value
    const date = dayIn(text)
    const problem = Boolean(date) && check(date ?? '')
    apply(problem === false ? date : '', text, problem)
  }
  // Text is not reported while it is typed. It is reported again if the same text is typed again, which changes nothing.
  const onLeave = () => {
    const last = draft.peek()
    if (last?.at !== route.peek() || last.problem !== false) return
    if (dayIn(last.text) === undefined) apply('', last.text, notDate(last.text, label))
    else draft.value = undefined
  }
  return (
    <div class={`small ${kind}`} onFocusOut={onLeave}>
      <label for={id}>{label}</label>
      <DateInput
        id={id}
        value={typed?.text ?? value}
        onInput={onInput}
        onChange={onLeave}
        aria-invalid={problem !== false || undefined}
        aria-describedby={`${id}-error`}
      />
      <p class="error" id={`${id}-error`} role="alert">
        {problem !== false && (
          <>
            {problem}
            <br />
            {ignored}
          </>
        )}
      </p>
    </div>
  )
}

const TYPING_MS = 100

type SearchProps = {
  label: string
  placeholder: string
  onChoose?: FilterProps['onChoose']
  /** Called at Enter, in place of the pending search. */
  onEnter?: (text: string) => void
}

/**
 * Searches when typing pauses; by default, sets the address parameter `q`. Shows the text as typed until the parameter
 * changes by other means: the address changes later, and leaves out the spaces around the text.
 */
export const SearchBox = ({
  label,
  placeholder,
  onChoose = parameter('q').onChoose,
  onEnter,
}: SearchProps) => {
  const { value } = parameter('q')
  const typed = useSignal<string | undefined>(undefined)
  const searched = useRef<string | undefined>(undefined)
  useEffect(() => {
    const text = typed.value?.trim()
    if (text === undefined) return undefined
    const timer = setTimeout(() => {
      searched.current = text
      onChoose(text)
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed.value])
  useEffect(() => {
    if (value !== searched.current) typed.value = undefined
  }, [value])
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      dir="auto"
      autocomplete="off"
      aria-keyshortcuts="/"
      value={typed.value ?? value}
      onInput={event => {
        typed.value = event.currentTarget.value
      }}
      onKeyDown={event => {
        const text = event.currentTarget.value.trim()
        if (event.key !== 'Enter' || onEnter === undefined || text === '') return
        typed.value = undefined
        onEnter(text)
      }}
    />
  )
}

type PagerProps = {
  /** @default the pages of orders */
  label?: string
  /** The name of the beginning. */
  first: string
  /** The start of the next page, if any. */
  cursor: string | null | undefined
  children?: ComponentChildren
}

/** Links to older entries of a list, and back to its start. */
export const Pager = ({ label = t('Pages of orders'), first, cursor, children }: PagerProps) => {
  const isLater = route.value.query.has('cursor')
  if (!isLater && cursor == null) return null
  return (
    <nav class="row" aria-label={label}>
      {isLater && (
        <LinkButton href={linkWith({})}>
          <span class="arrow">←</span> {first}
        </LinkButton>
      )}
      {cursor != null && (
        <LinkButton href={linkWith({ cursor })}>
          {t('Older')} <span class="arrow">→</span>
        </LinkButton>
      )}
      {children}
    </nav>
  )
}
