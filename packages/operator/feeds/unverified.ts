import { registersItself } from '@order-relay/lib/platform/http-stores.ts'
import type { Store } from '@order-relay/lib/platform/stores.ts'
import type { Context } from '../core/context.ts'
import { shellWord } from '../core/output.ts'
import { say } from '../doctor/texts.ts'

/** The status of a store that refuses the signature of a message. */
export const UNVERIFIED = 401

/** What to do about a store that refuses the signatures of its messages. */
export const verifyRemedy = ({ flags }: Pick<Context, 'flags'>, store: Pick<Store, 'source' | 'feed'>) => {
  const explain = 'relay explain-signature'
  return registersItself(store)
    ? say('verify-registered', { explain })
    : say('verify', { explain, command: `relay stores secret ${shellWord(store.source)}${flags}` })
}
