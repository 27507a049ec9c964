import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { dateInput, Options } from './form.tsx'
import { exactDate } from './format.ts'
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
      {...{ label: t('Store'), value, onChoose }}
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
    {...{ type: 'search', 'aria-label': label, placeholder: label, dir: 'auto', autocomplete: 'off', value }}
    onChange={event => onChoose(event.currentTarget.value.trim())}
  />
)

/** A filter by day. */
export const DayChoice = ({ label, value, onChoose, kind = '' }: FilterProps & { kind?: string }) => (
  <label class={`small ${kind}`}>
    {label}
    <input {...dateInput(value)} onChange={event => onChoose(exactDate(event.currentTarget.value) ?? '')} />
  </label>
)

const TYPING_MS = 100

type SearchProps = { label: string; placeholder: string; onChoose?: FilterProps['onChoose'] }

/** Searches when typing pauses, by default by the parameter `q` of the address. */
export const SearchBox = ({ label, placeholder, onChoose = parameter('q').onChoose }: SearchProps) => {
  const { value } = parameter('q')
  const typed = useSignal<string | undefined>(undefined)
  useEffect(() => {
    if (typed.value === undefined) return undefined
    const timer = setTimeout(() => {
      onChoose(typed.value ?? '')
      typed.value = undefined
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed.value])
  return (
    <input
      {...{ type: 'search', 'aria-label': label, placeholder, dir: 'auto', autocomplete: 'off' }}
      aria-keyshortcuts="/"
      value={typed.value ?? value}
      onInput={event => {
        typed.value = event.currentTarget.value
      }}
    />
  )
}

type PagerProps = {
  /** The name of the beginning. */
  first: string
  /** The start of the next page, if any. */
  cursor: string | null | undefined
  children?: ComponentChildren
}

/** Links to older orders of a list, and back to its start. */
export const Pager = ({ first, cursor, children }: PagerProps) => {
  const isLater = route.value.query.has('cursor')
  if (!isLater && cursor == null) return null
  return (
    <nav class="row" aria-label={t('Pages of orders')}>
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
