import { setTimeout as sleep } from 'node:timers/promises'
import type { SQSClient } from '@aws-sdk/client-sqs'
import { waitingIn } from './depth.ts'

const PATIENCE_MS = 10_000

/** Waits until a queue has let go of its last message, or for some seconds. */
export const emptied = async (sqs: SQSClient, url: string): Promise<void> => {
  const until = Date.now() + PATIENCE_MS
  while ((await waitingIn(sqs, url)) > 0 && Date.now() < until) await sleep(50)
}

/** The queues that hold something. */
export const complaintsOfQueues = async (
  sqs: SQSClient,
  urls: readonly string[],
): Promise<readonly string[]> => {
  const depths = await Promise.all(urls.map(async url => ({ url, held: await waitingIn(sqs, url) })))
  return depths.flatMap(({ url, held }) =>
    held === 0 ? [] : [`The queue ${url.slice(url.lastIndexOf('/') + 1)} still holds ${held} messages`],
  )
}
