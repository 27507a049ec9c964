import { SendMessageCommand } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import type { Body } from '../protocol/json.ts'
import type { Sqs } from './clients.ts'

/** A message of the quarantine queue: authentic input that cannot be read, kept whole (promise P12). */
export const quarantineEntry = v.object({
  /** The function that received the input. */
  from: v.picklist(['webhook', 'worker']),
  /** Why the input cannot be read. */
  reason: v.string(),
  /** The exact bytes received. */
  body_base64: v.string(),
  received_at: v.string(),
  /** The delivery id of the header, which is not signed. The body may have no readable id. */
  header_delivery: v.optional(v.string()),
})

type QuarantineEntry = v.InferOutput<typeof quarantineEntry>

/** Maximum length of a header to keep. */
const HEADER_MAX = 100

/** Stores unreadable input; resolves once SQS has it. */
export type Quarantine = (unreadable: {
  from: QuarantineEntry['from']
  reason: string
  body: Body
  /** Unix time in milliseconds. */
  receivedAt: number
  headerDelivery?: string | undefined
}) => Promise<void>

/** The quarantine queue. */
export const quarantineQueue =
  (sqs: Sqs, queueUrl: string): Quarantine =>
  async ({ from, reason, body, receivedAt, headerDelivery }) => {
    const entry: QuarantineEntry = {
      from,
      reason,
      body_base64: Buffer.from(body).toString('base64'),
      received_at: new Date(receivedAt).toISOString(),
      header_delivery: headerDelivery?.slice(0, HEADER_MAX),
    }
    await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify(entry) }))
  }
