import { visible } from '@order-relay/lib/platform/visible.ts'
import { type Coded, textOf } from './coded.ts'
import type { Color } from './terminal.ts'

/** The result of a command, for programs (`--json`) and for people. */
export type Report = {
  data: unknown
  text: string
  /** Explains the text on standard error, so that a script can use standard output as the value. */
  about?: string
  /** Whether everything is fine; otherwise the exit code is 1. @default true */
  ok?: boolean
  /** The color of a line of text on a terminal. */
  colorOf?: (line: string) => Color | undefined
}

type Cell = string | number | boolean | Date | undefined

const cellText = (cell: Cell) => visible(cell instanceof Date ? cell.toISOString() : String(cell))

const width = (text: string) => [...text].length

/** Escapes characters that would control a terminal, in multi-line text or JSON. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n')

/** Formats rows in columns below their headings. */
export const table = (headings: readonly string[], rows: readonly (readonly Cell[])[]): string => {
  const lines = [headings, ...rows].map(row => row.map((cell = '-') => cellText(cell)))
  const widths = headings.map((_, column) => Math.max(...lines.map(line => width(line[column] ?? ''))))
  const padded = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - width(cell))
  return lines.map(line => line.map(padded).join('  ').trimEnd()).join('\n')
}

/** Names and values, one pair per line; undefined values are omitted. */
export const facts = (pairs: Readonly<Record<string, Cell>>): string => {
  const known = Object.entries(pairs).filter(([, value]) => value !== undefined)
  const longest = Math.max(0, ...known.map(([name]) => width(name)))
  return known.map(([name, value]) => `${name.padEnd(longest)}  ${cellText(value)}`).join('\n')
}

/** Quotes an argument for a shell. */
export const shellWord = (word: string): string =>
  /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** A field name in plain words: `requestsFailed` as "requests failed". */
export const wordsOf = (name: string): string =>
  name.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)

/** "1 message", "2 messages". */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`

/** Joins lines, without those that do not apply. */
export const lines = (...parts: readonly (string | readonly string[] | false)[]): string =>
  parts.flatMap(part => (part === false ? [] : part)).join('\n')

/** The last line of a list that `--limit` has cut off. */
export const moreThan = (limit: number): string => `There are more; raise --limit, which is ${limit}.`

/** The result of a check. */
export type Finding<Code extends string = never> = {
  check: string | Coded<Code>
  /** `problem`: needs attention. `note`: worth knowing. */
  level: 'ok' | 'note' | 'problem'
  found: string | Coded<Code>
  remedy?: string | Coded<Code>
}

const finding =
  (level: Finding['level']) =>
  <Code extends string = never>(
    check: string | Coded<Code>,
    found: string | Coded<Code>,
    remedy?: string | Coded<Code>,
  ): Finding<Code> => ({ check, level, found, ...(remedy !== undefined && { remedy }) })
export const [ok, note, problem] = [finding('ok'), finding('note'), finding('problem')] as const

/** A finding: a statement that holds, or a problem with its remedy. */
export const judged = <Code extends string>(
  isOk: boolean,
  [holds, fails]: readonly [Coded<Code>, Coded<Code>],
  found: Coded<Code>,
  remedy: Coded<Code>,
): Finding<Code> => (isOk ? ok(holds, found) : problem(fails, found, remedy))

const MARKS = { ok: '  ok  ', note: 'note  ', problem: '!!    ' } as const
const COLORS: Readonly<Record<string, Color>> = {
  [MARKS.ok]: 'green',
  [MARKS.note]: 'yellow',
  [MARKS.problem]: 'red',
}

/** The color of a line of a finding. */
export const findingColor = (line: string) => COLORS[line.slice(0, MARKS.ok.length)]

export const findingText = ({ check, level, found, remedy }: Finding<string>): string =>
  `${MARKS[level]}${textOf(check)}: ${textOf(found)}${remedy === undefined ? '' : `\n      → ${textOf(remedy)}`}`

/** A finding without codes, for output. */
export const findingInWords = ({ check, level, found, remedy }: Finding<string>) => ({
  check: textOf(check),
  level,
  found: textOf(found),
  ...(remedy !== undefined && { remedy: textOf(remedy) }),
})

/**
 * @param where what was checked, in a sentence
 * @param notJudged the checks without a result, with which nothing is fine
 * @returns a report, and its last line, for a command that has printed the findings
 */
export const findingsReport = (
  findings: readonly Finding<string>[],
  where: string,
  about: object = {},
  notJudged: readonly string[] = [],
): Report & { summary: string } => {
  const problems = findings.filter(({ level }) => level === 'problem').length
  const isOk = problems === 0 && notJudged.length === 0
  const unknown = notJudged.map(check => `"${check}"`).join(', ')
  const summary =
    isOk || problems > 0
      ? `${isOk ? 'No problems' : count(problems, 'problem')} found in ${where}.`
      : `Cannot judge ${unknown} of ${where}: see the notes above.`
  return {
    summary,
    data: { ...about, ok: isOk, problems, findings: findings.map(findingInWords) },
    ok: isOk,
    colorOf: findingColor,
    text: lines(findings.map(findingText), summary),
  }
}
