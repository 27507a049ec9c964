/** What one check found. */
export type Finding = {
  check: string
  /** `problem`: needs attention. `note`: worth knowing. */
  level: 'ok' | 'note' | 'problem'
  found: string
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
