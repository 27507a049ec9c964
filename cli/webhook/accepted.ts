import { setTimeout as sleep } from 'node:timers/promises'
import { REFRESH_EVERY_MS } from '../../lib/secrets.ts'
import { cannot } from '../failure.ts'
import { progress } from '../progress.ts'
import { isAccepted, ping } from './post.ts'

const EVERY_MS = 1000

/** The relay looks for new secrets at the first signature it does not know, but only so often. */
const LONGEST_MS = REFRESH_EVERY_MS + 10_000

/**
 * Waits until the relay accepts what is signed with a secret.
 *
 * @throws Failure when it does not after more than a minute
 */
export const waitUntilAccepted = async (url: string, secret: string): Promise<void> => {
  const shown = progress('Waiting for the relay to know the secret', Math.ceil(LONGEST_MS / EVERY_MS))
  const until = Date.now() + LONGEST_MS
  try {
    for (;;) {
      const answer = await ping(url, secret)
      if (isAccepted(answer)) return
      if (answer.status !== 401 || Date.now() > until) {
        throw cannot(
          'see the secret accepted',
          `${url} answered a signed ping with ${answer.status}`,
          'is this the URL of this relay? The secret is kept; run relay doctor',
        )
      }
      await sleep(EVERY_MS)
      shown.advance()
    }
  } finally {
    shown.done()
  }
}
