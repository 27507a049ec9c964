import { useSignal } from '@preact/signals'
import type { ComponentChildren, TargetedInputEvent } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { exactDate } from './calendar.ts'
import { DateInput, notDate } from './date-input.tsx'
import { Options } from './form.tsx'
import { t } from './persian.ts'
import { LinkButton } from './pieces.tsx'
import { linkWith, replaceRoute, route } from './route.ts'

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
}

/** A filter by day. Text that is not an allowed date is reported and clears the filter, which would otherwise stay active unseen. */
export const DayChoice = ({ label, value, onChoose, kind = '', check = () => false }: DayProps) => {
  const id = useId()
  const typed = useSignal<string | undefined>(undefined)
  const problem = useSignal<string | false>(false)
  const text = typed.value ?? value
  const choose = (date: string) => {
    problem.value = date !== '' && check(date)
    const allowed = problem.value === false ? date : ''
    if (allowed !== value) onChoose(allowed)
  }
  const onInput = ({ currentTarget }: TargetedInputEvent<HTMLInputElement>) => {
    typed.value = currentTarget.value
    problem.value = false
    const date = currentTarget.value.trim() === '' ? '' : exactDate(currentTarget.value)
    if (date !== undefined) choose(date)
  }
  const onChange = () => {
    if (text.trim() !== '' && exactDate(text) === undefined) {
      choose('')
      problem.value = notDate(text, label)
    }
    if (problem.value === false) typed.value = undefined
  }
  return (
    <div class={`small ${kind}`}>
      <label for={id}>{label}</label>
      <DateInput
        id={id}
        value={text}
        onInput={onInput}
        onChange={onChange}
        aria-invalid={problem.value !== false || undefined}
        aria-describedby={`${id}-error`}
      />
      <p class="error" id={`${id}-error`} role="alert">
        {problem.value}
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
