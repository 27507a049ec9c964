import { setTimeout as sleep } from 'node:timers/promises'
import { REFRESH_EVERY_MS } from '../../lib/secrets.ts'
import { cannot, type Failure } from '../failure.ts'
import { progress } from '../progress.ts'
import { isAccepted, ping } from './post.ts'

const EVERY_MS = 1000

/** The relay looks for new secrets at the first signature it does not know, but only so often. */
const LONGEST_MS = REFRESH_EVERY_MS + 10_000

const ADVICE = 'the secret is kept; see whether this is the URL of this relay, and call again'

const tried = (url: string, secret: string) =>
  ping(url, secret).catch((error: Failure) => {
    throw cannot('see the secret accepted', error.message, ADVICE, error)
  })

/**
 * Waits until the relay accepts what is signed with a secret.
 *
 * @throws Failure when it does not after more than a minute
 */
export const waitUntilAccepted = async (url: string, secret: string): Promise<void> => {
  const shown = progress('Waiting for the relay to know the secret', LONGEST_MS / EVERY_MS)
  const until = Date.now() + LONGEST_MS
  try {
    for (;;) {
      const answer = await tried(url, secret)
      if (isAccepted(answer)) return
      if (answer.status !== 401 || Date.now() > until) {
        throw cannot('see the secret accepted', `${url} answered a signed ping with ${answer.status}`, ADVICE)
      }
      await sleep(EVERY_MS)
      shown.advance()
    }
  } finally {
    shown.done()
  }
}
