import { KEY_KINDS } from '@order-relay/lib/api/keys.ts'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { ERROR_HOURS } from '../feeds/failing.ts'
import { RESEND_RATE, resend } from '../orders/resend.ts'
import { createKey, revokeConfirmed, setSecret, writeIndexes } from '../stores/credentials.ts'
import { testFeed } from '../stores/feed-check.ts'
import { expiryFindings } from '../stores/findings.ts'
import { listStores, showStore } from '../stores/stores.ts'
import { shopOf } from '../woo/status.ts'
import { createJobs } from './jobs.ts'
import type { Live } from './live.ts'
import type { Readings } from './readings.ts'
import { confirmName, get, post } from './route.ts'

const source = v.string()
const newKey = {
  source,
  kind: v.picklist(KEY_KINDS),
  name: v.optional(v.string()),
  expires: v.optional(v.pipe(v.string(), v.isoTimestamp())),
}

/** Stores, their keys and their feeds, as in `relay stores`. */
export const storesRoutes = (context: Context, live: Live, readings: Readings) => {
  const read = () => readings.of('dead')
  const resends = createJobs(context, live, 'resends')
  return [
    get('stores', {}, async () => {
      const { data } = await listStores(context, { errors: true }, read)
      const stores = data.stores.map(store => ({ ...store, resend: resends.of(store.source) }))
      // Only the local stack serves the reference.
      const reference = context.local ? `${(await context.stack()).apiUrl}/docs` : undefined
      const notices = stores.flatMap(({ source, keys }) => expiryFindings(context, source, keys))
      return { hours: ERROR_HOURS, reference, stores, notices }
    }),
    post(
      'stores/resend',
      { source, since: v.pipe(v.string(), v.isoTimestamp()) },
      async ({ source, since }) => {
        resends.start(source, 'resend the orders', async (context, signal) => {
          await resend(context, { source, since: new Date(since), rate: RESEND_RATE, signal })
          return undefined
        })
      },
    ),
    post('stores/resend-stop', { source }, async ({ source }) => resends.stop(source)),
    get('store', { source }, async ({ source }) => (await showStore(context, source, read)).data),
    get('shop', { source }, async ({ source }) => ({ shop: await shopOf(context, source) })),
    post('stores/index', {}, async () => (await writeIndexes(context)).data),
    post('stores/key', newKey, async ({ source, expires, ...key }) => {
      const at = expires === undefined ? undefined : new Date(expires)
      return (await createKey(context, source, { ...key, expires: at })).data
    }),
    post(
      'stores/secret',
      { source },
      async ({ source }) => (await setSecret(context, source, {}, () => undefined)).data,
    ),
    post('stores/revoke', { source, id: v.string(), name: v.optional(v.string()) }, async input => {
      const { source, id, name: typed } = input
      const confirm = (action: string, name: string) => confirmName(action, name, typed)
      return (await revokeConfirmed(context, source, id, confirm)).data
    }),
    post('stores/test', { source }, async ({ source }) => (await testFeed(context, source)).data),
  ]
}
