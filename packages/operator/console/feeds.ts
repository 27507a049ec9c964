import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { since } from '../core/options.ts'
import { messageContent } from '../feeds/content.ts'
import { messagesOf } from '../feeds/messages.ts'
import { RETRY_RATE, retriedText, retryOrder, retryStore } from '../feeds/retry.ts'
import { listAttempts, OUTCOMES } from '../model/attempts.ts'
import { timelineOf } from '../model/orders.ts'
import { createJobs } from './jobs.ts'
import type { Live } from './live.ts'
import type { Readings } from './readings.ts'
import { get, PERIODS, post } from './route.ts'

const LIMIT = 200

const key = { source: v.string(), external_id: v.string() }

/** The messages that stores received, as in `relay feeds`. */
export const feedsRoutes = (context: Context, live: Live, readings: Readings) => {
  const retries = createJobs(context, live, 'retries')
  return [
    get(
      'feeds',
      {
        since: v.picklist(PERIODS),
        outcome: v.optional(v.picklist(OUTCOMES)),
        source: v.optional(v.string()),
        q: v.optional(v.string()),
      },
      ({ since: period, q: find, ...filter }) =>
        listAttempts(context, { ...filter, find, since: since(period), limit: LIMIT }),
    ),
    get('feed', key, async order => {
      const { entries } = await timelineOf(context, order)
      return { ...order, ...(await messagesOf(context, order, entries, () => readings.of('dead'))) }
    }),
    get('feed/message', { ...key, delivery: v.string() }, ({ delivery, ...order }) =>
      messageContent(context, order, delivery),
    ),
    post('feeds/retry', key, order => retryOrder(context, order, () => readings.of('dead'))),
    get('feeds/retries', { source: v.string() }, async ({ source }) => ({ job: retries.of(source) })),
    post('feeds/retry-store', { source: v.string() }, async ({ source }) => {
      retries.start(source, 'retry the messages', async (context, signal) => {
        const readDead = () => readings.of('dead')
        return { text: retriedText(await retryStore(context, source, RETRY_RATE, signal, readDead)) }
      })
    }),
    post('feeds/retry-stop', { source: v.string() }, async ({ source }) => retries.stop(source)),
  ]
}
