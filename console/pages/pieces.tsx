import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { decimal, formatMoment } from '../../web/format.ts'
import { t } from './words.ts'

const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, 1000)

/** A duration in seconds, coarse enough to read. */
export const duration = (seconds: number) => {
  if (seconds < 100) return t('{count} s', { count: Math.round(seconds) })
  if (seconds < 6000) return t('{count} min', { count: Math.round(seconds / 60) })
  if (seconds < 360_000) return t('{count} h', { count: Math.round(seconds / 3600) })
  return t('{count} d', { count: Math.round(seconds / 86_400) })
}

/** How long ago a moment was. */
export const Ago = ({ iso }: { iso: string }) => (
  <time dateTime={iso} title={formatMoment(iso)} class="nowrap">
    {t('{time} ago', { time: duration(Math.max(0, (now.value - Date.parse(iso)) / 1000)) })}
  </time>
)

/** A number with what it counts. */
export const Figure = ({
  label,
  value,
  tone,
  children,
}: {
  label: string
  value: number | string | undefined
  tone?: 'bad' | 'wait' | undefined
  children?: ComponentChildren
}) => (
  <div class="figure" data-tone={tone}>
    <dt>{label}</dt>
    <dd>
      {typeof value === 'number' ? decimal(value) : (value ?? '–')} {children}
    </dd>
  </div>
)

export type Bars = {
  label: string
  tone: 'good' | 'open' | 'wait' | 'bad' | 'undone'
  values: readonly number[]
}

const HEIGHT = 48

/** How much of several kinds there was in each interval, as stacked bars. */
export const Chart = ({ label, bars }: { label: string; bars: readonly Bars[] }) => {
  const count = bars[0]?.values.length ?? 0
  const totals = Array.from({ length: count }, (_, index) =>
    bars.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  )
  const most = Math.max(1, ...totals)
  let below = totals.map(() => 0)
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${count * 4} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {bars.map(({ label, tone, values }) => {
        const base = below
        below = base.map((each, index) => each + (values[index] ?? 0))
        return (
          <g key={label} data-tone={tone}>
            {values.map((value, index) => {
              const [height, top] = [(value / most) * HEIGHT, ((below[index] ?? 0) / most) * HEIGHT]
              return (
                value > 0 && <rect key={index} x={index * 4} y={HEIGHT - top} width={3} height={height} />
              )
            })}
          </g>
        )
      })}
    </svg>
  )
}
