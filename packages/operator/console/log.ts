import { ORDER_UPDATED } from '@order-relay/lib/protocol/webhook.ts'
import { entryText } from '@order-relay/local/log.ts'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { since } from '../core/options.ts'
import { recentLines, stackText } from '../tail.ts'
import { get, PERIODS } from './route.ts'

/** Maximum number of past lines. */
const LIMIT = 300

const text = v.optional(v.string())

const aboutOrder = v.object({ source: v.string(), external_id: v.string() })
const aboutDelivery = v.object({ delivery: v.string() })

/** The log of the functions, as `relay tail` follows it. */
export const logRoutes = (context: Context) => [
  get(
    'log',
    {
      since: v.picklist(['10m', ...PERIODS]),
      source: text,
      order: text,
      delivery: text,
      q: text,
      errors: v.optional(v.literal('true')),
      pings: v.optional(v.literal('true')),
    },
    async function* ({ since: period, errors, pings, q: find, ...given }, signal) {
      const filter = { ...given, find, errors: errors === 'true', pings: pings === 'true' }
      const range = { since: since(period), signal, limit: LIMIT, follow: true }
      for await (const line of recentLines(context, range, filter)) {
        const { at, from, level, message, fields } = line
        const { source, external_id, delivery, ...others } = fields
        const order = v.is(aboutOrder, fields) ? v.parse(aboutOrder, fields) : undefined
        yield {
          at: at.toISOString(),
          from,
          level,
          message,
          order,
          delivery: v.is(aboutDelivery, fields) ? fields.delivery : undefined,
          // A store's request has no record.
          isWebhook: fields.event === ORDER_UPDATED || fields.outcome === 'queued',
          text: entryText({
            level: 'INFO',
            message: '',
            ...(order === undefined && source !== undefined && { source }),
            ...others,
          }),
          stack: await stackText(line),
        }
      }
    },
  ),
]
