import { QueueDoesNotExist } from '@aws-sdk/client-sqs'
import { readStores } from '../../deploy/stores.ts'
import { STORE_KEYS } from '../../lib/api/keys.ts'
import { FEED_SECRETS } from '../../lib/feeds/secrets.ts'
import type { Place } from '../place/place.ts'
import { depth } from '../queues/browse.ts'
import { STORES_FILE } from '../root.ts'
import { count } from '../table.ts'
import { type Finding, note, ok, problem } from './finding.ts'

const feed = async (place: Place, source: string, isHttp: boolean, hasSecret: boolean): Promise<Finding> => {
  const check = `the feed of "${source}"`
  if (isHttp && !hasSecret) {
    return problem(check, 'it has no secret to sign with', `relay stores secret ${source}${place.flags}`)
  }
  try {
    const { all } = await depth(place, place.names.feed(source))
    if (all === 0) return ok(check, 'nothing waits')
    return note(
      check,
      `${count(all, 'message')} not taken yet`,
      isHttp ? 'see whether its endpoint is up' : 'see whether the store reads its queue',
    )
  } catch (error) {
    if (!(error instanceof QueueDoesNotExist)) throw error
    return problem(check, 'its queue is not there', 'deploy the stores.yml of this checkout')
  }
}

/** The stores of stores.yml: how they are told, and whether they can ask. */
export const stores = async (place: Place): Promise<Finding[]> => {
  const known = readStores(STORES_FILE)
  const secrets = new Set((await place.parameters.below(FEED_SECRETS)).map(({ name }) => name))
  const withKeys = new Set(
    (await place.parameters.below(STORE_KEYS)).map(({ name }) => name.split('/')[0] ?? ''),
  )

  const findings: Finding[] = []
  for (const store of known) {
    findings.push(await feed(place, store.source, store.feed !== 'sqs', secrets.has(store.source)))
    if (!withKeys.has(store.source)) {
      findings.push(
        note(
          `the key of "${store.source}"`,
          'it has none: it hears, but cannot ask',
          `relay stores key ${store.source}${place.flags}`,
        ),
      )
    }
  }
  for (const source of withKeys) {
    if (known.some(store => store.source === source)) continue
    findings.push(
      note(
        `the keys of "${source}"`,
        'they are kept, but it is not in stores.yml',
        `relay stores list${place.flags}`,
      ),
    )
  }
  return findings
}
