import { QueueDoesNotExist } from '@aws-sdk/client-sqs'
import { removedQueues } from '@order-relay/local/kept-stores.ts'
import type { Context } from '../core/context.ts'
import { type Finding, messagesOf, say } from '../core/findings.ts'
import { note } from '../core/output.ts'
import { depthOf } from '../core/queue.ts'

/**
 * The messages in queues that stores.yml no longer defines. Only the local stack keeps such queues: on AWS, the
 * deployment that removes a store deletes its queue.
 */
export const removedNotices = async (context: Context): Promise<Finding[]> => {
  if (!context.local) return []
  const found = removedQueues(context.dataDir).map(async ({ source, queue }): Promise<Finding[]> => {
    const all = await depthOf(context, queue).then(
      depth => depth.all,
      error => {
        if (error instanceof QueueDoesNotExist) return 0
        throw error
      },
    )
    if (all === 0) return []
    const waiting = say('removed-waiting', { messages: messagesOf(all) })
    return [note(say('removed-queue', { source, queue }), waiting, say('add-again'))]
  })
  return (await Promise.all(found)).flat()
}
