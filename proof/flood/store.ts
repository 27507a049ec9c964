import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'

/** Readers of one feed side by side; SQS keeps the messages of one order in order between them. */
const READERS = 2

/** Reads a store's feed and deletes what it has read, until told to stop. */
export const readFeed = async (
  sqs: SQSClient,
  QueueUrl: string,
  hear: (body: string) => void,
  signal: AbortSignal,
): Promise<void> => {
  const receive = async (): Promise<Message[]> => {
    const command = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 2 })
    try {
      return (await sqs.send(command, { abortSignal: signal })).Messages ?? []
    } catch (error) {
      if (signal.aborted) return []
      throw error
    }
  }
  const reader = async () => {
    while (!signal.aborted) {
      const messages = await receive()
      if (messages.length === 0) continue
      for (const { Body = '' } of messages) hear(Body)
      const Entries = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }))
      await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))
    }
  }
  await Promise.all(Array.from({ length: READERS }, reader))
}
