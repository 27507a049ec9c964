/** One mutation of one place, told so that it is found again when lines move. */
export type Mutation = { file: string; place: string; replacement: string }
export type Excuse = Mutation & { reason: string }

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

type Place = { start: { line: number; column: number }; end: { line: number; column: number } }

/**
 * A mutation as `docs/mutants.md` names it: its source line with the mutated part in ⟦brackets⟧, of a part that
 * goes over several lines the first.
 *
 * @param location counted from 1
 */
export const mutation = (
  file: string,
  source: string,
  { start, end }: Place,
  replacement: string,
): Mutation => {
  const line = source.split('\n')[start.line - 1] ?? ''
  const whole = start.line === end.line
  const part = whole ? line.slice(start.column - 1, end.column - 1) : `${line.slice(start.column - 1)} …`
  const rest = whole ? line.slice(end.column - 1) : ''
  return {
    file,
    place: oneLine(`${line.slice(0, start.column - 1)}⟦${part}⟧${rest}`),
    replacement: oneLine(replacement),
  }
}

/** The line that a mutation has in `docs/mutants.md`. */
export const listed = ({ place, replacement }: Mutation, reason: string): string =>
  `- \`\`\` ${place} \`\`\` → \`\`\` ${replacement} \`\`\`: ${reason}`

/**
 * Reads the excuses out of `docs/mutants.md`: a heading for each file, and under it a line for each mutation.
 *
 * @throws when an excuse has no reason or no file
 */
export const excusesOf = (markdown: string): Excuse[] => {
  let file: string | undefined
  return markdown.split('\n').flatMap(line => {
    file = /^#+ (lib\/\S+\.ts)$/.exec(line)?.[1] ?? (line.startsWith('#') ? undefined : file)
    if (!line.startsWith('- ```')) return []
    const [, place, replacement, reason] = /^- ``` (.+?) ``` → ``` (.+?) ```: (.+)$/.exec(line) ?? []
    if (file === undefined || place === undefined || replacement === undefined || reason === undefined) {
      throw new Error(`Cannot read excuse: "${line}" has no file above it, no mutation or no reason`)
    }
    return [{ file, place, replacement, reason }]
  })
}

const name = ({ file, place, replacement }: Mutation) => JSON.stringify([file, place, replacement])

/** What of one list is not in the other; a mutation that is there twice must be in the other twice. */
export const missingFrom = <Entry extends Mutation>(
  others: readonly Mutation[],
  entries: readonly Entry[],
) => {
  const left = others.map(name)
  return entries.filter(entry => {
    const at = left.indexOf(name(entry))
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}
