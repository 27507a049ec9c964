import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda'
import type { Received } from '../crash/queue.ts'
import { dynamodbTables } from '../crash/tables.ts'
import type { Bug } from '../crash/world.ts'
import type { Change } from './clients.ts'
import type { Run } from './functions.ts'

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {})

/** DynamoDB refuses values that no expression uses. */
const consistent = (input: object): object => {
  const { ExpressionAttributeValues: _, ...rest } = { ExpressionAttributeValues: undefined, ...input }
  return Object.keys(rest).some(name => name.endsWith('Expression')) ? input : rest
}

/** What a bug in the tables of the model would make of an input, for the real table. */
export const changeOf = ({ tables }: Bug): Change | undefined => {
  if (tables === undefined) return undefined
  const changed = tables({ ...dynamodbTables(), run: (_action, input) => asObject(input) })
  return (action, input) => consistent(changed.run(action, input))
}

const receivedOf = ({ messageId, receiptHandle, body, attributes }: SQSRecord): Received => ({
  id: messageId,
  handle: receiptHandle,
  group: attributes.MessageGroupId ?? '',
  body,
  sentAt: Number(attributes.SentTimestamp),
  visibleAt: 0,
  receives: Number(attributes.ApproximateReceiveCount),
})

/** A function behind an event source that reads its answers wrongly. */
export const misread = ({ eventSource }: Bug, run: Run): Run => {
  if (eventSource === undefined) return run
  const { deletesFirst, done } = eventSource
  return async (event: SQSEvent): Promise<SQSBatchResponse> => {
    if (deletesFirst) {
      run(event).catch(() => undefined)
      return { batchItemFailures: [] }
    }
    const batch = event.Records.map(receivedOf)
    const gone = new Set(done(batch, await run(event)).map(({ id }) => id))
    const left = batch.filter(({ id }) => !gone.has(id))
    return { batchItemFailures: left.map(({ id }) => ({ itemIdentifier: id })) }
  }
}
