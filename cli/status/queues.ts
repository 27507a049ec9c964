import { QueueDoesNotExist } from '@aws-sdk/client-sqs'
import { feedQueueName, QUEUES } from '../../lib/platform/names.ts'
import type { Context } from '../core/context.ts'
import { depthOf } from '../core/queue.ts'

/** Messages that may be received now, and those being processed or waiting for a retry. */
export type Depth = { waiting: number; inFlight: number }

/** The depth of every queue; undefined for a feed that has none. */
export const queuesOf = async (context: Context) => {
  const depth = async (queue: string): Promise<Depth> => {
    const { visible, all } = await depthOf(context, queue)
    return { waiting: visible, inFlight: all - visible }
  }
  const missing = (error: unknown) => {
    if (error instanceof QueueDoesNotExist) return undefined
    throw error
  }
  const names = Object.keys(QUEUES) as (keyof typeof QUEUES)[]
  const [own, feeds] = await Promise.all([
    Promise.all(names.map(async name => [name, await depth(QUEUES[name])] as const)),
    Promise.all(
      context.stores().map(async ({ source, queue }) => ({
        source,
        depth: await depth(feedQueueName(source, queue)).catch(missing),
      })),
    ),
  ])
  return { ...(Object.fromEntries(own) as Record<keyof typeof QUEUES, Depth>), feeds }
}

export type Queues = Awaited<ReturnType<typeof queuesOf>>
