import { QueueDoesNotExist } from '@aws-sdk/client-sqs'
import { feedQueueName, QUEUES } from '../../lib/platform/names.ts'
import type { Context } from '../core/context.ts'
import { depthOf } from '../core/queue.ts'

/** Messages that may be received now, and those being processed or waiting for a retry. */
export type Depth = { waiting: number; inFlight: number }

const depth = async (context: Context, queue: string): Promise<Depth> => {
  const { visible, all } = await depthOf(context, queue)
  return { waiting: visible, inFlight: all - visible }
}

/** The depth of every queue; undefined for a feed that has none. */
export const queuesOf = async (context: Context) => {
  const feeds = context.stores().map(async ({ source, queue, feed }) => {
    const missing = (error: unknown) => {
      if (error instanceof QueueDoesNotExist) return undefined
      throw error
    }
    const found = await depth(context, feedQueueName(source, queue)).catch(missing)
    return { source, url: feed === 'sqs' ? undefined : feed.http, depth: found }
  })
  const { orders, bulk, ordersDead, feedsDead, quarantine } = QUEUES
  return {
    orders: await depth(context, orders),
    bulk: await depth(context, bulk),
    ordersDead: await depth(context, ordersDead),
    feedsDead: await depth(context, feedsDead),
    quarantine: await depth(context, quarantine),
    feeds: await Promise.all(feeds),
  }
}

export type Queues = Awaited<ReturnType<typeof queuesOf>>
