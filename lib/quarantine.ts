import type { Sqs } from './aws/sqs.ts'
import type { Body } from './body.ts'

/** Something authentic that cannot be read, kept whole for a person (promise P12). */
type Unreadable = {
  /** Which door it came through. */
  from: 'webhook' | 'line'
  /** What is wrong with it, in words. */
  reason: string
  /** Exactly as it came. */
  body: Body
  received_at: string
}

export type Quarantine = (unreadable: Unreadable) => Promise<void>

export const quarantineQueue =
  (sqs: Sqs, queueUrl: string): Quarantine =>
  async ({ body, ...rest }) => {
    const content = { ...rest, body_base64: Buffer.from(body).toString('base64') }
    await sqs.sendMessage({ QueueUrl: queueUrl, MessageBody: JSON.stringify(content) })
  }
