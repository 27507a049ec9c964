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
  const missing = (error: unknown) => {
    if (error instanceof QueueDoesNotExist) return undefined
    throw error
  }
  const { orders, bulk, ordersDead, feedsDead, quarantine } = QUEUES
  const own = Promise.all([
    depth(context, orders),
    depth(context, bulk),
    depth(context, ordersDead),
    depth(context, feedsDead),
    depth(context, quarantine),
  ])
  const feeds = Promise.all(
    context.stores().map(async ({ source, queue }) => ({
      source,
      depth: await depth(context, feedQueueName(source, queue)).catch(missing),
    })),
  )
  const [depths, ofFeeds] = await Promise.all([own, feeds])
  return {
    ...{ orders: depths[0], bulk: depths[1], ordersDead: depths[2] },
    ...{ feedsDead: depths[3], quarantine: depths[4], feeds: ofFeeds },
  }
}

export type Queues = Awaited<ReturnType<typeof queuesOf>>
