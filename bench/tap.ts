import * as v from 'valibot'
import { urlOf } from '../local/settings.ts'
import { type Answer, startServer } from '../test/support/server.ts'

/** One call to AWS as it went over the wire, and what AWS would bill for it. */
export type Call = {
  action: string
  /** DynamoDB request units. */
  readUnits: number
  writeUnits: number
  /** SQS requests: one for every 64 KB. */
  sqsRequests: number
}

const WRITES = ['PutItem', 'UpdateItem', 'DeleteItem']
const CHUNK_BYTES = 64 * 1024

const consumed = v.object({ ConsumedCapacity: v.object({ CapacityUnits: v.number() }) })
const refused = v.object({ __type: v.pipe(v.string(), v.endsWith('ConditionalCheckFailedException')) })
const conditionalPut = v.looseObject({
  TableName: v.string(),
  Item: v.record(v.string(), v.unknown()),
  ReturnValuesOnConditionCheckFailure: v.literal('ALL_OLD'),
})

type Exchanged = Answer & { body: string }
type Headers = Record<string, string>

/**
 * Stands in front of an emulator, forwards every call and reports it; has its own URL. Asks DynamoDB what each
 * call consumes, and adds the existing item to a refused conditional put, which dynalite cannot.
 */
export const startTap = async (target: string, onCall: (call: Call) => void) => {
  const forward = async (headers: Headers, body: string): Promise<Exchanged> => {
    const response = await fetch(target, { method: 'POST', headers, body })
    return { status: response.status, body: await response.text() }
  }

  const withItem = async (headers: Headers, sent: unknown, response: Exchanged): Promise<Exchanged> => {
    const put = v.safeParse(conditionalPut, sent)
    if (!put.success) return response
    const get = { TableName: put.output.TableName, Key: { id: put.output.Item.id }, ConsistentRead: true }
    const target = { 'x-amz-target': 'DynamoDB_20120810.GetItem' }
    const found = await forward({ ...headers, ...target }, JSON.stringify(get))
    return { ...response, body: JSON.stringify({ ...JSON.parse(response.body), ...JSON.parse(found.body) }) }
  }

  const dynamodb = async (action: string, headers: Headers, body: string): Promise<Exchanged> => {
    const sent = v.parse(v.looseObject({}), JSON.parse(body))
    const response = await forward(headers, JSON.stringify({ ...sent, ReturnConsumedCapacity: 'TOTAL' }))
    const answered: unknown = JSON.parse(response.body)
    const units = v.safeParse(consumed, answered)
    const isRefused = v.is(refused, answered)
    // A refused conditional write is billed by the size of the existing item; all of them are below 1 KB.
    const billed = units.success ? units.output.ConsumedCapacity.CapacityUnits : isRefused ? 1 : 0
    const isWrite = WRITES.includes(action)
    onCall({ action, readUnits: isWrite ? 0 : billed, writeUnits: isWrite ? billed : 0, sqsRequests: 0 })
    return isRefused ? withItem(headers, sent, response) : response
  }

  const { port, close } = await startServer(async (request, sent) => {
    const body = sent.toString()
    const [service = '', action = ''] = String(request.headers['x-amz-target']).split('.')
    const headers = {
      'content-type': String(request.headers['content-type']),
      'x-amz-target': `${service}.${action}`,
      authorization: String(request.headers.authorization),
      'x-amz-date': String(request.headers['x-amz-date']),
    }
    const answered = { 'content-type': headers['content-type'] }
    if (service.startsWith('DynamoDB'))
      return { ...(await dynamodb(action, headers, body)), headers: answered }
    const sqsRequests = service === 'AmazonSQS' ? Math.ceil(sent.length / CHUNK_BYTES) : 0
    onCall({ action, readUnits: 0, writeUnits: 0, sqsRequests })
    return { ...(await forward(headers, body)), headers: answered }
  })
  return { url: urlOf(port), close }
}
