/** What the shell is told: all is well, something needs doing or went wrong, or the command makes no sense. */
export const EXIT = { ok: 0, failure: 1, usage: 2 } as const

type FailureExit = typeof EXIT.failure | typeof EXIT.usage

/** Something to tell the person at the terminal: what could not be done, what was found, what helps. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly exit: FailureExit

  constructor(message: string, { exit = EXIT.failure, cause }: { exit?: FailureExit; cause?: unknown } = {}) {
    super(message, { cause })
    this.exit = exit
  }
}

/**
 * "Cannot <action>: <found>; <remedy>".
 *
 * @param cause what was caught, shown with --verbose
 */
export const cannot = (action: string, found: string, remedy?: string, cause?: unknown): Failure =>
  new Failure(`Cannot ${action}: ${found}${remedy === undefined ? '' : `; ${remedy}`}`, { cause })

/** A command that makes no sense as it was given. */
export const wrongUsage = (action: string, found: string, remedy?: string): Failure =>
  new Failure(`Cannot ${action}: ${found}${remedy === undefined ? '' : `; ${remedy}`}`, { exit: EXIT.usage })
