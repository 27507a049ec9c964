import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'

const PATIENCE_MS = 20_000

/** What was expected at a step and what was found instead. */
class NotObserved extends Error {
  override readonly name = 'NotObserved'
}

/** Looks until something is there. @throws NotObserved with what was seen last */
export const until = async <Seen>(what: string, look: () => Promise<Seen | undefined>): Promise<Seen> => {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(50)) {
    const seen = await look()
    if (seen !== undefined) return seen
  }
  throw new NotObserved(`expected ${what} within ${PATIENCE_MS / 1000} s, found nothing of the kind`)
}

/** @throws NotObserved unless both are the same */
export const expectSame = (what: string, found: unknown, expected: unknown): void => {
  if (!isDeepStrictEqual(found, expected)) {
    throw new NotObserved(
      `expected ${what} to be ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`,
    )
  }
}
