import * as v from 'valibot'
import type { Context } from '../cli/core/context.ts'
import { cannot, explain } from '../cli/core/errors.ts'
import { logOf } from '../cli/core/log.ts'
import { RESEND_RATE, resend } from '../cli/orders/resend.ts'
import { createKey, listStores, revokeKey, setSecret, testFeed } from '../cli/stores.ts'
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

/** A resend of a store's orders. */
type Resend = { sent: number; total: number; state: 'running' | 'ended'; failure?: string }

/** Stores, their keys and their feeds, as `relay stores` has them. */
export const storesRoutes = (context: Context, live: Live) => {
  const resends = new Map<string, Resend>()
  const stops = new Map<string, AbortController>()
  const run = async (source: string, since: Date) => {
    const stop = new AbortController()
    const shown: Resend = { sent: 0, total: 0, state: 'running' }
    stops.set(source, stop)
    resends.set(source, shown)
    const onProgress = (sent: number, total: number) => Object.assign(shown, { sent, total })
    await resend(context, { source, since, rate: RESEND_RATE, onProgress, signal: stop.signal }).catch(
      error => {
        shown.failure = explain(error, context).message
      },
    )
    shown.state = 'ended'
  }
  live.poll('resends', 1000, async () => structuredClone([...resends]))
  return [
    get('stores', {}, async () => {
      const [{ data }, errors] = await Promise.all([listStores(context), feedErrors(context)])
      const stores = data.stores.map(store => ({
        ...store,
        error: errors.get(store.source),
        resend: resends.get(store.source),
      }))
      // Only the local stack serves the reference.
      const reference = context.local ? `${(await context.stack()).apiUrl}/docs` : undefined
      return { hours: HOURS, reference, stores }
    }),
    post('stores/resend', { source, since: v.pipe(v.string(), v.isoDate()) }, async ({ source, since }) => {
      if (resends.get(source)?.state === 'running')
        throw cannot('resend the orders', 'they are being resent', 'wait for the end, or stop it')
      run(source, new Date(since))
    }),
    post('stores/resend-stop', { source }, async ({ source }) => stops.get(source)?.abort()),
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
