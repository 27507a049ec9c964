import { ChangeMessageVisibilityBatchCommand } from '@aws-sdk/client-sqs'
import type { SQSRecord } from 'aws-lambda'
import type { Sqs } from './clients.ts'

const FIRST_SECONDS = 5
export const MAX_RETRY_SECONDS = 15 * 60

/** Receives after which an event becomes a dead letter; with these delays, after one to two days. */
export const MAX_RECEIVES = 200

/** SQS limits the visibility timeout to twelve hours from the first receive. */
const MAX_VISIBILITY_SECONDS = 11 * 60 * 60

/** Exponential backoff from the first to the longest wait, jittered to 50–100%. */
export const backoff = (first: number, longest: number, failures: number, random: number): number => {
  const ceiling = Math.min(first * 2 ** (failures - 1), longest)
  return ceiling / 2 + (ceiling / 2) * random
}

/** A delay in whole seconds, at least the receiver's `Retry-After` and at most what SQS allows. */
export const boundedDelay = (delay: number, random: number, retryAfter: number): number =>
  Math.ceil(Math.min(Math.max(delay, retryAfter * (1 + random / 10)), MAX_VISIBILITY_SECONDS))

/**
 * The delay before a failed event is retried, in seconds: from 5 s to 15 min, and never less than `retryAfter`
 * (promise P8).
 *
 * @param receives how often the event has been received, from 1
 * @param random a number from 0 to 1
 * @param retryAfter the service's `Retry-After`, in seconds
 */
export const retryDelay = (receives: number, random: number, retryAfter = 0): number =>
  boundedDelay(backoff(FIRST_SECONDS, MAX_RETRY_SECONDS, receives, random), random, retryAfter)

/**
 * Makes received messages of one group visible immediately. Pass them in their sequence.
 *
 * @returns whether the first message was still hidden; otherwise it has been received again or deleted
 * @throws if SQS fails
 */
export const releaseMessages = async (
  sqs: Sqs,
  QueueUrl: string,
  handles: readonly string[],
): Promise<boolean> => {
  const Entries = handles.map((ReceiptHandle, index) => ({
    Id: String(index),
    ReceiptHandle,
    VisibilityTimeout: 0,
  }))
  const { Failed = [] } = await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }))
  const failure = Failed.find(({ SenderFault }) => SenderFault !== true)
  if (failure !== undefined) throw new Error(`Cannot release messages: ${failure.Code}`)
  return !Failed.some(({ Id }) => Id === '0')
}

/** Hides up to ten received messages of a batch for a number of seconds from now. */
export type ExtendVisibility = (
  records: readonly Pick<SQSRecord, 'receiptHandle'>[],
  seconds: number,
) => Promise<void>

/**
 * Extends the visibility timeout of received messages, which otherwise return after the queue's own timeout.
 *
 * @throws if SQS refuses entries twice
 */
export const visibilityExtender = (sqs: Sqs, queueUrl: string): ExtendVisibility => {
  const extend = async (records: Parameters<ExtendVisibility>[0], seconds: number) => {
    const Entries = records.map(({ receiptHandle }, index) => ({
      Id: String(index),
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: seconds,
    }))
    const command = new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries })
    const { Failed = [] } = await sqs.send(command)
    return Failed
  }

  return async (records, seconds) => {
    const failed = await extend(records, seconds)
    // An expired receipt handle stays invalid; any other error may be temporary.
    const refused = failed.filter(({ SenderFault }) => SenderFault === true)
    const passing = failed.filter(entry => !refused.includes(entry))
    const again = passing.flatMap(({ Id }) => records[Number(Id)] ?? [])
    if (again.length > 0) refused.push(...(await extend(again, seconds)))
    if (refused.length === 0) return
    const codes = [...new Set(refused.map(({ Code }) => Code))].join(', ')
    const count = `${refused.length} of ${records.length}`
    throw new Error(`Cannot extend the visibility of ${count} messages: ${codes}`)
  }
}
