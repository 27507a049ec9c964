import { dateInput } from './form.tsx'
import { exactDate } from './format.ts'
import { t } from './persian.ts'

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
