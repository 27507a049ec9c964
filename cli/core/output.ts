import { visible } from '../../lib/platform/visible.ts'
import type { Colour } from './terminal.ts'

/** The result of a command, for programs (`--json`) and for people. */
export type Report = {
  data: unknown
  text: string
  /** Whether everything is fine; otherwise the exit code is 1. @default true */
  ok?: boolean
  /** The colour of a line of the text on a terminal. */
  colourOf?: (line: string) => Colour | undefined
}

type Row = readonly (string | number | boolean | undefined)[]

const width = (text: string) => [...text].length

/** Escapes what would act on a terminal, in text of several lines or JSON. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n')

/** Rows below their headings, in columns. */
export const table = (headings: readonly string[], rows: readonly Row[]): string => {
  const lines = [headings, ...rows].map(row =>
    row.map(cell => (cell === undefined ? '-' : visible(String(cell)))),
  )
  const widths = headings.map((_, column) => Math.max(...lines.map(line => width(line[column] ?? ''))))
  return lines
    .map(line =>
      line
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Names and values, one pair a line; undefined values are left out. */
export const facts = (pairs: Readonly<Record<string, string | number | boolean | undefined>>): string => {
  const known = Object.entries(pairs).filter(([, value]) => value !== undefined)
  const longest = Math.max(0, ...known.map(([name]) => width(name)))
  return known.map(([name, value]) => `${name.padEnd(longest)}  ${visible(String(value))}`).join('\n')
}

/** An argument as a shell takes it. */
export const shellWord = (word: string): string =>
  /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** "1 message", "2 messages". */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`

/** Text of several lines, without those that do not apply. */
export const lines = (...parts: readonly (string | readonly string[] | false)[]): string =>
  parts
    .filter(part => part !== false)
    .flat()
    .join('\n')
