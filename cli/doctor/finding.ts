/** `problem`: something needs doing. `note`: worth knowing. */
export type Level = 'ok' | 'note' | 'problem'

/** What one look at the relay found. */
export type Finding = {
  /** What was looked at. */
  check: string
  level: Level
  found: string
  /** What to do about it. */
  remedy?: string
}

export const ok = (check: string, found: string): Finding => ({ check, level: 'ok', found })

export const note = (check: string, found: string, remedy?: string): Finding => ({
  check,
  level: 'note',
  found,
  ...(remedy !== undefined && { remedy }),
})

export const problem = (check: string, found: string, remedy: string): Finding => ({
  check,
  level: 'problem',
  found,
  remedy,
})
