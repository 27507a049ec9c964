import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import * as v from 'valibot'
import { addressOf } from '../../test/support/address.ts'

/** One call to AWS as it went over the wire, and what AWS would bill for it. */
export type Call = {
  action: string
  /** DynamoDB read and write request units. */
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

type Answer = { status: number; body: string }
type Headers = Record<string, string>

/**
 * Stands before an emulator, passes every call on, and tells what it was. DynamoDB is asked for what each
 * call consumes, and answers a refused conditional put with the item that is there, which dynalite cannot.
 */
export const startTap = async (target: string, heard: (call: Call) => void) => {
  const send = async (headers: Headers, body: string): Promise<Answer> => {
    const response = await fetch(target, { method: 'POST', headers, body })
    return { status: response.status, body: await response.text() }
  }

  const withItem = async (headers: Headers, asked: unknown, answer: Answer): Promise<Answer> => {
    const put = v.safeParse(conditionalPut, asked)
    if (!put.success) return answer
    const Key = { id: put.output.Item.id }
    const get = { TableName: put.output.TableName, Key, ConsistentRead: true }
    const found = await send({ ...headers, 'x-amz-target': 'DynamoDB_20120810.GetItem' }, JSON.stringify(get))
    return { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body), ...JSON.parse(found.body) }) }
  }

  const dynamodb = async (action: string, headers: Headers, body: string): Promise<Answer> => {
    const asked: unknown = JSON.parse(body)
    const answer = await send(
      headers,
      JSON.stringify({ ...v.parse(v.looseObject({}), asked), ReturnConsumedCapacity: 'TOTAL' }),
    )
    const answered: unknown = JSON.parse(answer.body)
    const units = v.safeParse(consumed, answered)
    const isRefused = v.is(refused, answered)
    // A refused conditional write is billed by the size of the item that is there; all of them are below 1 KB.
    const billed = units.success ? units.output.ConsumedCapacity.CapacityUnits : isRefused ? 1 : 0
    const isWrite = WRITES.includes(action)
    heard({ action, readUnits: isWrite ? 0 : billed, writeUnits: isWrite ? billed : 0, sqsRequests: 0 })
    return isRefused ? withItem(headers, asked, answer) : answer
  }

  const server = createServer(async (request, response) => {
    const sent = await text(request)
    const [service = '', action = ''] = String(request.headers['x-amz-target']).split('.')
    const headers = {
      'content-type': String(request.headers['content-type']),
      'x-amz-target': `${service}.${action}`,
      authorization: String(request.headers.authorization),
      'x-amz-date': String(request.headers['x-amz-date']),
    }
    let answer: Answer
    if (service.startsWith('DynamoDB')) {
      answer = await dynamodb(action, headers, sent)
    } else {
      const sqsRequests = service === 'AmazonSQS' ? Math.ceil(Buffer.byteLength(sent) / CHUNK_BYTES) : 0
      heard({ action, readUnits: 0, writeUnits: 0, sqsRequests })
      answer = await send(headers, sent)
    }
    response.writeHead(answer.status, { 'content-type': headers['content-type'] }).end(answer.body)
  })
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  return {
    url: addressOf(server),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
