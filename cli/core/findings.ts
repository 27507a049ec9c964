import { count, lines, type Report } from './output.ts'
import type { Colour } from './terminal.ts'

/** What one check found. */
export type Finding = {
  check: string
  /** `problem`: needs attention. `note`: worth knowing. */
  level: 'ok' | 'note' | 'problem'
  found: string
  remedy?: string
}

const finding =
  (level: Finding['level']) =>
  (check: string, found: string, remedy?: string): Finding => ({
    ...{ check, level, found, ...(remedy !== undefined && { remedy }) },
  })
export const [ok, note, problem] = [finding('ok'), finding('note'), finding('problem')] as const

/** A check that says the same whether it holds or not, but for the remedy. */
export const judged = (check: string, holds: boolean, found: string, remedy: string): Finding =>
  holds ? ok(check, found) : problem(check, found, remedy)

const MARKS = { ok: '  ok  ', note: 'note  ', problem: '!!    ' } as const

const COLOURS: readonly (readonly [mark: string, colour: Colour])[] = [
  [MARKS.ok, 'green'],
  [MARKS.note, 'yellow'],
  [MARKS.problem, 'red'],
]

/** @param where was checked, in a sentence */
export const findingsReport = (findings: readonly Finding[], where: string, about: object = {}): Report => {
  const problems = findings.filter(({ level }) => level === 'problem').length
  return {
    data: { ...about, ok: problems === 0, problems, findings },
    ok: problems === 0,
    colourOf: line => COLOURS.find(([mark]) => line.startsWith(mark))?.[1],
    text: lines(
      findings.map(
        ({ check, level, found, remedy }) =>
          `${MARKS[level]}${check}: ${found}${remedy === undefined ? '' : `\n      → ${remedy}`}`,
      ),
      `${problems === 0 ? 'No problems' : count(problems, 'problem')} found in ${where}.`,
    ),
  }
}
