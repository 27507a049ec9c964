/** What the project asks for, and what was found. */
export type Target = { what: string; target: string; found: string; met: boolean }

/** A ratio that must not exceed a limit. */
export const atMost = (what: string, limit: number, found: number): Target => ({
  what,
  target: `≤ ${limit} ×`,
  found: `${found} ×`,
  met: found <= limit,
})

/** The targets as a table for the terminal. */
export const table = (targets: readonly Target[]): string => {
  const rows = targets.map(({ what, target, found, met }) => [met ? 'met' : 'MISSED', target, found, what])
  const width = (column: number) => Math.max(...rows.map(row => row[column]?.length ?? 0))
  return rows
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(width(column)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
