import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { decimal, formatMinute, formatTime } from './format.ts'
import { direction, listed } from './language.ts'
import type { Tone } from './pieces.tsx'

export type Bars = { label: string; tone: Tone; values: readonly number[] }

const MINUTE = 60_000
const INTERVALS = [5, 15, 60, 180, 360, 1440].map(minutes => minutes * MINUTE)

/** Maximum number of marks on an axis, not counting the origin. */
const MARKS = { time: 5, amount: 3 }

/** The marks of a scale that includes an amount: multiples of 1, 2 or 5 of a power of ten. */
const amountMarks = (most: number) => {
  const least = Math.max(1, most / MARKS.amount)
  const power = 10 ** Math.floor(Math.log10(least))
  const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= least) ?? least
  return Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, index) => index * step)
}

/** Round local times within a range. */
const timeMarks = (from: number, until: number) => {
  const step = INTERVALS.find(each => (until - from) / each <= MARKS.time) ?? until - from
  const offset = new Date(from).getTimezoneOffset() * MINUTE
  const first = Math.ceil((from - offset) / step) * step + offset
  return Array.from({ length: Math.ceil((until - first) / step) }, (_, index) => first + index * step)
}

const percent = (share: number) => `${(share * 100).toFixed(2)}%`

type ChartProps = {
  title: string
  /** The start of the first interval, and the length of each, in milliseconds. */
  from: number
  step: number
  bars: readonly Bars[]
}

/** Amounts of several kinds as stacked bars, one for each interval. The pointer or the arrow keys show an interval. */
export const Chart = ({ title, from, step, bars }: ChartProps) => {
  const count = bars[0]?.values.length ?? 0
  const chosen = useSignal<number | undefined>(undefined)
  const id = useId()
  const totals = Array.from({ length: count }, (_, index) =>
    bars.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  )
  const marks = amountMarks(Math.max(...totals))
  const top = marks.at(-1) ?? 1
  const textAt = (index: number) => formatMinute(from + index * step)
  const choose = (index: number) => {
    chosen.value = Math.min(count - 1, Math.max(0, index))
  }
  const onPointer = ({ clientX, currentTarget }: PointerEvent & { currentTarget: Element }) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    const share = (clientX - left) / width
    choose(Math.floor((direction === 'rtl' ? 1 - share : share) * count))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const forwards = direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
    event.preventDefault()
    choose((chosen.value ?? count) + (event.key === forwards ? 1 : -1))
  }
  const hide = () => {
    chosen.value = undefined
  }
  const at = chosen.value
  const shown = at ?? count - 1
  let below = totals.map(() => 0)
  return (
    <div class="chart">
      <div
        class="plot"
        role="slider"
        tabIndex={0}
        aria-labelledby={id}
        aria-valuemin={0}
        aria-valuemax={count - 1}
        aria-valuenow={shown}
        aria-valuetext={`${textAt(shown)}: ${listed(bars.map(({ label, values }) => `${label} ${decimal(values[shown] ?? 0)}`))}`}
        onPointerMove={onPointer}
        onPointerDown={onPointer}
        onPointerLeave={hide}
        onBlur={hide}
        onKeyDown={onKeyDown}
      >
        <span class="visually-hidden" id={id}>
          {title}
        </span>
        {marks.map(mark => (
          <span key={mark} class="mark" style={{ insetBlockEnd: percent(mark / top) }}>
            {decimal(mark)}
          </span>
        ))}
        <svg viewBox={`0 0 ${count} ${top}`} preserveAspectRatio="none" aria-hidden="true">
          {at !== undefined && <rect class="chosen" x={at} y={0} width={1} height={top} />}
          {bars.map(({ label, tone, values }) => {
            const base = below
            below = base.map((each, index) => each + (values[index] ?? 0))
            return (
              <g key={label} data-tone={tone}>
                {values.map(
                  (value, index) =>
                    value > 0 && (
                      <rect
                        key={index}
                        x={index + 0.1}
                        width={0.8}
                        y={top - (below[index] ?? 0)}
                        height={value}
                      />
                    ),
                )}
              </g>
            )
          })}
        </svg>
        {at !== undefined && (
          <div
            class={`tooltip small ${at < count / 2 ? '' : 'before'}`}
            style={{ insetInlineStart: percent((at + 0.5) / count) }}
          >
            <strong>{textAt(at)}</strong>
            {bars.map(({ label, tone, values }) => (
              <p key={label} class="row spread">
                <span class="key" data-tone={tone}>
                  {label}
                </span>
                <span>{decimal(values[at] ?? 0)}</span>
              </p>
            ))}
          </div>
        )}
      </div>
      <p class="times small muted" aria-hidden="true">
        {timeMarks(from, from + count * step).map(mark => (
          <span key={mark} style={{ insetInlineStart: percent((mark - from) / (count * step)) }}>
            {formatTime(mark)}
          </span>
        ))}
      </p>
    </div>
  )
}
