import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { auditSince, RATE, shortened } from '../cli/audit/audit.ts'
import type { Balance } from '../cli/audit/balance.ts'
import type { Context } from '../cli/core/context.ts'
import { since } from '../cli/core/options.ts'
import { checkOrders } from '../cli/orders/orders.ts'
import { get, PERIODS, post } from './route.ts'

/** How often progress is reported, in milliseconds. */
const INTERVAL_MS = 500

type Step = { progress: string; balance?: Omit<Balance, 'lists'> & { lists: ReturnType<typeof shortened> } }

/** What `relay audit` finds. */
export const auditRoutes = (context: Context) => [
  get(
    'audit',
    { since: v.picklist([...PERIODS, '30d']) },
    async function* ({ since: period }): AsyncGenerator<Step> {
      let progress = ''
      const onProgress = (text: string) => {
        progress = text
      }
      const terminal = { ...context.terminal, onProgress }
      let isDone = false
      const audited = auditSince(
        { ...context, terminal },
        { since: since(period), rate: RATE, service: true },
      ).finally(() => {
        isDone = true
      })
      const ended = audited.catch(() => undefined)
      while (!isDone) {
        await Promise.race([ended, sleep(INTERVAL_MS)])
        yield { progress }
      }
      const { lists, ...balance } = await audited
      yield { progress, balance: { ...balance, lists: shortened(lists) } }
    },
  ),
  post(
    'audit/repair',
    { orders: v.array(v.object({ source: v.string(), external_id: v.string() })) },
    async ({ orders }) => {
      await checkOrders(context, orders)
      return { checked: orders.length }
    },
  ),
]
