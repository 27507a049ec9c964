import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { dateInput } from './form.tsx'
import { exactDate } from './format.ts'
import { t } from './persian.ts'
import { linkTo, replaceRoute, route } from './route.ts'

type FilterProps = { label: string; value: string; onChoose: (value: string) => void }

type ChoiceProps = FilterProps & { options: readonly (readonly [value: string, text: string])[] }

/** A filter with these values. */
export const Choice = ({ label, value, options, onChoose }: ChoiceProps) => (
  <select aria-label={label} value={value} onChange={event => onChoose(event.currentTarget.value)}>
    {options.map(([each, text]) => (
      <option key={each} value={each} dir="auto">
        {text}
      </option>
    ))}
  </select>
)

/** What makes a filter show and set this parameter of the address, from the first page of what it filters. */
export const parameter = (name: string, preset = '') => {
  const { path, query } = route.value
  return {
    value: query.get(name) ?? preset,
    onChoose: (value: string) =>
      replaceRoute(linkTo(path, { ...Object.fromEntries(query), cursor: null, [name]: value })),
  }
}

type StoreChoiceProps = Pick<FilterProps, 'value' | 'onChoose'> & { sources: readonly string[] }

/** A filter by store, with one that has nothing to show yet while it is the one chosen. */
export const StoreChoice = ({ sources, value, onChoose }: StoreChoiceProps) => (
  <Choice
    {...{ label: t('Store'), value, onChoose }}
    options={[
      ['', t('Any store')],
      ...[...new Set([...sources, value])].filter(Boolean).map(each => [each, each] as const),
    ]}
  />
)

/** A filter by a number or id that is typed in full. */
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

type SearchBoxProps = {
  label: string
  placeholder: string
  /** The address of the page with this search. */
  linkOf: (q: string) => string
}

/** Searches by the parameter `q` of the address, which follows once typing pauses. */
export const SearchBox = ({ label, placeholder, linkOf }: SearchBoxProps) => {
  const typed = useSignal<string | undefined>(undefined)
  useEffect(() => {
    if (typed.value === undefined) return undefined
    const timer = setTimeout(() => {
      replaceRoute(linkOf(typed.value ?? ''))
      typed.value = undefined
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed.value])
  return (
    <input
      {...{ type: 'search', 'aria-label': label, placeholder, dir: 'auto', autocomplete: 'off' }}
      aria-keyshortcuts="/"
      value={typed.value ?? route.value.query.get('q') ?? ''}
      onInput={event => {
        typed.value = event.currentTarget.value
      }}
    />
  )
}
