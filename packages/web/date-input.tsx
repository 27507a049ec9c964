import { useSignal } from '@preact/signals'
import type { TargetedEvent, TargetedFocusEvent, TargetedInputEvent } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { addDays, datePartsOf, exactDate, isJalali, jalaliOf, lastDayOf, midnight } from './calendar.ts'
import { decimal, formatDate, persianInput } from './format.ts'
import { choices, language, locale } from './language.ts'
import { t } from './persian.ts'
import './date-input.css'

// Browsers' date pickers are Gregorian only, and silently clear a date that does not exist.

const isPersian = choices.calendar.chosen === 'persian'

/** A Gregorian date in the form in which the reader types dates. Other text, such as an incomplete date, is unchanged. */
const typedDate = (value: string) => (isPersian && exactDate(value) === value ? persianInput(value) : value)

const monthsIn = (inLocale: string) =>
  new Intl.DateTimeFormat(inLocale, { month: 'long', year: 'numeric', timeZone: 'UTC' })

const months = monthsIn(locale)

/** The month before the year: browsers put the Jalali year first and add the era in English. */
const nameOfMonth = (date: string, named = months) => {
  const parts = named.formatToParts(midnight(date))
  return ['month', 'year'].map(wanted => parts.find(({ type }) => type === wanted)?.value).join(' ')
}

const weekday = {
  short: new Intl.DateTimeFormat(locale, { weekday: 'narrow', timeZone: 'UTC' }),
  long: new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' }),
}

const dayOfMonth = (date: string) => (isPersian ? jalaliOf(date)[2] : Number(date.slice(8))) ?? 1

const firstOf = (date: string) => addDays(date, 1 - dayOfMonth(date))

/** A month has at least 29 days, so this is a day of the next one. */
const nextMonth = (date: string) => firstOf(addDays(firstOf(date), 31))
const previousMonth = (date: string) => firstOf(addDays(firstOf(date), -1))

/** Repeats a step by a month for a whole year. */
const ofYear = (step: (date: string) => string) => (date: string) =>
  Array.from({ length: 12 }).reduce<string>(step, date)

/** How many days a date is after the first day of the week: Saturday in Persian, else Monday. */
const daysIntoWeek = (date: string) => (midnight(date).getUTCDay() + (language === 'fa' ? 1 : 6)) % 7

/** The weeks of a month; days of other months are undefined. */
const weeksOf = (first: string) => {
  const next = nextMonth(first)
  const days: (string | undefined)[] = Array.from({ length: daysIntoWeek(first) }, () => undefined)
  for (let day = first; day < next; day = addDays(day, 1)) days.push(day)
  return Array.from({ length: Math.ceil(days.length / 7) }, (_, week) =>
    Array.from({ length: 7 }, (_, day) => days[week * 7 + day]),
  )
}

const { timeZone } = document.documentElement.dataset

/**
 * The current day, `YYYY-MM-DD`, in the time zone that the HTML names in `data-time-zone`, or else in the reader's own. The
 * Swedish locale formats dates as ISO 8601.
 */
export const today = () => new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeZone }).format()

const dayOfMonthIn = (calendar: string) =>
  new Intl.DateTimeFormat(`en-u-ca-${calendar}`, { day: 'numeric', timeZone: 'UTC' })

/** Why a day of a month does not exist; undefined if the text does not name one. */
const missingDay = (typed: string) => {
  const parts = datePartsOf(typed)
  if (parts === undefined) return undefined
  if (parts.month > 12)
    return t('"{typed}" is not a date: a year has only 12 months. Type year, month and day like {example}.', {
      typed,
      example: typedDate(today()),
    })
  const last = lastDayOf(parts)
  if (last === undefined || parts.day === 0) return undefined
  // The month is named in the calendar that was typed, which may not be that of the page.
  const calendar = isJalali(parts) ? 'persian' : 'gregory'
  return t('"{typed}" is not a date: {month} has only {days} days.', {
    typed,
    month: nameOfMonth(last, monthsIn(`${language}-u-ca-${calendar}-nu-${choices.digits.chosen}`)),
    days: Number(dayOfMonthIn(calendar).format(midnight(last))),
  })
}

/** The problem of a text that is not a date: the day that does not exist, or an example in the reader's calendar. */
export const notDate = (typed: string, label: string) =>
  missingDay(typed) ??
  t('"{typed}" is not a date. Type "{label}" like {example}.', {
    typed,
    label,
    example: typedDate(today()),
  })

/** The same day of another month, or its last day if it is shorter. */
const sameDayIn = (monthOf: (date: string) => string) => (date: string) => {
  const first = monthOf(date)
  const last = addDays(nextMonth(first), -1)
  const day = addDays(first, dayOfMonth(date) - 1)
  return day < last ? day : last
}

/** The days that the keys move to. Left and right follow the direction of the page. */
const STEPS: Readonly<Record<string, (date: string) => string>> = {
  ArrowRight: date => addDays(date, language === 'fa' ? -1 : 1),
  ArrowLeft: date => addDays(date, language === 'fa' ? 1 : -1),
  ArrowDown: date => addDays(date, 7),
  ArrowUp: date => addDays(date, -7),
  PageDown: sameDayIn(nextMonth),
  PageUp: sameDayIn(previousMonth),
}

