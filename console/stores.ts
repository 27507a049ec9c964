import * as v from 'valibot'
import type { Context } from '../cli/core/context.ts'
import { logOf } from '../cli/core/log.ts'
import { createKey, listStores, revokeKey, testFeed } from '../cli/stores.ts'
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
export const storesRoutes = [
  get('stores', {}, async (_, { context }) => {
    const [{ data }, errors] = await Promise.all([listStores(context), feedErrors(context)])
    return { hours: HOURS, stores: data.stores.map(store => ({ ...store, error: errors.get(store.source) })) }
  }),
  post('stores/key', { source, readOnly: v.boolean() }, async ({ source, readOnly }, { context }) => {
    return (await createKey(context, source, { readOnly })).data
  }),
  post('stores/revoke', { source, id: v.string() }, async ({ source, id }, { context }) => {
    return (await revokeKey(context, source, id)).data
  }),
  post('stores/test', { source }, async ({ source }, { context }) => (await testFeed(context, source)).data),
]
