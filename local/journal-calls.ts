import * as v from 'valibot'
import type { Journal } from './queue-journal.ts'

const queueUrl = v.looseObject({ QueueUrl: v.string() })
const message = v.looseObject({ MessageBody: v.string() })
const sentBatch = v.object({ Entries: v.array(v.looseObject({ Id: v.string(), MessageBody: v.string() })) })
const accepted = v.object({ MessageId: v.string() })
const acceptedBatch = v.object({ Successful: v.array(v.object({ Id: v.string(), MessageId: v.string() })) })
const received = v.object({
  Messages: v.optional(v.array(v.object({ MessageId: v.string(), ReceiptHandle: v.string() })), []),
})
const handle = v.object({ ReceiptHandle: v.string() })
const handles = v.object({ Entries: v.array(handle) })

/** Told of a successful call to SQS: the action's name, what was asked and what was answered. */
export type NoteCall = (action: string, input: unknown, output: unknown) => void

/** Keeps a journal by watching the calls: what was sent, and what the holder of its receipt deleted. */
export const journalCalls = (journal: Pick<Journal, 'append'>): NoteCall => {
  const known = new Set<string>()
  const byHandle = new Map<string, string>()

  const noteSent = (
    id: string,
    url: string,
    { QueueUrl: _, Id: __, ...rest }: v.InferOutput<typeof message>,
  ) => {
    // A duplicate is answered with the id of the first, which may be long gone.
    if (known.has(id)) return
    known.add(id)
    journal.append({ sent: id, queue: url.slice(url.lastIndexOf('/') + 1), message: rest })
  }
  const noteRemoved = (receipt: string) => {
    const id = byHandle.get(receipt)
    if (id === undefined) return
    byHandle.delete(receipt)
    journal.append({ removed: id })
  }

  return (action, input, output) => {
    const { QueueUrl } = v.parse(queueUrl, input)
    switch (action) {
      case 'SendMessage':
        return noteSent(v.parse(accepted, output).MessageId, QueueUrl, v.parse(message, input))
      case 'SendMessageBatch': {
        const ids = new Map(
          v.parse(acceptedBatch, output).Successful.map(({ Id, MessageId }) => [Id, MessageId]),
        )
        for (const entry of v.parse(sentBatch, input).Entries) {
          const id = ids.get(entry.Id)
          if (id !== undefined) noteSent(id, QueueUrl, entry)
        }
        return
      }
      case 'ReceiveMessage':
        for (const { MessageId, ReceiptHandle } of v.parse(received, output).Messages) {
          byHandle.set(ReceiptHandle, MessageId)
        }
        return
      case 'DeleteMessage':
        return noteRemoved(v.parse(handle, input).ReceiptHandle)
      case 'DeleteMessageBatch':
        for (const { ReceiptHandle } of v.parse(handles, input).Entries) noteRemoved(ReceiptHandle)
        return
      case 'PurgeQueue':
        return journal.append({ purged: QueueUrl.slice(QueueUrl.lastIndexOf('/') + 1) })
      default:
    }
  }
}