type MonthProps = { value: string | undefined; onChoose: (date: string) => void; onCancel: () => void }

/** A month in which a day can be chosen. */
const Month = ({ value, onChoose, onCancel }: MonthProps) => {
  const focused = useSignal(value ?? today())
  const month = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const { left = 0, right = 0 } = month.current?.getBoundingClientRect() ?? {}
    const isOutside = left < 0 || right > document.documentElement.clientWidth
    if (isOutside && month.current) month.current.style.insetInline = 'auto 0'
    // Focus alone would scroll only the chosen day into view.
    month.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  useLayoutEffect(() => {
    // The buttons for the previous and next month keep the focus.
    if (document.activeElement?.closest('.month > .row')) return
    month.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus()
  }, [focused.value])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (step !== undefined && event.target instanceof Element && event.target.closest('table')) {
      focused.value = step(focused.value)
    } else if (event.key === 'Escape') onCancel()
    else return
    // Escape would also close the dialog around it.
    event.preventDefault()
    event.stopPropagation()
  }
  const [firstWeek, ...weeks] = weeksOf(firstOf(focused.value))
  const turn = (label: string, sign: string, to: (date: string) => string) => (
    <button
      type="button"
      aria-label={label}
      onClick={() => {
        focused.value = to(focused.value)
      }}
    >
      <span class="arrow">{sign}</span>
    </button>
  )
  return (
    // biome-ignore lint/a11y/useSemanticElements: not modal, and may be inside a dialog.
    <div ref={month} class="month" role="group" aria-label={t('Days')} onKeyDown={onKeyDown}>
      <div class="row">
        {turn(t('Previous year'), '⇤', ofYear(previousMonth))}
        {turn(t('Previous month'), '←', previousMonth)}
        <span class="strong" aria-live="polite">
          {nameOfMonth(focused.value)}
        </span>
        {turn(t('Next month'), '→', nextMonth)}
        {turn(t('Next year'), '⇥', ofYear(nextMonth))}
      </div>
      <table>
        <thead>
          <tr>
            {Array.from({ length: 7 }, (_, day) => {
              // A Saturday, or a Monday.
              const at = midnight(addDays(language === 'fa' ? '2024-01-06' : '2024-01-01', day))
              return (
                <th key={day} scope="col" aria-label={weekday.long.format(at)}>
                  {weekday.short.format(at)}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>
          {[firstWeek ?? [], ...weeks].map((week, index) => (
            <tr key={String(index)}>
              {week.map((date, day) => (
                <td key={String(day)}>
                  {date !== undefined && (
                    <button
                      type="button"
                      tabIndex={date === focused.value ? 0 : -1}
                      aria-label={formatDate(date)}
                      aria-pressed={date === value}
                      aria-current={date === today() ? 'date' : undefined}
                      onClick={() => onChoose(date)}
                    >
                      {decimal(dayOfMonth(date))}
                    </button>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <button type="button" class="today" onClick={() => onChoose(today())}>
        {t('Today')}
      </button>
    </div>
  )
}

type DateInputProps = {
  id: string
  value: string
  name?: string
  readOnly?: boolean
  autofocus?: boolean
  'aria-invalid': true | undefined
  'aria-describedby': string
  onInput?: (event: TargetedInputEvent<HTMLInputElement>) => void
  onChange?: (event: TargetedEvent<HTMLInputElement>) => void
  onFocus?: (event: TargetedFocusEvent<HTMLInputElement>) => void
}

/**
 * A date, typed or chosen from a month of the reader's calendar. A date that was typed in another form or in the other calendar
 * is converted when the reader leaves the field. Parse its text with `exactDate`.
 */
export const DateInput = ({ value, onChange, ...attributes }: DateInputProps) => {
  const isOpen = useSignal(false)
  const input = useRef<HTMLInputElement>(null)
  const close = () => {
    isOpen.value = false
    input.current?.focus()
  }
  const show = (date: string) => {
    if (input.current === null || input.current.value === typedDate(date)) return
    input.current.value = typedDate(date)
    input.current.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const choose = (date: string) => {
    show(date)
    close()
  }
  const onTyped = (event: TargetedEvent<HTMLInputElement>) => {
    const date = exactDate(event.currentTarget.value)
    if (date !== undefined) show(date)
    onChange?.(event)
  }
  const onFocusOut = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (!(currentTarget instanceof Element && relatedTarget instanceof Node)) return
    if (!currentTarget.contains(relatedTarget)) isOpen.value = false
  }
  return (
    <span class="date-input" onFocusOut={onFocusOut}>
      <input
        {...attributes}
        type="text"
        autocomplete="off"
        placeholder={t('YYYY-MM-DD')}
        ref={input}
        value={typedDate(value)}
        onChange={onTyped}
      />
      <button
        type="button"
        aria-label={t('Choose a day')}
        aria-expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value
        }}
      >
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M4 6h16v14H4zM4 10.5h16M8.5 3v4M15.5 3v4" />
        </svg>
      </button>
      {isOpen.value && (
        <Month value={exactDate(input.current?.value ?? '')} onChoose={choose} onCancel={close} />
      )}
    </span>
  )
}
