import * as v from 'valibot'
import type { Context } from '../cli/core/context.ts'
import { logOf } from '../cli/core/log.ts'
import { RESEND_RATE, resend } from '../cli/orders/resend.ts'
import { showStore } from '../cli/show-store.ts'
import { createKey, listStores, revokeKey, setSecret, testFeed, writeIndexes } from '../cli/stores.ts'
import { createJobs } from './jobs.ts'
import type { Live } from './live.ts'
import { get, post } from './route.ts'

const HOURS = 24

const FEED_LINES = [
  'feed message retried',
  'feed message dead-lettered',
  'feed disabled',
  'feed message delivered',
]

const failed = v.object({ error: v.object({ message: v.string() }) })

/** The last error of each store's endpoint, unless it has accepted a message since. */
const feedErrors = async (context: Context) => {
  const errors = new Map<string, { at: Date; message: string }>()
  if (context.stores().every(({ feed }) => feed === 'sqs')) return errors
  const since = new Date(Date.now() - HOURS * 60 * 60 * 1000)
  for await (const { at, message, fields } of logOf(context, {
    since,
    follow: false,
    messages: FEED_LINES,
  })) {
    const source = String(fields.source)
    if (message === 'feed message delivered') errors.delete(source)
    else errors.set(source, { at, message: v.is(failed, fields) ? fields.error.message : message })
  }
  return errors
}

const source = v.string()

/** Stores, their keys and their feeds, as `relay stores` has them. */
export const storesRoutes = (context: Context, live: Live) => {
  const resends = createJobs(context, live, 'resends')
  return [
    get('stores', {}, async () => {
      const [{ data }, errors] = await Promise.all([listStores(context), feedErrors(context)])
      const stores = data.stores.map(store => ({
        ...store,
        error: errors.get(store.source),
        resend: resends.of(store.source),
      }))
      // Only the local stack serves the reference.
      const reference = context.local ? `${(await context.stack()).apiUrl}/docs` : undefined
      return { hours: HOURS, reference, stores }
    }),
    post('stores/resend', { source, since: v.pipe(v.string(), v.isoDate()) }, async ({ source, since }) => {
      resends.start(source, 'resend the orders', async (context, signal) => {
        await resend(context, { source, since: new Date(since), rate: RESEND_RATE, signal })
        return undefined
      })
    }),
    post('stores/resend-stop', { source }, async ({ source }) => resends.stop(source)),
    get('store', { source }, async ({ source }, { context }) => (await showStore(context, source)).data),
    post('stores/index', {}, async (_, { context }) => (await writeIndexes(context)).data),
    post('stores/key', { source, readOnly: v.boolean() }, async ({ source, readOnly }, { context }) => {
      return (await createKey(context, source, { readOnly })).data
    }),
    post(
      'stores/secret',
      { source },
      async ({ source }, { context }) => (await setSecret(context, source, {})).data,
    ),
    post('stores/revoke', { source, id: v.string() }, async ({ source, id }, { context }) => {
      return (await revokeKey(context, source, id)).data
    }),
    post(
      'stores/test',
      { source },
      async ({ source }, { context }) => (await testFeed(context, source)).data,
    ),
  ]
}
