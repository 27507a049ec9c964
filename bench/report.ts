import type { Measured } from './statistics.ts'

export type Table = { head: readonly string[]; rows: readonly (readonly string[])[] }

/** What a target of the project asks for, and what was found. */
export type Target = { what: string; target: string; found: string; met: boolean }

export type Plot = { name: string; alt: string; svg: string }

/** What one part of the benchmark found out. */
export type Section = {
  title: string
  /** How it was measured and how to read it; Markdown paragraphs. */
  text: readonly string[]
  tables: readonly (Table & { caption?: string })[]
  targets: readonly Target[]
  plots?: readonly Plot[]
}

const digits = (value: number): string => {
  if (!Number.isFinite(value)) return '–'
  if (value === 0) return '0'
  if (Math.abs(value) >= 100) return value.toFixed(0)
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)
}

/** A number as a reader wants it: three digits or so. */
export const shown = digits

/** A measured number with its spread. */
export const spread = ({ median, low, high }: Measured, unit = ''): string =>
  `${digits(median)}${unit} (${digits(low)} to ${digits(high)})`

/** A measured ratio with its spread. */
export const times = (ratio: Measured): string =>
  `${digits(ratio.median)} × (${digits(ratio.low)} to ${digits(ratio.high)})`

export const atMost = (what: string, limit: number, found: Measured): Target => ({
  what,
  target: `≤ ${limit} ×`,
  found: times(found),
  met: found.median <= limit,
})

const pad = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - text.length))

/** A table for the terminal. */
export const plain = ({ head, rows }: Table): string => {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map(row => row[column]?.length ?? 0)))
  const lines = all.map(row =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0))
      .join('   ')
      .trimEnd(),
  )
  return [lines[0], widths.map(width => '─'.repeat(width)).join('   '), ...lines.slice(1)].join('\n')
}

const cell = (text: string) => text.replaceAll('|', '\\|')
const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`

/** A table for Markdown. */
export const markdown = ({ head, rows }: Table): string =>
  [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')

export const targetsTable = (targets: readonly Target[]): Table => ({
  head: ['target', 'asked for', 'found', ''],
  rows: targets.map(({ what, target, found, met }) => [what, target, found, met ? 'met' : '**missed**']),
})
